// RUN: autopar-opt %s --split-input-file | autopar-opt --split-input-file | FileCheck %s
// RUN: autopar-opt %s --split-input-file --canonicalize --cse | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func @functions
// CHECK: autopar.function %{{.*}} of(%{{.*}}) derivative = "softplus" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK: autopar.function %{{.*}} of(%{{.*}}) derivative = "elu" parameters = {alpha = 5.000000e-01 : f64} : (tensor<2xbf16>, tensor<2xf32>) -> tensor<2xbf16>
// CHECK: autopar.function %{{.*}} of() : (tensor<2xf32>) -> tensor<2xf32>
// FOLD-LABEL: func @functions
// FOLD: autopar.function %{{.*}} derivative = "softplus"
// FOLD: autopar.function %{{.*}} derivative = "elu"
func.func @functions(%x: tensor<2xf32>, %v: tensor<2xf32>, %low: tensor<2xbf16>) -> (tensor<2xf32>, tensor<2xbf16>, tensor<2xf32>) {
  %0 = autopar.function %v of (%x) derivative = "softplus" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = autopar.function %low of (%x) derivative = "elu" parameters = {alpha = 0.5 : f64} : (tensor<2xbf16>, tensor<2xf32>) -> tensor<2xbf16>
  %2 = autopar.function %v of() : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xbf16>, tensor<2xf32>
}

// -----

// A function of a constant is the constant; equal ones are one, those of other inputs are not.
// FOLD-LABEL: func @same
// FOLD-SAME: (%[[X:.*]]: tensor<2xf32>, %[[V:.*]]: tensor<2xf32>)
// FOLD: %[[C:.*]] = autopar.constant
// FOLD: %[[F:.*]] = autopar.function %[[V]] of(%[[X]])
// FOLD: %[[OTHER:.*]] = autopar.function %[[V]] of(%[[V]])
// FOLD-NOT: autopar.function
// FOLD: return %[[C]], %[[F]], %[[F]], %[[OTHER]]
func.func @same(%x: tensor<2xf32>, %v: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c = autopar.constant dense<1.0> : tensor<2xf32>
  %0 = autopar.function %c of (%x) derivative = "softplus" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = autopar.function %v of (%x) derivative = "softplus" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = autopar.function %v of (%x) derivative = "softplus" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = autopar.function %v of (%v) derivative = "softplus" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
