// RUN: autopar-opt %s --autopar-add-optimizer --canonicalize --cse | FileCheck %s

// The average begins as the parameter; after the first step it is the parameter's next value, then it follows by a tenth.
// CHECK: func.func @step(%{{.*}}, %[[W:[^:]*]]: tensor<3xf32> {autopar.source = #autopar.state<"w", #autopar.parameter<"w", "m", offset = 0, length = 12>>},
// CHECK-SAME: %[[A:[^:]*]]: tensor<3xf32> {autopar.source = #autopar.state<"w", #autopar.parameter<"w", "m", offset = 0, length = 12>, role = average>}
// CHECK-DAG: %[[PART:.*]] = autopar.constant dense<1.000000e-01> : tensor<3xf32>
// CHECK-DAG: %[[NEXT:.*]] = autopar.binary sub %[[W]], %{{.*}} : tensor<3xf32>
// CHECK-DAG: %[[REST:.*]] = autopar.binary sub %[[NEXT]], %[[A]] : tensor<3xf32>
// CHECK-DAG: %[[STEP:.*]] = autopar.binary mul %[[REST]], %[[PART]] : tensor<3xf32>
// CHECK-DAG: %[[LATER:.*]] = autopar.binary add %[[A]], %[[STEP]] : tensor<3xf32>
// CHECK-DAG: %[[FIRST:.*]] = autopar.compare eq %{{.*}} : tensor<f64> -> tensor<i1>
// CHECK-DAG: %[[ALL:.*]] = autopar.broadcast %[[FIRST]] dims = [] : tensor<i1> -> tensor<3xi1>
// CHECK-DAG: autopar.select %[[ALL]], %[[NEXT]], %[[LATER]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, average = 0.9}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %x : tensor<3xf32>
  }
}
