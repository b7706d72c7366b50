// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-differentiate

// expected-error @+1 {{recipe autopar.recipe: 'loss' is missing}}
module attributes {autopar.recipe = {optimizer = {kind = "sgd"}}} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// -----
// expected-error @+1 {{autopar.recipe: there is no @step to train}}
module attributes {autopar.recipe = {loss = "mse_mean", optimizer = {kind = "sgd"}}} {
}

// -----
module attributes {autopar.recipe = {loss = "mse_mean", optimizer = {kind = "sgd"}}} {
  // expected-error @+1 {{has no output 'loss'; run autopar-add-loss first}}
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<3xf32>
  }
}

// -----
module attributes {autopar.recipe = {loss = "mse_mean", optimizer = {kind = "sgd"}}} {
  // expected-error @+1 {{recipe: the model has no parameter to train}}
  func.func @step(%x: tensor<f32> {autopar.source = #autopar.input<"x">}) -> (tensor<f32> {autopar.result = #autopar.output<"loss">}) {
    return %x : tensor<f32>
  }
}

// -----
// An op that has no derivative is named; one that only other values depend on does not matter.
module attributes {autopar.recipe = {loss = "mse_mean", optimizer = {kind = "sgd"}}} {
  func.func @step(%x: tensor<2x3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<2x3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 24>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss">}) {
    %a = autopar.scan max %x dim = 1 : tensor<2x3xf32>
    %b = autopar.binary mul %a, %w : tensor<2x3xf32>
    // expected-error @+1 {{has a derivative for sums only}}
    %c = autopar.scan max %b dim = 1 : tensor<2x3xf32>
    %loss = autopar.reduce sum %c dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
