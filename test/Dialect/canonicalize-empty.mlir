// RUN: autopar-opt %s --canonicalize | FileCheck %s

// What has no elements is a constant.
// CHECK-LABEL: func @no_elements
// CHECK-SAME: (%[[X:.*]]: tensor<0x4xf32>, %[[W:.*]]: tensor<4x5xf32>)
func.func @no_elements(%x: tensor<0x4xf32>, %w: tensor<4x5xf32>) -> (tensor<0x5xf32>, tensor<0xi64>) {
  // CHECK-DAG: %[[Y:.*]] = autopar.constant {autopar.names = ["y"]} dense<{{.*}}> : tensor<0x5xf32>
  // CHECK-DAG: %[[I:.*]] = autopar.constant dense<{{.*}}> : tensor<0xi64>
  // CHECK-NOT: autopar.
  // CHECK: return %[[Y]], %[[I]]
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<0x4xf32>, tensor<4x5xf32>) -> tensor<0x5xf32>
  %1 = autopar.softmax %0 dim = 1 {autopar.names = ["y"]} : tensor<0x5xf32>
  %2 = autopar.reshape %x : tensor<0x4xf32> -> tensor<0xf32>
  %3 = autopar.convert %2 : tensor<0xf32> -> tensor<0xi64>
  return %1, %3 : tensor<0x5xf32>, tensor<0xi64>
}

// What is computed from nothing is a fill.
// CHECK-LABEL: func @from_nothing
// CHECK-SAME: (%[[A:.*]]: tensor<3x0xf32>,
func.func @from_nothing(%a: tensor<3x0xf32>, %b: tensor<0x5xf32>, %n: tensor<0x2xi8>, %i: tensor<0xi64>, %x: tensor<2x0x4x4xf32>, %w: tensor<6x0x3x3xf32>)
    -> (tensor<3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xi8>, tensor<2x5xf32>, tensor<4x5xf32>, tensor<2x6x2x2xf32>) {
  // CHECK-DAG: autopar.constant {autopar.names = ["product"]} dense<0.000000e+00> : tensor<3x5xf32>
  // CHECK-DAG: autopar.constant dense<0.000000e+00> : tensor<3xf32>
  // CHECK-DAG: autopar.constant dense<1.000000e+00> : tensor<3xf32>
  // CHECK-DAG: autopar.constant dense<0xFF800000> : tensor<3xf32>
  // CHECK-DAG: autopar.constant dense<127> : tensor<2xi8>
  // CHECK-DAG: autopar.constant dense<7.000000e+00> : tensor<2x5xf32>
  // CHECK-DAG: autopar.constant dense<0.000000e+00> : tensor<4x5xf32>
  // CHECK-DAG: autopar.constant dense<0.000000e+00> : tensor<2x6x2x2xf32>
  // CHECK: return
  %0 = autopar.einsum "mk,kn->mn" %a, %b {autopar.names = ["product"]} : (tensor<3x0xf32>, tensor<0x5xf32>) -> tensor<3x5xf32>
  %1 = autopar.reduce sum %a dims = [1] : tensor<3x0xf32> -> tensor<3xf32>
  %2 = autopar.reduce prod %a dims = [1] : tensor<3x0xf32> -> tensor<3xf32>
  %3 = autopar.reduce max %a dims = [1] : tensor<3x0xf32> -> tensor<3xf32>
  %4 = autopar.reduce min %n dims = [0] : tensor<0x2xi8> -> tensor<2xi8>
  %5 = autopar.pad %b low = [1, 0] high = [1, 0] value = 7.0 : tensor<0x5xf32> -> tensor<2x5xf32>
  %6 = autopar.scatter sum %b, %i dim = 0 : (tensor<0x5xf32>, tensor<0xi64>) -> tensor<4x5xf32>
  %7 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1 : (tensor<2x0x4x4xf32>, tensor<6x0x3x3xf32>) -> tensor<2x6x2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xi8>, tensor<2x5xf32>, tensor<4x5xf32>, tensor<2x6x2x2xf32>
}

// An empty operand of a concatenation goes, and with one left the concatenation.
// CHECK-LABEL: func @empty_cache
// CHECK-SAME: (%[[PAST:.*]]: tensor<0x4xf32>, %[[X:.*]]: tensor<3x4xf32>)
func.func @empty_cache(%past: tensor<0x4xf32>, %x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<6x4xf32>) {
  // CHECK: %[[TWICE:.*]] = autopar.concat %[[X]], %[[X]] dim = 0
  // CHECK: return %[[X]], %[[TWICE]]
  %0 = autopar.concat %past, %x dim = 0 : (tensor<0x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = autopar.concat %x, %past, %x dim = 0 : (tensor<3x4xf32>, tensor<0x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<6x4xf32>
}
