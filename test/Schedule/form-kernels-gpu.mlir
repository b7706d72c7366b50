// RUN: autopar-opt %s --autopar-form-kernels --split-input-file | FileCheck %s -enable-var-scope

// A GPU's GEMM takes a bias and an activation that its library has.
module attributes {autopar.target = "cuda"} {
// CHECK-LABEL: func.func @bias_and_relu
// CHECK: autopar.kernel {{.*}} library <gemm, {{[^>]*}}>
// CHECK: autopar.unary relu
// CHECK-NOT: autopar.kernel
func.func @bias_and_relu(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = autopar.broadcast %b dims = [1] : tensor<16xf32> -> tensor<4x16xf32>
  %2 = autopar.binary add %0, %1 : tensor<4x16xf32>
  %3 = autopar.unary relu %2 : tensor<4x16xf32> -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}
}

// -----

// The error-function form of GELU it has not.
module attributes {autopar.target = "emulated"} {
// CHECK-LABEL: func.func @gelu_erf
// CHECK: autopar.kernel {{.*}} library <gemm, {{[^>]*}}>
// CHECK: autopar.kernel
// CHECK: autopar.unary gelu_erf
func.func @gelu_erf(%x: tensor<4x8xbf16>, %w: tensor<8x16xbf16>) -> tensor<4x16xbf16> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xbf16>
  %1 = autopar.unary gelu_erf %0 : tensor<4x16xbf16> -> tensor<4x16xbf16>
  return %1 : tensor<4x16xbf16>
}
}

// -----

// An addend after the activation is a kernel of its own, without one it is taken.
module attributes {autopar.target = "cuda"} {
// CHECK-LABEL: func.func @addend
// CHECK: autopar.kernel {{.*}} library <gemm, {{[^>]*}}>
// CHECK: autopar.unary relu
// CHECK: autopar.kernel {{.*}} attributes
// CHECK: autopar.binary add
// CHECK: autopar.kernel {{.*}} library <gemm, {{[^>]*}}>
// CHECK: autopar.binary add
// CHECK-NOT: autopar.kernel
func.func @addend(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  %1 = autopar.unary relu %0 : tensor<8x8xf16> -> tensor<8x8xf16>
  %2 = autopar.binary add %1, %x : tensor<8x8xf16>
  %3 = autopar.einsum "mk,kn->mn" %2, %w : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  %4 = autopar.binary add %3, %x : tensor<8x8xf16>
  return %4 : tensor<8x8xf16>
}
}

// -----

// GEMMs of other types are loops; convolutions of f16 are calls.
module attributes {autopar.target = "cuda"} {
// CHECK-LABEL: func.func @types
// CHECK: autopar.kernel {{.*}} attributes
// CHECK: autopar.einsum
// CHECK: autopar.kernel {{.*}} library <convolution, {{[^>]*}}>
func.func @types(%x: tensor<4x8xi64>, %w: tensor<8x16xi64>, %i: tensor<1x4x8x8xf16>, %f: tensor<4x4x3x3xf16>) -> (tensor<4x16xi64>, tensor<1x4x6x6xf16>) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<4x8xi64>, tensor<8x16xi64>) -> tensor<4x16xi64>
  %1 = autopar.convolution %i, %f strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1 : (tensor<1x4x8x8xf16>, tensor<4x4x3x3xf16>) -> tensor<1x4x6x6xf16>
  return %0, %1 : tensor<4x16xi64>, tensor<1x4x6x6xf16>
}
}
