// RUN: autopar-opt %s --split-input-file --autopar-check-numerics --canonicalize --cse | FileCheck %s

// Codes: 2 of a NaN, 1 of an infinity. What is moved has the code of what it is moved from; an op is the first whose code is above those
// of its operands, an input or a parameter if it has a NaN.
// CHECK: autopar.checks = [#autopar.check<output = "numerics/first", message = "the first number that is not finite:", places = [
// CHECK-SAME: "Inf in input 'x', which node 'log' reads", "NaN in input 'x', which node 'log' reads",
// CHECK-SAME: "Inf in parameter 'w', which node 'mul' reads", "NaN in parameter 'w', which node 'mul' reads",
// CHECK-SAME: "Inf in node 'log' (unary)", "NaN in node 'log' (unary)",
// CHECK-SAME: "Inf in tensor 'product' of node 'mul' (binary)", "NaN in tensor 'product' of node 'mul' (binary)"]>]
// CHECK: func.func @step(%[[X:.*]]: tensor<2x3xf32> {{.*}}, %[[W:.*]]: tensor<2x3xf32> {{.*}}) -> (tensor<3x2xf32> {{.*}}, tensor<i32> {autopar.result = #autopar.output<"numerics/first", role = check>})
// CHECK: %[[LOG:.*]] = autopar.unary log %[[X]]
// CHECK: %[[MUL:.*]] = autopar.binary mul %[[LOG]], %[[W]]
// CHECK: %[[MOVED:.*]] = autopar.transpose %[[MUL]]
// CHECK: %[[NAN:.*]] = autopar.unary is_nan %[[X]] : tensor<2x3xf32> -> tensor<2x3xi1>
// CHECK: %[[INF:.*]] = autopar.unary is_inf %[[X]] : tensor<2x3xf32> -> tensor<2x3xi1>
// CHECK: autopar.select %[[INF]]
// CHECK: autopar.select %[[NAN]]
// CHECK: autopar.reduce max %{{.*}} dims = [0, 1] : tensor<2x3xi32> -> tensor<i32>
// CHECK: autopar.unary is_nan %[[W]]
// CHECK: autopar.unary is_nan %[[LOG]]
// CHECK: autopar.unary is_nan %[[MUL]]
// CHECK-NOT: autopar.unary is_nan
// CHECK: autopar.concat
// CHECK: autopar.compare gt %{{.*}} : tensor<4xi32> -> tensor<4xi1>
// CHECK: %[[FIRST:.*]] = autopar.reduce min %{{.*}} dims = [0] : tensor<4xi32> -> tensor<i32>
// CHECK: %[[NUMBER:.*]] = autopar.select %{{.*}}, %{{.*}}, %[[FIRST]]
// CHECK: return %[[MOVED]], %[[NUMBER]]
module attributes {autopar.check_numerics} {
  func.func @step(%x: tensor<2x3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<2x3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 24>})
      -> (tensor<3x2xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.unary log %x : tensor<2x3xf32> -> tensor<2x3xf32> loc("log")
    %1 = autopar.binary mul %0, %w {autopar.names = ["product"]} : tensor<2x3xf32> loc("mul")
    %2 = autopar.transpose %1 perm = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
    return %2 : tensor<3x2xf32>
  }
}

// -----

// Gradients may overflow where a scaled loss skips such steps: only the loss counts.
// CHECK: places = ["Inf in state 'w', which node 'loss' reads", "NaN in state 'w', which node 'loss' reads", "Inf in node 'loss' (unary)", "NaN in node 'loss' (unary)"]
module attributes {autopar.check_numerics, autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, loss_scale = "dynamic"}>} {
  func.func @step(%w: tensor<f32> {autopar.source = #autopar.state<"w", 1.0 : f32>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}, tensor<f32> {autopar.result = #autopar.next_state<"w">}) {
    %0 = autopar.unary log %w : tensor<f32> -> tensor<f32> loc("loss")
    %1 = autopar.unary exp %w : tensor<f32> -> tensor<f32> loc("gradient")
    return %0, %1 : tensor<f32>, tensor<f32>
  }
}

// -----

// Nobody asks for it.
// CHECK-NOT: autopar.checks
// CHECK: return
module {
  func.func @step(%x: tensor<2xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<2xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.unary log %x : tensor<2xf32> -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
