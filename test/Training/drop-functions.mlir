// RUN: autopar-opt %s --autopar-drop-functions | FileCheck %s

// A function is its value; the name of its result is that of the op that computes it, unless that has one.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>)
// CHECK: %[[V:.*]] = autopar.unary exp %[[X]] {autopar.names = ["y"]}
// CHECK: %[[W:.*]] = autopar.unary exp %[[V]] {autopar.names = ["own"]}
// CHECK-NOT: autopar.function
// CHECK: return %[[V]], %[[W]], %[[X]]
func.func @step(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %v = autopar.unary exp %x : tensor<2xf32> -> tensor<2xf32>
  %y = autopar.function %v of (%x) derivative = "softplus" {autopar.names = ["y"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %w = autopar.unary exp %y {autopar.names = ["own"]} : tensor<2xf32> -> tensor<2xf32>
  %z = autopar.function %w of (%y) {autopar.names = ["z"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %same = autopar.function %x of() : (tensor<2xf32>) -> tensor<2xf32>
  return %y, %z, %same : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
