// Library calls and what they take along.
// RUN: autopar-opt %s --autopar-form-kernels --split-input-file | FileCheck %s

// The bias comes through reshapes, the residual is added last and may be overwritten.
// CHECK-LABEL: func.func @epilogue_through_reshape
// CHECK: autopar.kernel ins({{.*}}) library <gemm, {{[^>]*}}> attributes {autopar.in_place = array<i64: 3>, autopar.op = "einsum"}
// CHECK: autopar.einsum
// CHECK: autopar.binary add
// CHECK: autopar.reshape
// CHECK: autopar.binary add
// CHECK-NOT: autopar.kernel
func.func @epilogue_through_reshape(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>, %r: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = autopar.broadcast %b dims = [1] : tensor<8xf32> -> tensor<6x8xf32>
  %2 = autopar.binary add %0, %1 : tensor<6x8xf32>
  %3 = autopar.reshape %2 : tensor<6x8xf32> -> tensor<2x3x8xf32>
  %4 = autopar.binary add %3, %r : tensor<2x3x8xf32>
  return %4 : tensor<2x3x8xf32>
}

// -----

// An activation after the residual is not what the library computes.
// CHECK-LABEL: func.func @wrong_order
// CHECK: %[[L:.*]] = autopar.kernel {{.*}}library <gemm, {{[^>]*}}>
// CHECK: autopar.kernel ins(%[[L]])
// CHECK: autopar.unary relu
func.func @wrong_order(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %r: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = autopar.binary add %0, %r : tensor<6x8xf32>
  %2 = autopar.unary relu %1 : tensor<6x8xf32> -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}

// -----

// For a convolution it is.
// CHECK-LABEL: func.func @convolution_with_residual
// CHECK: autopar.kernel ins(%arg0, %arg1, %arg2, %arg3) library <convolution, {{[^>]*}}> attributes {autopar.in_place = array<i64: 3>
// CHECK-NOT: autopar.kernel
func.func @convolution_with_residual(%x: tensor<1x3x4x4xf32>, %w: tensor<8x3x1x1xf32>, %b: tensor<8xf32>, %r: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1 : (tensor<1x3x4x4xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = autopar.broadcast %b dims = [1] : tensor<8xf32> -> tensor<1x8x4x4xf32>
  %2 = autopar.binary add %0, %1 : tensor<1x8x4x4xf32>
  %3 = autopar.binary add %r, %2 : tensor<1x8x4x4xf32>
  %4 = autopar.unary relu %3 : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32>
  return %4 : tensor<1x8x4x4xf32>
}

// -----

// The matrix multiplication is needed by itself too: nothing joins it.
// CHECK-LABEL: func.func @two_users
// CHECK: %[[L:.*]] = autopar.kernel {{.*}}library <gemm, {{[^>]*}}>
// CHECK: autopar.kernel ins(%[[L]])
func.func @two_users(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = autopar.unary relu %0 : tensor<6x8xf32> -> tensor<6x8xf32>
  return %0, %1 : tensor<6x8xf32>, tensor<6x8xf32>
}

// -----

// GEMMs of integers are calls; contractions over dimensions apart are loops.
// CHECK-LABEL: func.func @integers_and_dimensions_apart
// CHECK: autopar.kernel {{.*}}library <gemm, {{[^>]*}}> {{.*}}xi64>
// CHECK: autopar.kernel
// CHECK-NOT: library
// CHECK: return
func.func @integers_and_dimensions_apart(%x: tensor<6x4xi64>, %w: tensor<4x8xi64>, %y: tensor<2x3x4xf32>, %z: tensor<2x4x5xf32>) -> (tensor<6x8xi64>, tensor<3x5xf32>) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<6x4xi64>, tensor<4x8xi64>) -> tensor<6x8xi64>
  %1 = autopar.einsum "amb,abn->mn" %y, %z : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<3x5xf32>
  return %0, %1 : tensor<6x8xi64>, tensor<3x5xf32>
}

// -----

// Two sums of one level: the first operand's library call takes the other's result.
// CHECK-LABEL: func.func @sum_of_einsums
// CHECK: %[[B:.*]] = autopar.kernel ins(%arg2, %arg1) library <gemm, {{[^>]*}}>
// CHECK: autopar.kernel ins(%arg0, %arg1, %[[B]]) library <gemm, {{[^>]*}}>
// CHECK-NOT: autopar.kernel
func.func @sum_of_einsums(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %y: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = autopar.einsum "mk,kn->mn" %y, %w : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %2 = autopar.binary add %0, %1 : tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}

// -----

// A library reads memory: its operand's pad and spread are written first.
// CHECK-LABEL: func.func @operands_in_memory
// CHECK: autopar.kernel ins(%arg0)
// CHECK: autopar.pad
// CHECK: autopar.kernel ins(%arg1)
// CHECK: autopar.broadcast
// CHECK: autopar.kernel {{.*}}library <gemm, {{[^>]*}}>
func.func @operands_in_memory(%x: tensor<6x3xf32>, %v: tensor<4xf32>) -> tensor<6x8xf32> {
  %0 = autopar.pad %x low = [0, 0] high = [0, 1] value = 0.0 : tensor<6x3xf32> -> tensor<6x4xf32>
  %1 = autopar.broadcast %v dims = [0] : tensor<4xf32> -> tensor<4x8xf32>
  %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}

// -----

// x * sigmoid(x) is an activation.
// CHECK-LABEL: func.func @silu
// CHECK: autopar.kernel {{.*}}library <gemm, {{[^>]*}}>
// CHECK: autopar.einsum
// CHECK-NEXT: autopar.unary sigmoid
// CHECK-NEXT: autopar.binary mul
// CHECK-NOT: autopar.kernel
func.func @silu(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>) -> tensor<6x8xf32> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = autopar.unary sigmoid %0 : tensor<6x8xf32> -> tensor<6x8xf32>
  %2 = autopar.binary mul %0, %1 : tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}

// -----

// What is a call does not depend on sizes: a device's block of one pixel is one too.
// CHECK-LABEL: func.func @one_pixel
// CHECK: autopar.kernel ins(%arg0, %arg1) library <convolution, {{[^>]*}}>
module attributes {autopar.target = "cuda"} {
func.func @one_pixel(%x: tensor<1x3x1x1xf32>, %w: tensor<8x3x1x1xf32>) -> tensor<1x8x3x3xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<1x3x1x1xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x3x3xf32>
  return %0 : tensor<1x8x3x3xf32>
}
}
