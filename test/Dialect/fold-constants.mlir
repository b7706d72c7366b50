// RUN: autopar-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func @floats
// CHECK-DAG: %[[A:.*]] = autopar.constant dense<5.000000e+00> : tensor<2x3xf32>
// CHECK-DAG: %[[B:.*]] = autopar.constant dense<-2.500000e-01> : tensor<2xf32>
// CHECK-DAG: %[[C:.*]] = autopar.constant dense<true> : tensor<2xi1>
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @floats() -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xi1>) {
  %two = autopar.constant dense<2.0> : tensor<f32>
  %three = autopar.constant dense<3.0> : tensor<f32>
  %0 = autopar.binary add %two, %three : tensor<f32>
  %1 = autopar.broadcast %0 dims = [] : tensor<f32> -> tensor<2x3xf32>
  %four = autopar.constant dense<4.0> : tensor<2xf32>
  %2 = autopar.unary reciprocal %four : tensor<2xf32> -> tensor<2xf32>
  %3 = autopar.unary neg %2 : tensor<2xf32> -> tensor<2xf32>
  %4 = autopar.compare lt %3, %2 : tensor<2xf32> -> tensor<2xi1>
  return %1, %3, %4 : tensor<2x3xf32>, tensor<2xf32>, tensor<2xi1>
}

// CHECK-LABEL: func @integers
// CHECK-DAG: %[[A:.*]] = autopar.constant dense<-6> : tensor<2xi64>
// CHECK-DAG: %[[B:.*]] = autopar.constant dense<-6.000000e+00> : tensor<2xf32>
// CHECK-DAG: %[[C:.*]] = autopar.constant dense<3> : tensor<2xi32>
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @integers() -> (tensor<2xi64>, tensor<2xf32>, tensor<2xi32>) {
  %two = autopar.constant dense<2> : tensor<2xi64>
  %minus = autopar.constant dense<-3> : tensor<2xi64>
  %0 = autopar.binary mul %two, %minus : tensor<2xi64>
  %1 = autopar.convert %0 : tensor<2xi64> -> tensor<2xf32>
  %x = autopar.constant dense<3.75> : tensor<2xf32>
  %2 = autopar.convert %x : tensor<2xf32> -> tensor<2xi32>
  return %0, %1, %2 : tensor<2xi64>, tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func @neutral
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %{{.*}}: tensor<2xi1>)
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @neutral(%x: tensor<2xf32>, %c: tensor<2xi1>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = autopar.constant dense<0.0> : tensor<2xf32>
  %one = autopar.constant dense<1.0> : tensor<2xf32>
  %yes = autopar.constant dense<true> : tensor<2xi1>
  %0 = autopar.binary add %zero, %x : tensor<2xf32>
  %1 = autopar.binary mul %0, %one : tensor<2xf32>
  %2 = autopar.binary div %1, %one : tensor<2xf32>
  %3 = autopar.binary sub %2, %zero : tensor<2xf32>
  %4 = autopar.select %yes, %3, %zero : tensor<2xi1>, tensor<2xf32>
  %5 = autopar.select %c, %4, %4 : tensor<2xi1>, tensor<2xf32>
  return %4, %5 : tensor<2xf32>, tensor<2xf32>
}

// Tables are reshaped but not computed with.
// CHECK-LABEL: func @tables
// CHECK: autopar.constant dense<{{\[}}[1, 2], [3, 4]{{\]}}> : tensor<2x2xi64>
// CHECK: autopar.transpose
func.func @tables() -> tensor<2x2xi64> {
  %0 = autopar.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %1 = autopar.reshape %0 : tensor<4xi64> -> tensor<2x2xi64>
  %2 = autopar.transpose %1 perm = [1, 0] : tensor<2x2xi64> -> tensor<2x2xi64>
  return %2 : tensor<2x2xi64>
}
