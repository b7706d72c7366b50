// The scheduled module, buffers and all, computes what the tensor program does.
// RUN: autopar-opt %s --autopar-schedule-pipeline -o %t.mlir
// RUN: autopar-opt %t.mlir --autopar-interpret=against=%s -o /dev/null 2>&1 | FileCheck %s

// CHECK: 4 results equal

func.func @setup(%w: tensor<8x16xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 512>})
    -> (tensor<16x8xf32> {autopar.result = #autopar.setup_value<"wt">}) {
  %0 = autopar.transpose %w perm = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
func.func @step(%x: tensor<4x6x8xf32> {autopar.source = #autopar.input<"x">},
                %w: tensor<8x16xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 512>},
                %wt: tensor<16x8xf32> {autopar.source = #autopar.setup_result<0>},
                %b: tensor<16xf32> {autopar.source = #autopar.parameter<"b", "m", offset = 512, length = 64>})
    -> (tensor<4x6x8xf32> {autopar.result = #autopar.output<"y">},
        tensor<4x6x8xf32> {autopar.result = #autopar.output<"again">},
        tensor<24x8xf32> {autopar.result = #autopar.output<"half">}) {
  %0 = autopar.normalize layer %x dims = [2] epsilon = 1.0e-5 : tensor<4x6x8xf32>
  %1 = autopar.reshape %0 : tensor<4x6x8xf32> -> tensor<24x8xf32>
  %2 = autopar.einsum "mk,kn->mn" %1, %w : (tensor<24x8xf32>, tensor<8x16xf32>) -> tensor<24x16xf32>
  %3 = autopar.broadcast %b dims = [1] : tensor<16xf32> -> tensor<24x16xf32>
  %4 = autopar.binary add %2, %3 : tensor<24x16xf32>
  %5 = autopar.unary gelu_tanh %4 : tensor<24x16xf32> -> tensor<24x16xf32>
  %6 = autopar.einsum "mk,kn->mn" %5, %wt : (tensor<24x16xf32>, tensor<16x8xf32>) -> tensor<24x8xf32>
  %7 = autopar.reshape %6 : tensor<24x8xf32> -> tensor<4x6x8xf32>
  %8 = autopar.binary add %x, %7 : tensor<4x6x8xf32>
  %9 = autopar.softmax %8 dim = 2 : tensor<4x6x8xf32>
  return %9, %9, %1 : tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<24x8xf32>
}
