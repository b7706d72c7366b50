// RUN: autopar-opt %s -canonicalize | FileCheck %s

// Query, key and value in one matrix come apart; their names stay.
// CHECK-LABEL: func @packed_projection
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[W:.*]]: tensor<4x10xf32> {{{.*}}}, %[[B:.*]]: tensor<10xf32> {{{.*}}})
// CHECK-DAG: %[[WQ:.*]] = autopar.slice %[[W]] starts = [0, 0] steps = [1, 1] : tensor<4x10xf32> -> tensor<4x6xf32>
// CHECK-DAG: %[[Q:.*]] = autopar.einsum "bsk,kn->bsn" %[[X]], %[[WQ]]
// CHECK-DAG: %[[BQ:.*]] = autopar.slice %[[B]] starts = [0] steps = [1] : tensor<10xf32> -> tensor<6xf32>
// CHECK-DAG: %[[BBQ:.*]] = autopar.broadcast %[[BQ]] dims = [2]
// CHECK-DAG: %[[RQ:.*]] = autopar.binary add %[[Q]], %[[BBQ]] {autopar.names = ["q"]} : tensor<2x3x6xf32>
// CHECK-DAG: %[[WK:.*]] = autopar.slice %[[W]] starts = [0, 6] steps = [1, 1] : tensor<4x10xf32> -> tensor<4x4xf32>
// CHECK-DAG: %[[K:.*]] = autopar.einsum "bsk,kn->bsn" %[[X]], %[[WK]]
// CHECK-DAG: %[[RK:.*]] = autopar.binary add %[[K]], %{{.*}} {autopar.names = ["k"]} : tensor<2x3x4xf32>
// CHECK: return %[[RQ]], %[[RK]]
func.func @packed_projection(%x: tensor<2x3x4xf32>,
    %w: tensor<4x10xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 160>},
    %b: tensor<10xf32> {autopar.source = #autopar.setup_result<0>}) -> (tensor<2x3x6xf32>, tensor<2x3x4xf32>) {
  %0 = autopar.einsum "bsk,kn->bsn" %x, %w : (tensor<2x3x4xf32>, tensor<4x10xf32>) -> tensor<2x3x10xf32>
  %1 = autopar.broadcast %b dims = [2] : tensor<10xf32> -> tensor<2x3x10xf32>
  %2 = autopar.binary add %0, %1 {autopar.names = ["qk"]} : tensor<2x3x10xf32>
  %3 = autopar.slice %2 starts = [0, 0, 0] steps = [1, 1, 1] {autopar.names = ["q"]} : tensor<2x3x10xf32> -> tensor<2x3x6xf32>
  %4 = autopar.slice %2 starts = [0, 0, 6] steps = [1, 1, 1] {autopar.names = ["k"]} : tensor<2x3x10xf32> -> tensor<2x3x4xf32>
  return %3, %4 : tensor<2x3x6xf32>, tensor<2x3x4xf32>
}

// Heads first, then cut: the slice moves up past transpose and reshape.
// CHECK-LABEL: func @packed_heads
// CHECK-NEXT: %[[W:.*]] = autopar.slice %{{.*}} starts = [0, 6] steps = [1, 1] : tensor<4x18xf32> -> tensor<4x6xf32>
// CHECK-NEXT: %[[E:.*]] = autopar.einsum "bsk,kn->bsn" %{{.*}}, %[[W]] {{.*}} -> tensor<2x5x6xf32>
// CHECK-NEXT: %[[R:.*]] = autopar.reshape %[[E]] {{.*}}: tensor<2x5x6xf32> -> tensor<2x5x3x2xf32>
// CHECK-NEXT: autopar.transpose %[[R]] perm = [0, 2, 1, 3]
// CHECK-NEXT: return
func.func @packed_heads(%x: tensor<2x5x4xf32>,
    %w: tensor<4x18xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 288>}) -> tensor<2x3x5x2xf32> {
  %i = autopar.constant dense<1> : tensor<i64>
  %0 = autopar.einsum "bsk,kn->bsn" %x, %w : (tensor<2x5x4xf32>, tensor<4x18xf32>) -> tensor<2x5x18xf32>
  %1 = autopar.reshape %0 : tensor<2x5x18xf32> -> tensor<2x5x3x3x2xf32>
  %2 = autopar.transpose %1 perm = [2, 0, 3, 1, 4] : tensor<2x5x3x3x2xf32> -> tensor<3x2x3x5x2xf32>
  %3 = autopar.gather %2, %i dim = 0 : (tensor<3x2x3x5x2xf32>, tensor<i64>) -> tensor<2x3x5x2xf32>
  return %3 : tensor<2x3x5x2xf32>
}

