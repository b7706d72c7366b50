// RUN: autopar-opt %s --autopar-phase-import --autopar-phase-plan --autopar-phase-partition --autopar-phase-schedule -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: autopar-opt %t.mlir --autopar-phase-lower | FileCheck %s --check-prefix=CALL

// An epilogue behind a reshape: the result has its channels last in a shape
// where they are two dimensions.
// CHECK: library <convolution, a = 0, b = 1, activation = sigmoid, channels_last = true>
// CHECK: ^bb0(
// CHECK-NEXT: autopar.convolution
// CHECK-NEXT: autopar.reshape
// CHECK-NEXT: autopar.unary sigmoid
// CALL: llvm.call @aprt_conv(
module attributes {autopar.model="m"} {
func.func @step(%x: tensor<1x6x8x8xf32> {autopar.source = #autopar.input<"x">}, %w: tensor<6x6x3x3xf32> {autopar.source = #autopar.input<"w">}) -> (tensor<1x3x8x8x2xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<1x6x8x8xf32>, tensor<6x6x3x3xf32>) -> tensor<1x6x8x8xf32>
  %1 = autopar.reshape %0 : tensor<1x6x8x8xf32> -> tensor<1x3x2x8x8xf32>
  %2 = autopar.transpose %1 perm = [0, 1, 3, 4, 2] : tensor<1x3x2x8x8xf32> -> tensor<1x3x8x8x2xf32>
  %3 = autopar.unary sigmoid %2 : tensor<1x3x8x8x2xf32> -> tensor<1x3x8x8x2xf32>
  return %3 : tensor<1x3x8x8x2xf32>
}
}
