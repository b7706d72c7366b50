// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-differentiate --autopar-add-optimizer

// A warm-up that never ends.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, steps = 12 : i64, schedule = {kind = "cosine", warmup_steps = 12 : i64}}>} {
  // expected-warning @+1 {{recipe: schedule: 'warmup_steps' are 12 and all 'steps' 12: the learning rate rises to the end, and 'kind' means nothing}}
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.binary mul %x, %w : tensor<3xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd", weight_decay = 0.1, weight_decay_parameters = ["*weight"]}}>} {
  // expected-error @+1 {{weight_decay_parameters: '*weight' is not trained; patterns are for 'groups', as in {"parameters": ["*.bias"], "weight_decay": 0}}}
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"fc.weight", "m", offset = 0, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.binary mul %x, %w : tensor<3xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, groups = [{parameters = ["*norm*"], lr_scale = 0.1}]}>} {
  // expected-error @+1 {{recipe: groups[0]: '*norm*' matches no parameter that is trained; an exporter made up names as 'onnx::MatMul_7': autopar.export_for_training keeps those of the module}}
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"onnx::MatMul_7", "m", offset = 0, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.binary mul %x, %w : tensor<3xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
