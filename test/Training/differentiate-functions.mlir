// RUN: autopar-opt %s --split-input-file --autopar-differentiate --canonicalize --cse --verify-diagnostics | FileCheck %s

// The gradient of a function is that of its row, in f32 at least, and none of the ops that compute the value has one.
// CHECK: func.func @step(%[[W:.*]]: tensor<3xbf16>
// CHECK: %[[V:.*]] = autopar.unary log %[[W]]
// CHECK: %[[Y:.*]] = autopar.function %[[V]] of(%[[W]]) derivative = "softplus"
// CHECK: %[[WIDE:.*]] = autopar.convert %[[W]] : tensor<3xbf16> -> tensor<3xf32>
// CHECK: %[[SLOPE:.*]] = autopar.unary sigmoid %[[WIDE]] : tensor<3xf32> -> tensor<3xf32>
// CHECK: %[[GRADIENT:.*]] = autopar.convert %[[SLOPE]] : tensor<3xf32> -> tensor<3xbf16>
// CHECK-NOT: autopar.binary div
// CHECK: return %{{.*}}, %[[GRADIENT]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["w"]}>} {
  func.func @step(%w: tensor<3xbf16> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 6>})
      -> (tensor<bf16> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %v = autopar.unary log %w : tensor<3xbf16> -> tensor<3xbf16>
    %y = autopar.function %v of (%w) derivative = "softplus" : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3xbf16>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xbf16> -> tensor<bf16>
    return %loss : tensor<bf16>
  }
}

// -----

// Without a row the gradient is that of the ops.
// CHECK: func.func @step(%[[W:.*]]: tensor<3xf32>
// CHECK: autopar.function
// CHECK: %[[GRADIENT:.*]] = autopar.binary div %{{.*}}, %[[W]]
// CHECK: return %{{.*}}, %[[GRADIENT]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["w"]}>} {
  func.func @step(%w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %v = autopar.unary log %w : tensor<3xf32> -> tensor<3xf32>
    %y = autopar.function %v of (%w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// A row of which all is masked is NaN, and something takes 0 for it: it has no part in the gradient of softmax.
// CHECK: %[[P:.*]] = autopar.softmax
// CHECK: %[[NAN:.*]] = autopar.unary is_nan %[[P]]
// CHECK: autopar.select %[[NAN]], %{{.*}}, %[[P]]
// CHECK: %[[SAFE:.*]] = autopar.select %[[NAN]], %{{.*}}, %[[P]]
// CHECK: autopar.binary mul %{{.*}}, %[[SAFE]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["w"]}>} {
  func.func @step(%w: tensor<2x3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 24>},
      %one: tensor<2x3xf32> {autopar.source = #autopar.input<"one">})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %p = autopar.softmax %w dim = 1 : tensor<2x3xf32>
    %nan = autopar.unary is_nan %p : tensor<2x3xf32> -> tensor<2x3xi1>
    %y = autopar.select %nan, %one, %p : tensor<2x3xi1>, tensor<2x3xf32>
    %loss = autopar.reduce sum %y dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Nothing guards this one.
// CHECK: autopar.softmax
// CHECK-NOT: is_nan
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["w"]}>} {
  func.func @step(%w: tensor<2x3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 24>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %p = autopar.softmax %w dim = 1 : tensor<2x3xf32>
    %loss = autopar.reduce sum %p dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
