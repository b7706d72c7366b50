// Micro-batches exchange nothing. What an op needs of the whole batch is there
// in each of them, and each computes it anew; all else runs on its part.
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=layer micro-batches=2" --autopar-verify-plan | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=layer micro-batches=2" --autopar-localize-pipeline -o %t
// RUN: autopar-opt %t --autopar-check-equality --autopar-interpret=against=%s -o /dev/null

// The mask is looked up in any row: it comes whole. The positions that this
// part of the batch looks up are computed where they are wanted.
// CHECK: func.func @step(
// CHECK-SAME: tensor<4x8xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"time"}, {}]>
// CHECK-SAME: tensor<4x8xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>
// CHECK-SAME: tensor<4x1xi64> {autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>
func.func @step(%x: tensor<4x8xf32> {autopar.source = #autopar.input<"x">},
                %mask: tensor<4x8xf32> {autopar.source = #autopar.input<"mask">},
                %rows: tensor<4x1xi64> {autopar.source = #autopar.parameter<"rows", "m.onnx", offset = 0, length = 32>},
                %w: tensor<8x8xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 32, length = 256>})
    -> (tensor<4x8xf32> {autopar.result = #autopar.output<"y">}) {
  // CHECK: autopar.unary exp
  // CHECK-SAME: autopar.shardings = [#autopar.sharding<@mesh, [{}, {}]>]
  %0 = autopar.unary exp %mask : tensor<4x8xf32> -> tensor<4x8xf32> loc("mask")
  // CHECK: autopar.gather_nd
  // CHECK-SAME: autopar.shardings = [#autopar.sharding<@mesh, [{"time"}, {}]>]
  %1 = autopar.gather_nd %0, %rows batch_dims = 0 : (tensor<4x8xf32>, tensor<4x1xi64>) -> tensor<4x8xf32> loc("look_up")
  // CHECK: autopar.einsum
  // CHECK-SAME: autopar.shardings = [#autopar.sharding<@mesh, [{"time"}, {}]>]
  %2 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("fc")
  // CHECK: autopar.binary add
  // CHECK-SAME: autopar.shardings = [#autopar.sharding<@mesh, [{"time"}, {}]>]
  %3 = autopar.binary add %2, %1 : tensor<4x8xf32> loc("add")
  return %3 : tensor<4x8xf32>
}
