// RUN: autopar-opt %s --canonicalize | FileCheck %s

// Parts that cover a dimension are joined, in their order, whatever tree of sums they stand in.
// CHECK-LABEL: @covers
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>, %[[B:[a-z0-9]+]]: tensor<2x1xf32>, %[[C:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-NEXT: %[[ALL:.*]] = autopar.concat %[[C]], %[[A]], %[[B]] dim = 1 {autopar.names = ["g"]}
// CHECK-NEXT: return %[[ALL]]
func.func @covers(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %0 = autopar.pad %a low = [0, 4] high = [0, 1] value = 0.0 : tensor<2x3xf32> -> tensor<2x8xf32>
  %1 = autopar.pad %b low = [0, 7] high = [0, 0] value = 0.0 : tensor<2x1xf32> -> tensor<2x8xf32>
  %2 = autopar.pad %c low = [0, 0] high = [0, 4] value = 0.0 : tensor<2x4xf32> -> tensor<2x8xf32>
  %3 = autopar.binary add %1, %2 : tensor<2x8xf32>
  %4 = autopar.binary add %0, %3 {autopar.names = ["g"]} : tensor<2x8xf32>
  return %4 : tensor<2x8xf32>
}

// A hole, an overlap, two dimensions, another fill, and a sum that is read otherwise stay as they are.
// CHECK-LABEL: @hole
// CHECK-NOT: autopar.concat
func.func @hole(%a: tensor<3xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  %0 = autopar.pad %a low = [0] high = [5] value = 0.0 : tensor<3xf32> -> tensor<8xf32>
  %1 = autopar.pad %b low = [4] high = [0] value = 0.0 : tensor<4xf32> -> tensor<8xf32>
  %2 = autopar.binary add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
// CHECK-LABEL: @overlap
// CHECK-NOT: autopar.concat
func.func @overlap(%a: tensor<5xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  %0 = autopar.pad %a low = [0] high = [3] value = 0.0 : tensor<5xf32> -> tensor<8xf32>
  %1 = autopar.pad %b low = [4] high = [0] value = 0.0 : tensor<4xf32> -> tensor<8xf32>
  %2 = autopar.binary add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
// CHECK-LABEL: @dims
// CHECK-NOT: autopar.concat
func.func @dims(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<8x8xf32> {
  %0 = autopar.pad %a low = [0, 0] high = [4, 4] value = 0.0 : tensor<4x4xf32> -> tensor<8x8xf32>
  %1 = autopar.pad %b low = [4, 4] high = [0, 0] value = 0.0 : tensor<4x4xf32> -> tensor<8x8xf32>
  %2 = autopar.binary add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// CHECK-LABEL: @fill
// CHECK-NOT: autopar.concat
func.func @fill(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  %0 = autopar.pad %a low = [0] high = [4] value = 1.0 : tensor<4xf32> -> tensor<8xf32>
  %1 = autopar.pad %b low = [4] high = [0] value = 0.0 : tensor<4xf32> -> tensor<8xf32>
  %2 = autopar.binary add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
// CHECK-LABEL: @multiplied
// CHECK-NOT: autopar.concat
func.func @multiplied(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  %0 = autopar.pad %a low = [0] high = [4] value = 0.0 : tensor<4xf32> -> tensor<8xf32>
  %1 = autopar.pad %b low = [4] high = [0] value = 0.0 : tensor<4xf32> -> tensor<8xf32>
  %2 = autopar.binary mul %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
