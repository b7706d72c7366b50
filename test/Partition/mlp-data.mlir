// RUN: autopar-opt %s --autopar-partition-pipeline | FileCheck %s
// RUN: autopar-opt %s --autopar-partition-pipeline --autopar-interpret='against=%s' -o /dev/null

// Rows split over two devices: nothing is exchanged.

#x = #autopar.sharding<@mesh, [{"data"}, {}]>
#w = #autopar.sharding<@mesh, [{}, {}]>
#b = #autopar.sharding<@mesh, [{}]>
#rows = #autopar.strategy<@mesh, {"data": split 0}>

autopar.mesh @mesh #autopar.mesh<["data"=2]>

// CHECK-LABEL: func.func @step_0(
// CHECK-SAME: %[[X:.*]]: tensor<2x6xf32> {autopar.global_type = tensor<4x6xf32>
// CHECK-SAME: %[[W:.*]]: tensor<6x8xf32>
// CHECK-SAME: -> (tensor<2x8xf32> {autopar.global_type = tensor<4x8xf32>
// CHECK-SAME: attributes {autopar.stage = 0 : i64}
// CHECK-NEXT: %[[H:.*]] = autopar.einsum "mk,kn->mn" %[[X]], %[[W]] :
// CHECK-NEXT: %[[B:.*]] = autopar.broadcast
// CHECK-SAME: tensor<8xf32> -> tensor<2x8xf32>
// CHECK-NEXT: %[[S:.*]] = autopar.binary add %[[H]], %[[B]] : tensor<2x8xf32>
// CHECK-NEXT: %[[R:.*]] = autopar.unary relu %[[S]]
// CHECK-NEXT: %[[P:.*]] = autopar.softmax %[[R]] dim = 1 : tensor<2x8xf32>
// CHECK-NEXT: return %[[P]]
func.func @step(
    %x: tensor<4x6xf32> {autopar.source = #autopar.input<"x">, autopar.sharding = #x},
    %w: tensor<6x8xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = -1, length = 192>, autopar.sharding = #w},
    %b: tensor<8xf32> {autopar.source = #autopar.parameter<"b", "m.onnx", offset = -1, length = 32>, autopar.sharding = #b})
    -> (tensor<4x8xf32> {autopar.result = #autopar.output<"y">, autopar.sharding = #x}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w {autopar.strategy = #rows, autopar.shardings = [#x]}
    : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %1 = autopar.broadcast %b dims = [1] {autopar.strategy = #autopar.strategy<@mesh, {"data": split 0}>, autopar.shardings = [#x]}
    : tensor<8xf32> -> tensor<4x8xf32>
  %2 = autopar.binary add %0, %1 {autopar.strategy = #rows, autopar.shardings = [#x]} : tensor<4x8xf32>
  %3 = autopar.unary relu %2 {autopar.strategy = #rows, autopar.shardings = [#x]} : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = autopar.softmax %3 dim = 1 {autopar.strategy = #rows, autopar.shardings = [#x]} : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}