// Parts that overlap, or another use, keep the matrix multiplication whole.
// CHECK-LABEL: func @overlapping
// CHECK: autopar.einsum {{.*}} -> tensor<3x10xf32>
// CHECK-NEXT: autopar.slice
// CHECK-NEXT: autopar.slice
func.func @overlapping(%x: tensor<3x4xf32>,
    %w: tensor<4x10xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 160>}) -> (tensor<3x6xf32>, tensor<3x5xf32>) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<3x4xf32>, tensor<4x10xf32>) -> tensor<3x10xf32>
  %1 = autopar.slice %0 starts = [0, 0] steps = [1, 1] : tensor<3x10xf32> -> tensor<3x6xf32>
  %2 = autopar.slice %0 starts = [0, 5] steps = [1, 1] : tensor<3x10xf32> -> tensor<3x5xf32>
  return %1, %2 : tensor<3x6xf32>, tensor<3x5xf32>
}

// Both operands come from inputs: there is no weight to cut.
// CHECK-LABEL: func @no_weight
// CHECK: autopar.einsum {{.*}} -> tensor<3x10xf32>
// CHECK-NEXT: autopar.slice
func.func @no_weight(%x: tensor<3x4xf32>,
    %w: tensor<4x10xf32> {autopar.source = #autopar.input<"w">}) -> tensor<3x6xf32> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<3x4xf32>, tensor<4x10xf32>) -> tensor<3x10xf32>
  %1 = autopar.slice %0 starts = [0, 0] steps = [1, 1] : tensor<3x10xf32> -> tensor<3x6xf32>
  return %1 : tensor<3x6xf32>
}

// CHECK-LABEL: func @batch_norm_scale
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x5xf32>, %[[W:.*]]: tensor<4x2x3xf32> {{{.*}}}, %[[S:.*]]: tensor<4xf32> {{{.*}}})
// CHECK-NEXT: %[[B:.*]] = autopar.broadcast %[[S]] dims = [0] : tensor<4xf32> -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[F:.*]] = autopar.binary mul %[[W]], %[[B]] : tensor<4x2x3xf32>
// CHECK-NEXT: autopar.convolution %[[X]], %[[F]] {{.*}}autopar.names = ["y"]
// CHECK-NEXT: return
func.func @batch_norm_scale(%x: tensor<1x2x5xf32>,
    %w: tensor<4x2x3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 96>},
    %s: tensor<4xf32> {autopar.source = #autopar.parameter<"s", "m", offset = 96, length = 16>}) -> tensor<1x4x3xf32> {
  %0 = autopar.convolution %x, %w strides = [1] dilations = [1] low = [0] high = [0] groups = 1
      : (tensor<1x2x5xf32>, tensor<4x2x3xf32>) -> tensor<1x4x3xf32>
  %1 = autopar.broadcast %s dims = [1] : tensor<4xf32> -> tensor<1x4x3xf32>
  %2 = autopar.binary mul %0, %1 {autopar.names = ["y"]} : tensor<1x4x3xf32>
  return %2 : tensor<1x4x3xf32>
}
