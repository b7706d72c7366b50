// RUN: autopar-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func @operand_transposes
// CHECK-SAME: (%[[A:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<5x4xf32>)
// CHECK-NEXT: autopar.einsum "km,nk->mn" %[[A]], %[[B]] : (tensor<4x3xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: return
func.func @operand_transposes(%a: tensor<4x3xf32>, %b: tensor<5x4xf32>) -> tensor<3x5xf32> {
  %0 = autopar.transpose %a perm = [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  %1 = autopar.transpose %b perm = [1, 0] : tensor<5x4xf32> -> tensor<4x5xf32>
  %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// CHECK-LABEL: func @result_transpose
// CHECK-NEXT: autopar.einsum "bhmk,bhkd->bmhd" %{{.*}}, %{{.*}} {autopar.names = ["context"]} : (tensor<2x3x4x5xf32>, tensor<2x3x5x6xf32>) -> tensor<2x4x3x6xf32>
// CHECK-NEXT: return
func.func @result_transpose(%a: tensor<2x3x4x5xf32>, %b: tensor<2x3x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %0 = autopar.einsum "bhmk,bhkd->bhmd" %a, %b : (tensor<2x3x4x5xf32>, tensor<2x3x5x6xf32>) -> tensor<2x3x4x6xf32>
  %1 = autopar.transpose %0 perm = [0, 2, 1, 3] {autopar.names = ["context"]} : tensor<2x3x4x6xf32> -> tensor<2x4x3x6xf32>
  return %1 : tensor<2x4x3x6xf32>
}

// Used twice: the transpose stays.
// CHECK-LABEL: func @shared_result
// CHECK-NEXT: autopar.einsum "mk,kn->mn"
// CHECK-NEXT: autopar.transpose
func.func @shared_result(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> (tensor<3x5xf32>, tensor<5x3xf32>) {
  %0 = autopar.einsum "mk,kn->mn" %a, %b : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %1 = autopar.transpose %0 perm = [1, 0] : tensor<3x5xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<5x3xf32>
}

// CHECK-LABEL: func @powers
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[S:.*]] = autopar.binary mul %[[X]], %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[Q:.*]] = autopar.binary mul %[[X]], %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[C:.*]] = autopar.binary mul %[[Q]], %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[R:.*]] = autopar.unary sqrt %[[X]]
// CHECK-NEXT: %[[I:.*]] = autopar.unary reciprocal %[[X]]
// CHECK-NEXT: return %[[S]], %[[C]], %[[R]], %[[I]], %[[X]]
func.func @powers(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %two = autopar.constant dense<2.0> : tensor<3xf32>
  %three = autopar.constant dense<3.0> : tensor<3xf32>
  %half = autopar.constant dense<0.5> : tensor<3xf32>
  %minus = autopar.constant dense<-1.0> : tensor<3xf32>
  %one = autopar.constant dense<1.0> : tensor<3xf32>
  %0 = autopar.binary pow %x, %two : tensor<3xf32>
  %1 = autopar.binary pow %x, %three : tensor<3xf32>
  %2 = autopar.binary pow %x, %half : tensor<3xf32>
  %3 = autopar.binary pow %x, %minus : tensor<3xf32>
  %4 = autopar.binary pow %x, %one : tensor<3xf32>
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// A transpose stays where without it the contraction would be no GEMM: images between channels and points.
// CHECK-LABEL: func @keeps_gemm
// CHECK: %[[A:.*]] = autopar.transpose %{{.*}} perm = [1, 0, 2]
// CHECK: %[[B:.*]] = autopar.transpose %{{.*}} perm = [1, 0, 2]
// CHECK: autopar.einsum "{{.*}}" %[[A]], %[[B]] : (tensor<4x2x9xf32>, tensor<3x2x9xf32>) -> tensor<4x3xf32>
func.func @keeps_gemm(%a: tensor<2x4x9xf32>, %b: tensor<2x3x9xf32>) -> tensor<4x3xf32> {
  %at = autopar.transpose %a perm = [1, 0, 2] : tensor<2x4x9xf32> -> tensor<4x2x9xf32>
  %bt = autopar.transpose %b perm = [1, 0, 2] : tensor<2x3x9xf32> -> tensor<3x2x9xf32>
  %0 = autopar.einsum "opx,ipx->oi" %at, %bt : (tensor<4x2x9xf32>, tensor<3x2x9xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// What is contracted in two orders is a GEMM of a transpose, of the smaller tensor here; small contractions are loops.
// CHECK-LABEL: func @transposes_for_gemm
// CHECK: %[[T:.*]] = autopar.transpose %arg1 perm = [0, 2, 1, 3] : tensor<2x32x8x16xf32> -> tensor<2x8x32x16xf32>
// CHECK: autopar.einsum "bijk,bjkl->bil" %arg0, %[[T]] : (tensor<2x64x8x32xf32>, tensor<2x8x32x16xf32>) -> tensor<2x64x16xf32>
// CHECK-NEXT: return
func.func @transposes_for_gemm(%a: tensor<2x64x8x32xf32>, %b: tensor<2x32x8x16xf32>) -> tensor<2x64x16xf32> {
  %0 = autopar.einsum "bijk,bkjl->bil" %a, %b : (tensor<2x64x8x32xf32>, tensor<2x32x8x16xf32>) -> tensor<2x64x16xf32>
  return %0 : tensor<2x64x16xf32>
}
// CHECK-LABEL: func @keeps_small
// CHECK-NEXT: autopar.einsum "ijk,kjl->il"
func.func @keeps_small(%a: tensor<4x8x4xf32>, %b: tensor<4x8x4xf32>) -> tensor<4x4xf32> {
  %0 = autopar.einsum "ijk,kjl->il" %a, %b : (tensor<4x8x4xf32>, tensor<4x8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A transpose behind a bias is one of the contraction's result.
// CHECK-LABEL: func @transpose_after_bias
// CHECK-SAME: (%[[X:.*]]: tensor<3x2x4xf32>, %[[W:.*]]: tensor<4x5xf32>, %[[B:.*]]: tensor<5xf32>)
// CHECK-NEXT: %[[E:.*]] = autopar.einsum "tbk,kn->btn" %[[X]], %[[W]]
// CHECK-NEXT: %[[C:.*]] = autopar.broadcast %[[B]] dims = [2] : tensor<5xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[A:.*]] = autopar.binary add %[[E]], %[[C]] : tensor<2x3x5xf32>
// CHECK-NEXT: %[[R:.*]] = autopar.unary relu %[[A]] {autopar.names = ["y"]} : tensor<2x3x5xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT: return %[[R]]
func.func @transpose_after_bias(%x: tensor<3x2x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = autopar.einsum "tbk,kn->tbn" %x, %w : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  %1 = autopar.broadcast %b dims = [2] : tensor<5xf32> -> tensor<3x2x5xf32>
  %2 = autopar.binary add %0, %1 : tensor<3x2x5xf32>
  %3 = autopar.unary relu %2 : tensor<3x2x5xf32> -> tensor<3x2x5xf32>
  %4 = autopar.transpose %3 perm = [1, 0, 2] {autopar.names = ["y"]} : tensor<3x2x5xf32> -> tensor<2x3x5xf32>
  return %4 : tensor<2x3x5xf32>
}
// What is added comes from elsewhere in the other order: the transpose stays.
// CHECK-LABEL: func @transpose_after_sum
// CHECK: autopar.transpose
func.func @transpose_after_sum(%x: tensor<3x2x4xf32>, %w: tensor<4x5xf32>, %y: tensor<3x2x5xf32>) -> tensor<2x3x5xf32> {
  %0 = autopar.einsum "tbk,kn->tbn" %x, %w : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  %1 = autopar.binary add %0, %y : tensor<3x2x5xf32>
  %2 = autopar.transpose %1 perm = [1, 0, 2] : tensor<3x2x5xf32> -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}
// Users of the sum before it is transposed would need a second contraction.
// CHECK-LABEL: func @transpose_after_shared_bias
// CHECK: autopar.transpose
func.func @transpose_after_shared_bias(%x: tensor<3x2x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> (tensor<2x3x5xf32>, tensor<3x2x5xf32>) {
  %0 = autopar.einsum "tbk,kn->tbn" %x, %w : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  %1 = autopar.broadcast %b dims = [2] : tensor<5xf32> -> tensor<3x2x5xf32>
  %2 = autopar.binary add %0, %1 : tensor<3x2x5xf32>
  %3 = autopar.transpose %2 perm = [1, 0, 2] : tensor<3x2x5xf32> -> tensor<2x3x5xf32>
  return %3, %2 : tensor<2x3x5xf32>, tensor<3x2x5xf32>
}

// Queries and keys are scaled once.
// CHECK-LABEL: func @scales_of_both
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3x4xf32>, %[[K:.*]]: tensor<2x5x4xf32>)
// CHECK-NEXT: %[[C:.*]] = autopar.constant dense<1.250000e-01> : tensor<2x3x4xf32>
// CHECK-NEXT: %[[S:.*]] = autopar.binary mul %[[Q]], %[[C]] : tensor<2x3x4xf32>
// CHECK-NEXT: autopar.einsum "bmk,bnk->bmn" %[[S]], %[[K]]
func.func @scales_of_both(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %s = autopar.constant dense<0.5> : tensor<2x3x4xf32>
  %t = autopar.constant dense<0.25> : tensor<2x5x4xf32>
  %0 = autopar.binary mul %q, %s : tensor<2x3x4xf32>
  %1 = autopar.binary mul %k, %t : tensor<2x5x4xf32>
  %2 = autopar.einsum "bmk,bnk->bmn" %0, %1 : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}
// Scales that the model computes are multiplied first.
// CHECK-LABEL: func @computed_scales
// CHECK: %[[B:.*]] = autopar.binary mul %{{.*}}, %{{.*}} : tensor<f32>
// CHECK: autopar.broadcast %[[B]] dims = [] : tensor<f32> -> tensor<2x3x4xf32>
// CHECK: autopar.einsum "bmk,bnk->bmn" %{{.*}}, %arg1
func.func @computed_scales(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %s: tensor<1xf32>) -> tensor<2x3x5xf32> {
  %r = autopar.reshape %s : tensor<1xf32> -> tensor<f32>
  %a = autopar.broadcast %r dims = [] : tensor<f32> -> tensor<2x3x4xf32>
  %b = autopar.broadcast %r dims = [] : tensor<f32> -> tensor<2x5x4xf32>
  %0 = autopar.binary mul %q, %a : tensor<2x3x4xf32>
  %1 = autopar.binary mul %k, %b : tensor<2x5x4xf32>
  %2 = autopar.einsum "bmk,bnk->bmn" %0, %1 : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}
// Their product would be infinite, or nothing.
// CHECK-LABEL: func @scales_out_of_range
// CHECK-COUNT-2: autopar.binary mul
// CHECK: autopar.einsum
// CHECK-COUNT-2: autopar.binary mul
// CHECK: autopar.einsum
func.func @scales_out_of_range(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
  %s = autopar.constant dense<1.0e30> : tensor<2x3x4xf32>
  %t = autopar.constant dense<1.0e30> : tensor<2x5x4xf32>
  %u = autopar.constant dense<1.0e-30> : tensor<2x3x4xf32>
  %v = autopar.constant dense<1.0e-30> : tensor<2x5x4xf32>
  %0 = autopar.binary mul %q, %s : tensor<2x3x4xf32>
  %1 = autopar.binary mul %k, %t : tensor<2x5x4xf32>
  %2 = autopar.einsum "bmk,bnk->bmn" %0, %1 : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %3 = autopar.binary mul %q, %u : tensor<2x3x4xf32>
  %4 = autopar.binary mul %k, %v : tensor<2x5x4xf32>
  %5 = autopar.einsum "bmk,bnk->bmn" %3, %4 : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %2, %5 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
}
