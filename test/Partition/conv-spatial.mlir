// RUN: autopar-opt %s --autopar-partition-pipeline | FileCheck %s
// RUN: autopar-opt %s --autopar-partition-pipeline --autopar-interpret='against=%s' -o /dev/null

// Height split over 3 devices, through a strided convolution with padding and a
// max pooling: each reads an interval of what is held in blocks.

#h = #autopar.sharding<@mesh, [{}, {}, {"space"}, {}]>
#w = #autopar.sharding<@mesh, [{}, {}, {}, {}]>

autopar.mesh @mesh #autopar.mesh<["space"=3]>

// CHECK-LABEL: func.func @step_0(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4x9xf32>
// 5 rows of results over 3 devices: blocks of 2, that read 2*2+1 rows from 4*j - 1.
// CHECK: %[[XH:.*]] = autopar.halo %[[X]] mesh = @mesh axes = ["space"]
// CHECK-SAME: dim = 2 : i64, fill = 0.000000e+00 : f64, offset = -1 : i64, size = 10 : i64, step = 4 : i64
// CHECK-SAME: (tensor<2x3x4x9xf32>) -> tensor<2x3x5x9xf32>
// CHECK: %[[C:.*]] = autopar.convolution %[[XH]]
// CHECK-SAME: low = [0, 1] high = [0, 1]
// CHECK-SAME: -> tensor<2x4x2x5xf32>
// CHECK: %[[CH:.*]] = autopar.halo %[[C]]
// CHECK-SAME: fill = 0xFFF0000000000000 : f64, offset = -1 : i64, size = 5 : i64, step = 2 : i64
// CHECK-SAME: -> tensor<2x4x4x5xf32>
// CHECK: autopar.pool max %[[CH]]
// CHECK-SAME: low = [0, 1] high = [0, 1]
func.func @step(
    %x: tensor<2x3x10x9xf32> {autopar.source = #autopar.input<"x">, autopar.sharding = #h},
    %w: tensor<4x3x3x3xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = -1, length = 432>, autopar.sharding = #w})
    -> (tensor<2x4x5x5xf32> {autopar.result = #autopar.output<"y">, autopar.sharding = #h}) {
  %0 = autopar.convolution %x, %w strides = [2, 2] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    {autopar.strategy = #autopar.strategy<@mesh, {"space": split 3}>, autopar.shardings = [#h],
     autopar.operand_steps = [[#autopar.reshard_step<halo ["space"] dim = 2>], []]}
    : (tensor<2x3x10x9xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x5x5xf32>
  %1 = autopar.pool max %0 window = [3, 3] strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1]
    {autopar.strategy = #autopar.strategy<@mesh, {"space": split 2}>, autopar.shardings = [#h],
     autopar.operand_steps = [[#autopar.reshard_step<halo ["space"] dim = 2>]]}
    : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  return %1 : tensor<2x4x5x5xf32>
}
