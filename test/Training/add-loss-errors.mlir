// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-add-loss

// The output depends on the model's own input `labels`: the recipe must say whether the loss takes the same array.
// expected-error @+1 {{recipe: loss mse_mean: the labels' array is called 'labels', and so is an input of the model, which its output depends on; name another array in the recipe's 'labels', or 'labels' if the loss takes this one}}
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"labels">}) -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
    %y = autopar.unary exp %x : tensor<3xf32> -> tensor<3xf32>
    return %y : tensor<3xf32>
  }
}

// -----
// expected-error @+1 {{recipe: loss mse_mean: the labels' array is called 'h', and so is an input that --state makes a state; name another array in the recipe's 'labels'}}
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", labels = "h", optimizer = {kind = "sgd"}}>} {
  func.func @step(%h: tensor<3xf32> {autopar.source = #autopar.state<"h", 0 : i64>})
      -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}, tensor<3xf32> {autopar.result = #autopar.next_state<"h">}) {
    %y = autopar.unary exp %h : tensor<3xf32> -> tensor<3xf32>
    return %y, %y : tensor<3xf32>, tensor<3xf32>
  }
}

// -----
// expected-error @+1 {{recipe: loss mse_mean: the labels' array is called 'rate', and so is an input that --bind gave a value; name another array in the recipe's 'labels'}}
module attributes {autopar.fixed_inputs = [#autopar.fixed_input<name = "rate", text = "2", value = dense<2.0> : tensor<f32>>],
                   autopar.recipe = #training.recipe<{loss = "mse_mean", labels = "rate", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<3xf32>
  }
}

// -----
// expected-error @+1 {{the output is 'tensor<3xf32>' and the labels 'labels' are 'tensor<4xf32>'; it takes labels like the output; the recipe's 'labels' names the array}}
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", output = "y", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}, %l: tensor<4xf32> {autopar.source = #autopar.input<"labels">})
      -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}, tensor<4xf32> {autopar.result = #autopar.output<"z">}) {
    return %x, %l : tensor<3xf32>, tensor<4xf32>
  }
}
