// RUN: autopar-opt %s --autopar-insert-reshards --autopar-split-stages | FileCheck %s
// RUN: autopar-opt %s --autopar-partition-pipeline | FileCheck %s --check-prefix=LOCAL
// RUN: autopar-opt %s --autopar-partition-pipeline --autopar-interpret='against=%s' -o /dev/null

// Two stages of two devices, batch in two micro-batches. The parameter and the
// setup value are read by both stages; the hidden value crosses as it is wanted.

#batch = #autopar.sharding<@mesh, [{"time"}, {}]>
#both = #autopar.sharding<@mesh, [{"time", "data"}, {}]>
#row = #autopar.sharding<@mesh, [{"data"}, {}]>
#whole = #autopar.sharding<@mesh, [{}, {}]>
#none = #autopar.strategy<@mesh, {}>

module attributes {autopar.stages = 2 : i64} {
autopar.mesh @mesh #autopar.mesh<["time"=2, "data"=2]>

// CHECK-LABEL: func.func @setup_0
// CHECK-SAME: %[[W:.*]]: tensor<6x6xf32> {autopar.sharding
// CHECK-SAME: #autopar.parameter<"w"
// CHECK: autopar.transpose
// CHECK-LABEL: func.func @setup_1
// CHECK: autopar.transpose
// CHECK: autopar.unary neg
func.func @setup(
    %w: tensor<6x6xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = -1, length = 144>, autopar.sharding = #whole})
    -> (tensor<6x6xf32> {autopar.result = #autopar.setup_value<"wt">, autopar.sharding = #whole},
        tensor<6x6xf32> {autopar.result = #autopar.setup_value<"wn">, autopar.sharding = #whole},
        tensor<6x6xf32> {autopar.result = #autopar.setup_value<"unused">, autopar.sharding = #whole}) {
  %0 = autopar.transpose %w perm = [1, 0] {autopar.strategy = #none, autopar.shardings = [#whole]} : tensor<6x6xf32> -> tensor<6x6xf32>
  %1 = autopar.unary neg %0 {autopar.strategy = #none, autopar.shardings = [#whole], autopar.stage = 1 : i64} : tensor<6x6xf32> -> tensor<6x6xf32>
  %2 = autopar.unary abs %1 {autopar.strategy = #none, autopar.shardings = [#whole], autopar.stage = 1 : i64} : tensor<6x6xf32> -> tensor<6x6xf32>
  return %0, %1, %2 : tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>
}

// CHECK-LABEL: func.func @step_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x6xf32>
// CHECK-SAME: autopar.source = #autopar.setup_result<0>
// CHECK: %[[H:.*]] = autopar.einsum
// CHECK: %[[S:.*]] = autopar.reshard %[[H]] from <@mesh, [{"time"}, {"data"}]> to <@mesh, [{"time", "data"}, {}]>
// CHECK-NEXT: autopar.send %[[S]] channel = 0 to 1
// CHECK-LABEL: func.func @step_1(
// CHECK-SAME: autopar.source = #autopar.setup_result<0>
// CHECK-SAME: autopar.source = #autopar.setup_result<1>
// CHECK: %[[R:.*]] = autopar.recv channel = 0 from 0
// CHECK-SAME: autopar.shardings = [#autopar.sharding<@mesh, [{"time", "data"}, {}]>]
// CHECK: autopar.einsum "mk,kn->mn" %[[R]]

// LOCAL-LABEL: func.func @step_0(
// LOCAL-SAME: tensor<4x6xf32>
// LOCAL: autopar.all_to_all
// LOCAL-SAME: axes = ["data"]
// LOCAL-SAME: -> tensor<2x6xf32>
// LOCAL-LABEL: func.func @step_1(
// LOCAL: autopar.recv channel = 0 from 0 : () -> tensor<2x6xf32>
func.func @step(
    %x: tensor<8x6xf32> {autopar.source = #autopar.input<"x">, autopar.sharding = #batch},
    %wt: tensor<6x6xf32> {autopar.source = #autopar.setup_result<0>, autopar.sharding = #whole},
    %wn: tensor<6x6xf32> {autopar.source = #autopar.setup_result<1>, autopar.sharding = #whole})
    -> (tensor<8x6xf32> {autopar.result = #autopar.output<"y">, autopar.sharding = #both}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %wt {autopar.strategy = #autopar.strategy<@mesh, {"time": split 0, "data": split 1}>,
    autopar.shardings = [#autopar.sharding<@mesh, [{"time"}, {"data"}]>], autopar.stage = 0 : i64,
    autopar.operand_steps = [[], [#autopar.reshard_step<slice_block ["data"] dim = 1>]]}
    : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %wn {autopar.strategy = #autopar.strategy<@mesh, {"time": split 0, "data": split 0}>,
    autopar.shardings = [#both], autopar.stage = 1 : i64,
    autopar.operand_steps = [[#autopar.reshard_step<all_to_all ["data"] dim = 0 concat_dim = 1>], []]}
    : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
  %2 = autopar.einsum "mk,kn->mn" %1, %wt {autopar.strategy = #autopar.strategy<@mesh, {"time": split 0, "data": split 0}>,
    autopar.shardings = [#both], autopar.stage = 1 : i64}
    : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}
}
