// RUN: autopar-opt %s --autopar-partition-pipeline | FileCheck %s
// RUN: autopar-opt %s --autopar-partition-pipeline --autopar-interpret='against=%s' -o /dev/null

// A table of 10 rows over 4 devices (2x2: two axes in one dimension): each looks
// up what it holds, and the sum is scattered over the sequence.

#table = #autopar.sharding<@mesh, [{"a", "b"}, {}]>
#ids = #autopar.sharding<@mesh, [{}]>
#out = #autopar.sharding<@mesh, [{"a", "b"}, {}]>

autopar.mesh @mesh #autopar.mesh<["a"=2, "b"=2]>

// CHECK-LABEL: func.func @step_0(
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<3x4xf32>
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<8xi64>
// CHECK: %[[O:.*]] = autopar.block_offset mesh = @mesh axes = ["a", "b"] block = 3
// CHECK: %[[G:.*]] = autopar.gather %[[T]], %[[I]] offset %[[O]]
// CHECK-SAME: -> tensor<8x4xf32>
// CHECK: %[[R:.*]] = autopar.reduce_scatter %[[G]] mesh = @mesh axes = ["a", "b"]
// CHECK-SAME: dim = 0 : i64
// CHECK-SAME: -> tensor<2x4xf32>
// CHECK: return %[[R]]
func.func @step(
    %t: tensor<10x4xf32> {autopar.source = #autopar.parameter<"t", "m.onnx", offset = -1, length = 160>, autopar.sharding = #table},
    %i: tensor<8xi64> {autopar.source = #autopar.input<"i">, autopar.sharding = #ids,
                       autopar.given = dense<[0, 9, 3, 5, 5, 2, 8, 7]> : tensor<8xi64>})
    -> (tensor<8x4xf32> {autopar.result = #autopar.output<"y">, autopar.sharding = #out}) {
  %0 = autopar.gather %t, %i dim = 0 {autopar.strategy = #autopar.strategy<@mesh, {"a": split 2, "b": split 2}>, autopar.shardings = [#out],
    autopar.result_steps = [[#autopar.reshard_step<reduce_scatter ["a", "b"] dim = 0>]]}
    : (tensor<10x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
