// @setup is planned with @step: its result is sharded as the step wants it.
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=column" --autopar-verify-plan | FileCheck %s
module {
  // CHECK: func.func @setup
  // CHECK-SAME: -> (tensor<4x8xf32> {autopar.result = #autopar.setup_value<"wt">, autopar.sharding = #autopar.sharding<@mesh, [{}, {"column"}]>})
  func.func @setup(%w: tensor<8x4xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>})
      -> (tensor<4x8xf32> {autopar.result = #autopar.setup_value<"wt">}) {
    %0 = autopar.transpose %w perm = [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  // CHECK: func.func @step
  // CHECK-SAME: tensor<4x8xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}, {"column"}]>, autopar.source = #autopar.setup_result<0>}
  func.func @step(%x: tensor<2x4xf32> {autopar.source = #autopar.input<"x">},
                  %wt: tensor<4x8xf32> {autopar.source = #autopar.setup_result<0>})
      -> (tensor<2x8xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.einsum "mk,kn->mn" %x, %wt : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
}
