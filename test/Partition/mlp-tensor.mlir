// RUN: autopar-opt %s --autopar-partition-pipeline | FileCheck %s
// RUN: autopar-opt %s --autopar-partition-pipeline --autopar-interpret='against=%s' -o /dev/null

// Column, then row: one all-reduce. 8 hidden elements over 3 devices are uneven:
// both operands of the contraction are masked.

#whole2 = #autopar.sharding<@mesh, [{}, {}]>
#whole1 = #autopar.sharding<@mesh, [{}]>
#column = #autopar.sharding<@mesh, [{}, {"tensor"}]>
#row = #autopar.sharding<@mesh, [{"tensor"}, {}]>
#split1 = #autopar.sharding<@mesh, [{"tensor"}]>
#columns = #autopar.strategy<@mesh, {"tensor": split 1}>
#contracted = #autopar.strategy<@mesh, {"tensor": split 2}>
#none = #autopar.strategy<@mesh, {}>

autopar.mesh @mesh #autopar.mesh<["tensor"=3]>

// CHECK-LABEL: func.func @step_0(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK-SAME: %[[W1:.*]]: tensor<6x3xf32>
// CHECK-SAME: %[[B1:.*]]: tensor<3xf32>
// CHECK-SAME: %[[W2:.*]]: tensor<3x5xf32>
// CHECK: autopar.einsum "mk,kn->mn"
// CHECK: %[[H:.*]] = autopar.unary relu
// CHECK: %[[HM:.*]] = autopar.mask %[[H]] mesh = @mesh axes = ["tensor"]
// CHECK-SAME: dim = 1 : i64, size = 8 : i64, value = 0.000000e+00
// CHECK: %[[WM:.*]] = autopar.mask %[[W2]] mesh = @mesh axes = ["tensor"]
// CHECK-SAME: dim = 0 : i64, size = 8 : i64
// CHECK: %[[P:.*]] = autopar.einsum "mk,kn->mn" %[[HM]], %[[WM]] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
// CHECK: %[[R:.*]] = autopar.all_reduce %[[P]] mesh = @mesh axes = ["tensor"]
// CHECK-SAME: kind = #autopar<reduce_kind sum>
// CHECK: autopar.softmax %[[R]]
func.func @step(
    %x: tensor<4x6xf32> {autopar.source = #autopar.input<"x">, autopar.sharding = #whole2},
    %w1: tensor<6x8xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = -1, length = 192>, autopar.sharding = #column},
    %b1: tensor<8xf32> {autopar.source = #autopar.parameter<"b1", "m.onnx", offset = -1, length = 32>, autopar.sharding = #split1},
    %w2: tensor<8x5xf32> {autopar.source = #autopar.parameter<"w2", "m.onnx", offset = -1, length = 160>, autopar.sharding = #row})
    -> (tensor<4x5xf32> {autopar.result = #autopar.output<"y">, autopar.sharding = #whole2}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w1 {autopar.strategy = #columns, autopar.shardings = [#column]}
    : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %1 = autopar.broadcast %b1 dims = [1] {autopar.strategy = #columns, autopar.shardings = [#column]}
    : tensor<8xf32> -> tensor<4x8xf32>
  %2 = autopar.binary add %0, %1 {autopar.strategy = #columns, autopar.shardings = [#column]} : tensor<4x8xf32>
  %3 = autopar.unary relu %2 {autopar.strategy = #columns, autopar.shardings = [#column]} : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = autopar.einsum "mk,kn->mn" %3, %w2 {autopar.strategy = #contracted, autopar.shardings = [#whole2],
    autopar.result_steps = [[#autopar.reshard_step<all_reduce ["tensor"]>]]}
    : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  %5 = autopar.softmax %4 dim = 1 {autopar.strategy = #none, autopar.shardings = [#whole2]} : tensor<4x5xf32>
  return %5 : tensor<4x5xf32>
}
