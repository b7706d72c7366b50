// RUN: autopar-opt %s --autopar-assign-tasks | FileCheck %s

// y = x w1 w2 + p, of which the loss is the sum. The gradient of p is that of y, from which the gradients of both weights follow: it leads to
// three. What the loss and a gradient both depend on is forward, as is an average of forward values. The learning rate depends on nothing.
// CHECK: func.func @step
// CHECK: %[[H:.*]] = autopar.einsum "mk,kn->mn" %{{.*}} {autopar.task = #autopar.task<forward>}
// CHECK: autopar.einsum {{.*}} {autopar.task = #autopar.task<forward>}
// CHECK: autopar.binary add {{.*}} {autopar.task = #autopar.task<forward>}
// CHECK: autopar.reduce sum {{.*}} {autopar.task = #autopar.task<forward>} {{.*}} -> tensor<f32>
// CHECK: %[[G:.*]] = autopar.constant {autopar.task = #autopar.task<input_gradient>}
// CHECK: autopar.einsum "mk,mn->kn" %[[H]], %[[G]] {autopar.task = #autopar.task<weight_gradient>}
// CHECK: %[[D:.*]] = autopar.einsum "mn,kn->mk" %[[G]], {{.*}} {autopar.task = #autopar.task<weight_gradient>}
// CHECK: autopar.einsum "mk,mn->kn" %{{.*}}, %[[D]] {autopar.task = #autopar.task<weight_gradient>}
// CHECK: autopar.reduce max %[[H]] {{.*}}autopar.task = #autopar.task<forward>
// CHECK: autopar.unary neg {{.*}} {autopar.task = #autopar.task<update>}
// CHECK: autopar.binary add {{.*}} {autopar.task = #autopar.task<update>} : tensor<4x4xf32>
// CHECK: autopar.binary add {{.*}} {autopar.task = #autopar.task<update>} : tensor<f32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<4x4xf32> {autopar.source = #autopar.input<"x">},
      %w1: tensor<4x4xf32> {autopar.source = #autopar.state<"w1", #autopar.parameter<"w1", "m", offset = 0, length = 64>>},
      %w2: tensor<4x4xf32> {autopar.source = #autopar.parameter<"w2", "m", offset = 64, length = 64>},
      %p: tensor<4x4xf32> {autopar.source = #autopar.parameter<"p", "m", offset = 128, length = 64>},
      %rate: tensor<f32> {autopar.source = #autopar.state<"rate", 1.0>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}, tensor<4x4xf32> {autopar.result = #autopar.gradient<"w1">},
          tensor<4x4xf32> {autopar.result = #autopar.gradient<"w2">}, tensor<4x4xf32> {autopar.result = #autopar.gradient<"p">},
          tensor<4xf32> {autopar.result = #autopar.output<"most">}, tensor<4x4xf32> {autopar.result = #autopar.next_state<"w1">},
          tensor<f32> {autopar.result = #autopar.next_state<"rate">}) {
    %h = autopar.einsum "mk,kn->mn" %x, %w1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %a = autopar.einsum "mk,kn->mn" %h, %w2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = autopar.binary add %a, %p : tensor<4x4xf32>
    %loss = autopar.reduce sum %y dims = [0, 1] : tensor<4x4xf32> -> tensor<f32>
    %g = autopar.constant dense<1.0> : tensor<4x4xf32>
    %g2 = autopar.einsum "mk,mn->kn" %h, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = autopar.einsum "mn,kn->mk" %g, %w2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %g1 = autopar.einsum "mk,mn->kn" %x, %d : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %most = autopar.reduce max %h dims = [0] : tensor<4x4xf32> -> tensor<4xf32>
    %n = autopar.unary neg %g1 : tensor<4x4xf32> -> tensor<4x4xf32>
    %v = autopar.binary add %w1, %n : tensor<4x4xf32>
    %next = autopar.binary add %rate, %rate : tensor<f32>
    return %loss, %g1, %g2, %g, %most, %v, %next : tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<f32>
  }
}
