// RUN: autopar-opt %s --autopar-insert-reshards --autopar-split-stages | FileCheck %s
// RUN: autopar-opt %s --autopar-partition-pipeline --autopar-interpret='against=%s' -o /dev/null

// What depends on no input is made in the stages that read it, with the reshard
// and the parameter behind it; what no stage reads is made nowhere.

#batch = #autopar.sharding<@mesh, [{"data"}, {}]>
#whole = #autopar.sharding<@mesh, [{}, {}]>
#row = #autopar.sharding<@mesh, [{}]>
#none = #autopar.strategy<@mesh, {}>
#split = #autopar.strategy<@mesh, {"data": split 0}>

module attributes {autopar.stages = 3 : i64} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>

// CHECK-LABEL: func.func @step_0(
// CHECK-NOT: "mask"
// CHECK-NOT: autopar.broadcast
// CHECK: autopar.send %{{.*}} channel = 0 to 1
// CHECK-NOT: autopar.send

// CHECK-LABEL: func.func @step_1(
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<6xf32> {{.*}}#autopar.parameter<"mask"
// CHECK: %[[H:.*]] = autopar.recv channel = 0 from 0
// CHECK: %[[E:.*]] = autopar.broadcast %[[M]]
// CHECK: %[[R:.*]] = autopar.reshard %[[E]]
// CHECK: autopar.binary add %[[H]], %[[R]]
// CHECK: autopar.send %{{.*}} channel = 1 to 2

// CHECK-LABEL: func.func @step_2(
// CHECK-SAME: #autopar.parameter<"mask"
// CHECK: autopar.broadcast
// CHECK: autopar.reshard
// CHECK-NOT: autopar.recv channel = 2
func.func @step(
    %x: tensor<8x6xf32> {autopar.source = #autopar.input<"x">, autopar.sharding = #batch},
    %mask: tensor<6xf32> {autopar.source = #autopar.parameter<"mask", "m.onnx", offset = -1, length = 24>, autopar.sharding = #row})
    -> (tensor<8x6xf32> {autopar.result = #autopar.output<"y">, autopar.sharding = #batch}) {
  %0 = autopar.broadcast %mask dims = [1] {autopar.strategy = #none, autopar.shardings = [#whole]} : tensor<6xf32> -> tensor<8x6xf32>
  %1 = autopar.unary neg %0 {autopar.strategy = #none, autopar.shardings = [#whole]} : tensor<8x6xf32> -> tensor<8x6xf32>
  %2 = autopar.unary tanh %x {autopar.strategy = #split, autopar.shardings = [#batch]} : tensor<8x6xf32> -> tensor<8x6xf32>
  %3 = autopar.binary add %2, %0 {autopar.strategy = #split, autopar.operand_steps = [[], [#autopar.reshard_step<slice_block ["data"] dim = 0>]], autopar.shardings = [#batch], autopar.stage = 1 : i64} : tensor<8x6xf32>
  %4 = autopar.binary mul %3, %0 {autopar.strategy = #split, autopar.operand_steps = [[], [#autopar.reshard_step<slice_block ["data"] dim = 0>]], autopar.shardings = [#batch], autopar.stage = 2 : i64} : tensor<8x6xf32>
  return %4 : tensor<8x6xf32>
}
}
