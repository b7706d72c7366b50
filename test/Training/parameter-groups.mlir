// RUN: autopar-opt %s --split-input-file --autopar-differentiate --autopar-add-optimizer --canonicalize --cse | FileCheck %s

// A frozen parameter has no gradient and stays a parameter; of the others one group has a learning rate and momentum of its own.
// CHECK: func.func @step(
// CHECK-SAME: {autopar.source = #autopar.parameter<"encoder.weight"
// CHECK-SAME: {autopar.source = #autopar.state<"head.weight", #autopar.parameter<"head.weight"
// CHECK-SAME: {autopar.source = #autopar.state<"head.bias", #autopar.parameter<"head.bias"
// CHECK-NOT: head.weight/
// CHECK-SAME: {autopar.source = #autopar.state<"head.bias/momentum_buffer", 0.000000e+00 : f64, role = optimizer>}
// CHECK-SAME: -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}, tensor<3xf32> {autopar.result = #autopar.gradient<"head.weight">}, tensor<3xf32> {autopar.result = #autopar.gradient<"head.bias">},
// CHECK-DAG: autopar.constant dense<5.000000e-02> : tensor<f64>
// CHECK-DAG: autopar.constant dense<5.000000e-03> : tensor<3xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd", lr = 0.05}, groups = [
    {parameters = ["encoder.*"], frozen = true}, {parameters = ["*", "!*.weight"], lr_scale = 0.1, momentum = 0.9}]}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %e: tensor<3xf32> {autopar.source = #autopar.parameter<"encoder.weight", "m", offset = 0, length = 12>},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"head.weight", "m", offset = 12, length = 12>},
      %b: tensor<3xf32> {autopar.source = #autopar.parameter<"head.bias", "m", offset = 24, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %0 = autopar.binary mul %x, %e : tensor<3xf32>
    %1 = autopar.binary mul %0, %w : tensor<3xf32>
    %2 = autopar.binary add %1, %b : tensor<3xf32>
    %loss = autopar.reduce sum %2 dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
