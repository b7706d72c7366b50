// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-add-optimizer

module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, at_run_time = ["lr", "dampening"]}>} {
  // expected-error @+1 {{recipe: at_run_time: the step does not depend on 'dampening'; leave it out}}
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %x : tensor<3xf32>
  }
}

// -----
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "adamw", weight_decay_parameters = []}, at_run_time = ["weight_decay"]}>} {
  // expected-error @+1 {{recipe: at_run_time: the step does not depend on 'weight_decay'; leave it out}}
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %x : tensor<3xf32>
  }
}
