// RUN: autopar-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[X]]
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = autopar.transpose %x perm = [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = autopar.reshape %0 : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = autopar.broadcast %1 dims = [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %3 = autopar.slice %2 starts = [0, 0] steps = [1, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %4 = autopar.pad %3 low = [0, 0] high = [0, 0] value = 0.0 : tensor<2x3xf32> -> tensor<2x3xf32>
  %5 = autopar.concat %4 dim = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = autopar.convert %5 : tensor<2x3xf32> -> tensor<2x3xf32>
  return %6 : tensor<2x3xf32>
}

// CHECK-LABEL: func @there_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @there_and_back(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = autopar.transpose %x perm = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %1 = autopar.transpose %0 perm = [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  %2 = autopar.convert %x : tensor<2x3xf32> -> tensor<2x3xf64>
  %3 = autopar.convert %2 : tensor<2x3xf64> -> tensor<2x3xf32>
  return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func @merge_slices
// CHECK-NEXT: autopar.slice %{{.*}} starts = [7] steps = [-4] : tensor<9xf32> -> tensor<2xf32>
// CHECK-NEXT: return
func.func @merge_slices(%x: tensor<9xf32>) -> tensor<2xf32> {
  %0 = autopar.slice %x starts = [1] steps = [2] : tensor<9xf32> -> tensor<4xf32>
  %1 = autopar.slice %0 starts = [3] steps = [-2] : tensor<4xf32> -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func @reverse_is_no_identity
// CHECK-NEXT: autopar.slice
func.func @reverse_is_no_identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.slice %x starts = [3] steps = [-1] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @broadcasts
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<1x3xf32>)
// CHECK-NEXT: %[[A:.*]] = autopar.broadcast %[[X]] dims = [2] : tensor<3xf32> -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[R:.*]] = autopar.reshape %[[Y]] : tensor<1x3xf32> -> tensor<3xf32>
// CHECK-NEXT: %[[B:.*]] = autopar.broadcast %[[R]] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
// CHECK-NEXT: %[[C:.*]] = autopar.reshape %[[X]] : tensor<3xf32> -> tensor<1x3xf32>
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
func.func @broadcasts(%x: tensor<3xf32>, %y: tensor<1x3xf32>) -> (tensor<4x2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) {
  %0 = autopar.broadcast %x dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %1 = autopar.broadcast %0 dims = [1, 2] : tensor<2x3xf32> -> tensor<4x2x3xf32>
  %2 = autopar.broadcast %y dims = [0, 1] : tensor<1x3xf32> -> tensor<2x3xf32>
  %3 = autopar.broadcast %x dims = [1] : tensor<3xf32> -> tensor<1x3xf32>
  return %1, %2, %3 : tensor<4x2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>
}

// CHECK-LABEL: func @sink_transpose
// CHECK-NEXT: %[[C:.*]] = autopar.constant dense<2.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT: %[[M:.*]] = autopar.binary mul %{{.*}}, %[[C]] : tensor<2x3xf32>
// CHECK-NEXT: autopar.transpose %[[M]] perm = [1, 0] {autopar.names = ["y"]} : tensor<2x3xf32> -> tensor<3x2xf32>
func.func @sink_transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %c = autopar.constant dense<2.0> : tensor<3x2xf32>
  %0 = autopar.transpose %x perm = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %1 = autopar.binary mul %0, %c {autopar.names = ["y"]} : tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK-LABEL: func @sink_broadcast
// CHECK-NEXT: %[[S:.*]] = autopar.binary add %{{.*}}, %{{.*}} : tensor<3xf32>
// CHECK-NEXT: %[[T:.*]] = autopar.unary tanh %[[S]] : tensor<3xf32> -> tensor<3xf32>
// CHECK-NEXT: autopar.broadcast %[[T]] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
func.func @sink_broadcast(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = autopar.broadcast %x dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %1 = autopar.broadcast %y dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %2 = autopar.binary add %0, %1 : tensor<2x3xf32>
  %3 = autopar.unary tanh %2 : tensor<2x3xf32> -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// CHECK-LABEL: func @gather_one_row
// CHECK-NEXT: %[[S:.*]] = autopar.slice %{{.*}} starts = [2, 0] steps = [1, 1] : tensor<3x4xf32> -> tensor<1x4xf32>
// CHECK-NEXT: autopar.reshape %[[S]] : tensor<1x4xf32> -> tensor<4xf32>
func.func @gather_one_row(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %i = autopar.constant dense<-1> : tensor<i64>
  %0 = autopar.gather %x, %i dim = 0 : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @pad_before_convolution
// CHECK-NEXT: autopar.convolution %{{.*}}, %{{.*}} strides = [1] dilations = [1] low = [1] high = [3] groups = 1 : (tensor<1x2x5xf32>, tensor<4x2x3xf32>) -> tensor<1x4x7xf32>
func.func @pad_before_convolution(%x: tensor<1x2x5xf32>, %w: tensor<4x2x3xf32>) -> tensor<1x4x7xf32> {
  %0 = autopar.pad %x low = [0, 0, 1] high = [0, 0, 2] value = 0.0 : tensor<1x2x5xf32> -> tensor<1x2x8xf32>
  %1 = autopar.convolution %0, %w strides = [1] dilations = [1] low = [0] high = [1] groups = 1
      : (tensor<1x2x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x7xf32>
  return %1 : tensor<1x4x7xf32>
}

// CHECK-LABEL: func @gather_rows_in_order
// CHECK-NEXT: %[[S:.*]] = autopar.slice %{{.*}} starts = [1, 0] steps = [2, 1] : tensor<9x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT: autopar.reshape %[[S]] : tensor<4x4xf32> -> tensor<1x4x4xf32>
func.func @gather_rows_in_order(%x: tensor<9x4xf32>) -> tensor<1x4x4xf32> {
  %i = autopar.constant dense<[[1, 3, 5, 7]]> : tensor<1x4xi64>
  %0 = autopar.gather %x, %i dim = 0 : (tensor<9x4xf32>, tensor<1x4xi64>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// CHECK-LABEL: func @gather_rows_out_of_order
// CHECK: autopar.gather
func.func @gather_rows_out_of_order(%x: tensor<9x4xf32>) -> tensor<3x4xf32> {
  %i = autopar.constant dense<[1, 3, 2]> : tensor<3xi64>
  %0 = autopar.gather %x, %i dim = 0 : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func @units_of_a_broadcast
// CHECK-NEXT: autopar.broadcast %{{.*}} dims = [0] : tensor<4xf32> -> tensor<4x3xf32>
// CHECK-NEXT: return
func.func @units_of_a_broadcast(%x: tensor<4xf32>) -> tensor<4x3xf32> {
  %0 = autopar.broadcast %x dims = [0] : tensor<4xf32> -> tensor<4x1x3xf32>
  %1 = autopar.reshape %0 : tensor<4x1x3xf32> -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: func @units_of_a_transpose
// CHECK-NEXT: %[[R:.*]] = autopar.reshape %{{.*}} : tensor<4x1x3xf32> -> tensor<4x3xf32>
// CHECK-NEXT: autopar.transpose %[[R]] perm = [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
func.func @units_of_a_transpose(%x: tensor<4x1x3xf32>) -> tensor<3x4xf32> {
  %0 = autopar.transpose %x perm = [1, 2, 0] : tensor<4x1x3xf32> -> tensor<1x3x4xf32>
  %1 = autopar.reshape %0 : tensor<1x3x4xf32> -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// CHECK-LABEL: func @bits
// CHECK-SAME: (%[[X:.*]]: tensor<2xi1>)
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @bits(%x: tensor<2xi1>) -> (tensor<2xi1>, tensor<2xi1>) {
  %yes = autopar.constant dense<true> : tensor<2xi1>
  %no = autopar.constant dense<false> : tensor<2xi1>
  %0 = autopar.binary and %x, %yes : tensor<2xi1>
  %1 = autopar.binary or %no, %x : tensor<2xi1>
  return %0, %1 : tensor<2xi1>, tensor<2xi1>
}


// What is repeated along dimensions that keep their order can be read before a transpose.
// CHECK-LABEL: func @transpose_before_bias
// CHECK-NEXT: %[[C:.*]] = autopar.broadcast %{{.*}} dims = [1] : tensor<5xf32> -> tensor<3x5xf32>
// CHECK-NEXT: %[[A:.*]] = autopar.binary add %{{.*}}, %[[C]] : tensor<3x5xf32>
// CHECK-NEXT: autopar.transpose %[[A]] perm = [1, 0] {autopar.names = ["y"]}
func.func @transpose_before_bias(%x: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<5x3xf32> {
  %0 = autopar.transpose %x perm = [1, 0] : tensor<3x5xf32> -> tensor<5x3xf32>
  %1 = autopar.broadcast %b dims = [0] : tensor<5xf32> -> tensor<5x3xf32>
  %2 = autopar.binary add %0, %1 {autopar.names = ["y"]} : tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}

// These would change their order: both stay.
// CHECK-LABEL: func @transpose_before_crossed
// CHECK: autopar.transpose
// CHECK: autopar.broadcast
// CHECK: autopar.binary add
// CHECK-NEXT: return
func.func @transpose_before_crossed(%x: tensor<3x5x2xf32>, %b: tensor<5x3xf32>) -> tensor<5x3x2xf32> {
  %0 = autopar.transpose %x perm = [1, 0, 2] : tensor<3x5x2xf32> -> tensor<5x3x2xf32>
  %1 = autopar.broadcast %b dims = [0, 1] : tensor<5x3xf32> -> tensor<5x3x2xf32>
  %2 = autopar.binary add %0, %1 : tensor<5x3x2xf32>
  return %2 : tensor<5x3x2xf32>
}
