// RUN: autopar-opt %s --canonicalize | FileCheck %s

// A sum is negated, not what it adds up; not where something else reads that, nor for a maximum.
// CHECK-LABEL: func @sum_of_negated
// CHECK: %[[S:.*]] = autopar.reduce sum %arg0 dims = [1]
// CHECK: %[[N:.*]] = autopar.unary neg %[[S]] {autopar.names = ["s"]}
// CHECK: return %[[N]]
func.func @sum_of_negated(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %0 = autopar.unary neg %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = autopar.reduce sum %0 dims = [1] {autopar.names = ["s"]} : tensor<3x5xf32> -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: func @two_readers
// CHECK: %[[N:.*]] = autopar.unary neg %arg0
// CHECK: autopar.reduce sum %[[N]]
func.func @two_readers(%x: tensor<3x5xf32>) -> (tensor<3xf32>, tensor<3x5xf32>) {
  %0 = autopar.unary neg %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = autopar.reduce sum %0 dims = [1] : tensor<3x5xf32> -> tensor<3xf32>
  return %1, %0 : tensor<3xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func @maximum
// CHECK: %[[N:.*]] = autopar.unary neg %arg0
// CHECK: autopar.reduce max %[[N]]
func.func @maximum(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %0 = autopar.unary neg %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = autopar.reduce max %0 dims = [1] : tensor<3x5xf32> -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
