// RUN: autopar-opt %s --autopar-insert-reshards | autopar-opt | FileCheck %s

#whole = #autopar.sharding<@mesh, [{}, {}]>
#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
#columns = #autopar.sharding<@mesh, [{}, {"x"}]>
#byRow = #autopar.strategy<@mesh, {"x": split 0}>
#sliceRows = #autopar.reshard_step<slice_block ["x"] dim = 0>
#sliceColumns = #autopar.reshard_step<slice_block ["x"] dim = 1>
#byColumn = #autopar.strategy<@mesh, {"x": split 1}>

autopar.mesh @mesh #autopar.mesh<["x"=2]>

// One reshard at the definition; two users that want the same share one.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = autopar.einsum
// CHECK-NEXT: %[[W:.*]] = autopar.reshard %[[P]] from <@mesh, [{}, {}], partial = {"x": sum}> to <@mesh, [{}, {}]> steps = [#autopar.reshard_step<all_reduce ["x"]>]
// CHECK-NEXT: %[[R:.*]] = autopar.reshard %[[W]] from <@mesh, [{}, {}]> to <@mesh, [{"x"}, {}]> steps = [#autopar.reshard_step<slice_block ["x"] dim = 0>]
// CHECK-NEXT: %[[E:.*]] = autopar.unary exp %[[R]]
// CHECK-NEXT: %[[T:.*]] = autopar.unary tanh %[[R]]
// CHECK-NEXT: %[[C:.*]] = autopar.reshard %[[W]] from <@mesh, [{}, {}]> to <@mesh, [{}, {"x"}]> steps = [#autopar.reshard_step<slice_block ["x"] dim = 1>]
// CHECK-NEXT: %[[N:.*]] = autopar.unary neg %[[C]]
// CHECK-NEXT: %[[EW:.*]] = autopar.reshard %[[E]] from <@mesh, [{"x"}, {}]> to <@mesh, [{}, {}]> steps = [#autopar.reshard_step<all_gather ["x"] dim = 0>]
// CHECK-NEXT: return %[[EW]], %[[T]], %[[N]]
func.func @step(
    %a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">, autopar.sharding = #columns},
    %b: tensor<6x8xf32> {autopar.source = #autopar.input<"b">, autopar.sharding = #rows})
    -> (tensor<4x8xf32> {autopar.result = #autopar.output<"e">, autopar.sharding = #whole, autopar.steps = [#autopar.reshard_step<all_gather ["x"] dim = 0>]},
        tensor<4x8xf32> {autopar.result = #autopar.output<"t">, autopar.sharding = #rows},
        tensor<4x8xf32> {autopar.result = #autopar.output<"n">, autopar.sharding = #columns}) {
  %0 = autopar.einsum "mk,kn->mn" %a, %b {autopar.strategy = #autopar.strategy<@mesh, {"x": split 2}>, autopar.shardings = [#whole],
    autopar.result_steps = [[#autopar.reshard_step<all_reduce ["x"]>]]}
    : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %1 = autopar.unary exp %0 {autopar.strategy = #byRow, autopar.operand_steps = [[#sliceRows]]} : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = autopar.unary tanh %0 {autopar.strategy = #byRow, autopar.operand_steps = [[#sliceRows]]} : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = autopar.unary neg %0 {autopar.strategy = #byColumn, autopar.operand_steps = [[#sliceColumns]]} : tensor<4x8xf32> -> tensor<4x8xf32>
  return %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// What is outside an interval is filled as each window wants it: two reshards.
// CHECK-LABEL: func.func @windows
// CHECK: autopar.reshard %{{.*}} to <@mesh, {{\[}}{}, {}, {"x", step = 2, offset = -1, length = 4}]> fill = {{\[}}0.000000e+00, 0.000000e+00, 0xFFF0000000000000
// CHECK: autopar.pool max
// CHECK: autopar.reshard %{{.*}} to <@mesh, {{\[}}{}, {}, {"x", step = 2, offset = -1, length = 4}]> fill = {{\[}}0.000000e+00, 0.000000e+00, 0.000000e+00]
// CHECK: autopar.pool sum
func.func @windows(
    %i: tensor<1x1x4xf32> {autopar.source = #autopar.input<"i">, autopar.sharding = #autopar.sharding<@mesh, [{}, {}, {"x"}]>})
    -> (tensor<1x1x4xf32> {autopar.result = #autopar.output<"m">, autopar.sharding = #autopar.sharding<@mesh, [{}, {}, {"x"}]>},
        tensor<1x1x4xf32> {autopar.result = #autopar.output<"s">, autopar.sharding = #autopar.sharding<@mesh, [{}, {}, {"x"}]>}) {
  %0 = autopar.pool max %i window = [3] strides = [1] dilations = [1] low = [1] high = [1]
    {autopar.strategy = #autopar.strategy<@mesh, {"x": split 2}>, autopar.operand_steps = [[#autopar.reshard_step<halo ["x"] dim = 2>]]} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %1 = autopar.pool sum %i window = [3] strides = [1] dilations = [1] low = [1] high = [1]
    {autopar.strategy = #autopar.strategy<@mesh, {"x": split 2}>, autopar.operand_steps = [[#autopar.reshard_step<halo ["x"] dim = 2>]]} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  return %0, %1 : tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// An op with `autopar.regathers` makes the reshard again, and the op after it reads that one. Partition marks the collective and not the op,
// so that the two are not merged.
// RUN: autopar-opt %s --autopar-insert-reshards --autopar-partition --cse | FileCheck %s --check-prefix=LOCAL
// CHECK-LABEL: func.func @again
// CHECK: %[[A:.*]] = autopar.reshard %arg0 from <@mesh, [{"x"}, {}]> to <@mesh, [{}, {}]> {{.*}}dim = 0>] : tensor<4x8xf32>
// CHECK: autopar.unary exp %[[A]]
// CHECK: autopar.unary tanh %[[A]]
// CHECK: %[[B:.*]] = autopar.reshard %arg0 {{.*}} {autopar.regather = 0 : i64}
// CHECK: autopar.unary neg %[[B]]
// CHECK-NOT: autopar.regathers
// CHECK: autopar.unary abs %[[B]]
// CHECK-NOT: autopar.reshard
// LOCAL-LABEL: func.func @again
// LOCAL: %[[A:.*]] = autopar.all_gather %arg0
// LOCAL: autopar.unary exp %[[A]]
// LOCAL: %[[B:.*]] = autopar.all_gather %arg0 {{.*}}autopar.regather = 0 : i64
// LOCAL-NOT: autopar.task
// LOCAL: autopar.unary neg %[[B]]
// LOCAL-NOT: autopar.all_gather
func.func @again(
    %w: tensor<4x8xf32> {autopar.source = #autopar.input<"w">, autopar.sharding = #rows})
    -> (tensor<4x8xf32> {autopar.result = #autopar.output<"e">, autopar.sharding = #whole}, tensor<4x8xf32> {autopar.result = #autopar.output<"t">, autopar.sharding = #whole},
        tensor<4x8xf32> {autopar.result = #autopar.output<"n">, autopar.sharding = #whole}, tensor<4x8xf32> {autopar.result = #autopar.output<"a">, autopar.sharding = #whole}) {
  %0 = autopar.unary exp %w {autopar.strategy = #autopar.strategy<@mesh, {}>, autopar.operand_steps = [[#autopar.reshard_step<all_gather ["x"] dim = 0>]]} : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = autopar.unary tanh %w {autopar.strategy = #autopar.strategy<@mesh, {}>, autopar.operand_steps = [[#autopar.reshard_step<all_gather ["x"] dim = 0>]]} : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = autopar.unary neg %w {autopar.strategy = #autopar.strategy<@mesh, {}>, autopar.regathers = array<i64: 0>, autopar.task = #autopar.task<input_gradient>,
    autopar.operand_steps = [[#autopar.reshard_step<all_gather ["x"] dim = 0>]]} : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = autopar.unary abs %w {autopar.strategy = #autopar.strategy<@mesh, {}>, autopar.operand_steps = [[#autopar.reshard_step<all_gather ["x"] dim = 0>]]} : tensor<4x8xf32> -> tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
