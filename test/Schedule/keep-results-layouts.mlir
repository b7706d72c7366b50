// Images with channels last, reshapes of them and what joins, cuts, pads, transposes, reduces
// and contracts them: the scheduled module computes what the tensor program does.
// RUN: autopar-opt %s --autopar-schedule-pipeline -o %t.mlir
// RUN: FileCheck %s --check-prefix=LAST < %t.mlir
// RUN: autopar-opt %t.mlir --autopar-interpret=against=%s -o /dev/null 2>&1 | FileCheck %s

// LAST: strided<[256, 1, 32, 4]>
// CHECK: 7 results equal

func.func @step(%x: tensor<2x3x8x8xf32> {autopar.source = #autopar.input<"x">},
                %v: tensor<4x3x3x3xf32> {autopar.source = #autopar.parameter<"v", "m", offset = 0, length = 432>},
                %w: tensor<6x8x1x1xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 432, length = 192>})
    -> (tensor<2x6x8x8xf32> {autopar.result = #autopar.output<"image">},
        tensor<2x64x6xf32> {autopar.result = #autopar.output<"tokens">},
        tensor<2x6xf32> {autopar.result = #autopar.output<"mean">},
        tensor<2x3x128xf32> {autopar.result = #autopar.output<"groups">},
        tensor<2x6x5x4xf32> {autopar.result = #autopar.output<"cut">},
        tensor<6x8xf32> {autopar.result = #autopar.output<"gradient">},
        tensor<2x6x8xf32> {autopar.result = #autopar.output<"scores">}) {
  %0 = autopar.convolution %x, %v strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  %1 = autopar.pool max %0 window = [3, 3] strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1]
    : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = autopar.concat %0, %1 dim = 1 : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x8x8x8xf32>
  %3 = autopar.convolution %2, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x8x8x8xf32>, tensor<6x8x1x1xf32>) -> tensor<2x6x8x8xf32>
  %4 = autopar.reshape %3 : tensor<2x6x8x8xf32> -> tensor<2x6x64xf32>
  %5 = autopar.transpose %4 perm = [0, 2, 1] : tensor<2x6x64xf32> -> tensor<2x64x6xf32>
  %6 = autopar.reduce sum %3 dims = [2, 3] : tensor<2x6x8x8xf32> -> tensor<2x6xf32>
  %7 = autopar.reshape %3 : tensor<2x6x8x8xf32> -> tensor<2x3x128xf32>
  %8 = autopar.normalize layer %7 dims = [2] epsilon = 1.0e-5 : tensor<2x3x128xf32>
  %9 = autopar.slice %3 starts = [0, 0, 1, 7] steps = [1, 1, 1, -2] : tensor<2x6x8x8xf32> -> tensor<2x6x4x4xf32>
  %10 = autopar.pad %9 low = [0, 0, 1, 0] high = [0, 0, 0, 0] value = 1.0 : tensor<2x6x4x4xf32> -> tensor<2x6x5x4xf32>
  %11 = autopar.transpose %3 perm = [1, 0, 2, 3] : tensor<2x6x8x8xf32> -> tensor<6x2x8x8xf32>
  %12 = autopar.transpose %2 perm = [1, 0, 2, 3] : tensor<2x8x8x8xf32> -> tensor<8x2x8x8xf32>
  %13 = autopar.einsum "opab,ipab->oi" %11, %12 : (tensor<6x2x8x8xf32>, tensor<8x2x8x8xf32>) -> tensor<6x8xf32>
  %14 = autopar.reshape %2 : tensor<2x8x8x8xf32> -> tensor<2x8x64xf32>
  %15 = autopar.einsum "bcn,bdn->bcd" %4, %14 : (tensor<2x6x64xf32>, tensor<2x8x64xf32>) -> tensor<2x6x8xf32>
  return %3, %5, %6, %8, %10, %13, %15
    : tensor<2x6x8x8xf32>, tensor<2x64x6xf32>, tensor<2x6xf32>, tensor<2x3x128xf32>, tensor<2x6x5x4xf32>, tensor<6x8xf32>, tensor<2x6x8xf32>
}
