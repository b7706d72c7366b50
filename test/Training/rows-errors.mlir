// RUN: autopar-opt %s --split-input-file --autopar-add-loss --autopar-add-metrics --verify-diagnostics

// A mean over the batch is in each row's result.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, last_batch = "pad"}>} {
  func.func @step(%x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<6x5xf32> {autopar.result = #autopar.output<"y">}) {
    // expected-error @below {{recipe: 'last_batch': 'pad': results of a row depend on other rows here}}
    %sum = autopar.reduce sum %x dims = [0] : tensor<6x5xf32> -> tensor<5xf32>
    %all = autopar.broadcast %sum dims = [1] : tensor<5xf32> -> tensor<6x5xf32>
    %y = autopar.binary sub %x, %all : tensor<6x5xf32>
    return %y : tensor<6x5xf32>
  }
}

// -----
// An evaluation takes whole batches then.
module attributes {autopar.evaluation = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, evaluation = {}}>} {
  func.func @step(%x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<6x5xf32> {autopar.result = #autopar.output<"y">}) {
    // expected-warning @below {{the evaluation leaves out the last rows of its data that fill no batch: results of a row depend on other rows here}}
    %sum = autopar.reduce max %x dims = [0] : tensor<6x5xf32> -> tensor<5xf32>
    %all = autopar.broadcast %sum dims = [1] : tensor<5xf32> -> tensor<6x5xf32>
    %y = autopar.binary sub %x, %all : tensor<6x5xf32>
    return %y : tensor<6x5xf32>
  }
}

// -----
// Rows of a batch that is folded into another dimension, and unfolded, do not meet; nor do those of a product with a weight, a softmax or a transpose.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, last_batch = "pad"}>} {
  func.func @step(%x: tensor<6x4x5xf32> {autopar.source = #autopar.input<"x">}, %w: tensor<5x5xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 100>})
      -> (tensor<6x4x5xf32> {autopar.result = #autopar.output<"y">}) {
    %flat = autopar.reshape %x : tensor<6x4x5xf32> -> tensor<24x5xf32>
    %product = autopar.einsum "mk,kn->mn" %flat, %w : (tensor<24x5xf32>, tensor<5x5xf32>) -> tensor<24x5xf32>
    %apart = autopar.reshape %product : tensor<24x5xf32> -> tensor<6x4x5xf32>
    %soft = autopar.softmax %apart dim = 2 : tensor<6x4x5xf32>
    %turned = autopar.transpose %soft perm = [1, 0, 2] : tensor<6x4x5xf32> -> tensor<4x6x5xf32>
    %y = autopar.transpose %turned perm = [1, 0, 2] : tensor<4x6x5xf32> -> tensor<6x4x5xf32>
    return %y : tensor<6x4x5xf32>
  }
}

// -----
// Rows that change places meet.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, last_batch = "pad"}>} {
  func.func @step(%x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<6x5xf32> {autopar.result = #autopar.output<"y">}) {
    // expected-error @below {{results of a row depend on other rows here}}
    %low = autopar.slice %x starts = [3, 0] steps = [1, 1] : tensor<6x5xf32> -> tensor<3x5xf32>
    %high = autopar.slice %x starts = [0, 0] steps = [1, 1] : tensor<6x5xf32> -> tensor<3x5xf32>
    %y = autopar.concat %low, %high dim = 0 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<6x5xf32>
    return %y : tensor<6x5xf32>
  }
}
