// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-differentiate --autopar-accumulate-gradients --autopar-add-optimizer

// expected-error @+1 {{recipe #training.recipe: 'loss' is missing}}
module attributes {autopar.recipe = #training.recipe<{optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// -----
// expected-error @+1 {{autopar.recipe must be #training.recipe}}
module attributes {autopar.recipe = {loss = "mse_mean", optimizer = {kind = "sgd"}}} {
}

// -----
// expected-error @+1 {{autopar.recipe: there is no @step to train}}
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
}

// -----
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  // expected-error @+1 {{has no output 'loss'; run autopar-add-loss first}}
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<3xf32>
  }
}

// -----
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  // expected-error @+1 {{recipe: no parameter is trained: no initializer of floats of rank 1 or above meets an input; name tensors in 'trainable'}}
  func.func @step(%x: tensor<f32> {autopar.source = #autopar.input<"x">}) -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    return %x : tensor<f32>
  }
}

// -----
// An op that has no derivative is named; one that only other values depend on does not matter.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<2x3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<2x3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 24>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %a = autopar.scan max %x dim = 1 : tensor<2x3xf32>
    %b = autopar.binary mul %a, %w : tensor<2x3xf32>
    // expected-error @+1 {{has a derivative for sums only}}
    %c = autopar.scan max %b dim = 1 : tensor<2x3xf32>
    %loss = autopar.reduce sum %c dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, accumulation = 2 : i64}>} {
  // expected-error @+1 {{recipe: accumulation: the output 'y' has no value for all blocks}}
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}, tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
    %y = autopar.binary mul %x, %w : tensor<3xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss, %y : tensor<f32>, tensor<3xf32>
  }
}

// -----
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, loss_scale = 8.0}>} {
  // expected-error @+1 {{recipe: loss_scale: the gradient of 'w' would not fit into f16 without the scale}}
  func.func @step(%x: tensor<3xf16> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf16> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 6>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.binary mul %x, %w : tensor<3xf16>
    %wide = autopar.convert %y : tensor<3xf16> -> tensor<3xf32>
    %loss = autopar.reduce sum %wide dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// The table of derivatives has no such row.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["w"]}>} {
  func.func @step(%w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    // expected-error @+1 {{has the unknown derivative 'softplsu'; nearest: 'softplus'}}
    %y = autopar.function %w of (%w) derivative = "softplsu" : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// A row is by its inputs.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["w"]}>} {
  func.func @step(%w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    // expected-error @+1 {{has 2 inputs; the derivative 'softplus' is by 1}}
    %y = autopar.function %w of (%w, %w) derivative = "softplus" : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
