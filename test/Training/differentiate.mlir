// RUN: autopar-opt %s --split-input-file --autopar-differentiate --canonicalize --cse | FileCheck %s

// Two layers with a shared weight, whose gradients are added; the gradient of the bias is a sum over the batch.
// CHECK: func.func @step(%[[X:.*]]: tensor<6x5xf32> {{.*}}, %[[W:.*]]: tensor<5x5xf32> {{.*}}, %[[B:.*]]: tensor<5xf32> {{.*}} offset = 100, length = 20>})
// CHECK-SAME: -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}, tensor<5x5xf32> {autopar.result = #autopar.gradient<"w">}, tensor<5xf32> {autopar.result = #autopar.gradient<"b">})
// CHECK: %[[Z:.*]] = autopar.einsum "bi,ij->bj" %[[X]], %[[W]]
// CHECK: %[[H:.*]] = autopar.unary tanh
// CHECK: autopar.einsum "bj,jk->bk" %[[H]], %[[W]]
// CHECK-DAG: %[[SECOND:.*]] = autopar.einsum "bj,bk->jk" %[[H]], %{{.*}} : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<5x5xf32>
// CHECK-DAG: %[[FIRST:.*]] = autopar.einsum "bi,bj->ij" %[[X]], %[[GZ:[^ ]*]] : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<5x5xf32>
// CHECK-DAG: %[[BOTH:.*]] = autopar.binary add %[[SECOND]], %[[FIRST]] : tensor<5x5xf32>
// CHECK-DAG: %[[BIAS:.*]] = autopar.reduce sum %[[GZ]] dims = [0] : tensor<6x5xf32> -> tensor<5xf32>
// CHECK: return %{{.*}}, %[[BOTH]], %[[BIAS]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<5x5xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 100>},
      %b: tensor<5xf32> {autopar.source = #autopar.parameter<"b", "m", offset = 100, length = 20>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %z = autopar.einsum "bi,ij->bj" %x, %w : (tensor<6x5xf32>, tensor<5x5xf32>) -> tensor<6x5xf32>
    %bias = autopar.broadcast %b dims = [1] : tensor<5xf32> -> tensor<6x5xf32>
    %zb = autopar.binary add %z, %bias : tensor<6x5xf32>
    %h = autopar.unary tanh %zb : tensor<6x5xf32> -> tensor<6x5xf32>
    %y = autopar.einsum "bj,jk->bk" %h, %w : (tensor<6x5xf32>, tensor<5x5xf32>) -> tensor<6x5xf32>
    %loss = autopar.reduce sum %y dims = [0, 1] : tensor<6x5xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// By default what is an operand beside something that depends on an input is trained, also through what moves it and through arithmetic
// with other parameters and with scalars: neither the table that another table meets, nor a scalar, nor the tensor of a node.
// CHECK: #autopar.output<"loss", role = loss>}, tensor<2x2xf32> {autopar.result = #autopar.gradient<"moved">}, tensor<4xf32> {autopar.result = #autopar.gradient<"added">}) {
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<4xf32> {autopar.source = #autopar.input<"x">},
      %moved: tensor<2x2xf32> {autopar.source = #autopar.parameter<"moved", "m", offset = 0, length = 16>},
      %table: tensor<4xf32> {autopar.source = #autopar.parameter<"table", "m", offset = 16, length = 16>},
      %scalar: tensor<f32> {autopar.source = #autopar.parameter<"scalar", "m", offset = 32, length = 4>},
      %added: tensor<4xf32> {autopar.source = #autopar.parameter<"added", "m", offset = 36, length = 16>},
      %start: tensor<4xf32> {autopar.source = #autopar.parameter<"start", "m", offset = 52, length = 16, constant = true>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %half = autopar.constant dense<0.5> : tensor<4xf32>
    %places = autopar.iota dim = 0 : () -> tensor<4xf32>
    %halved = autopar.binary mul %table, %places : tensor<4xf32>
    %wave = autopar.unary cos %halved : tensor<4xf32> -> tensor<4xf32>
    %turned = autopar.transpose %moved perm = [1, 0] : tensor<2x2xf32> -> tensor<2x2xf32>
    %flat = autopar.reshape %turned : tensor<2x2xf32> -> tensor<4xf32>
    %scaled = autopar.binary mul %added, %half : tensor<4xf32>
    %weight = autopar.binary add %flat, %scaled : tensor<4xf32>
    %product = autopar.binary mul %x, %weight : tensor<4xf32>
    %a = autopar.binary add %product, %start : tensor<4xf32>
    %c = autopar.binary mul %a, %wave : tensor<4xf32>
    %s = autopar.broadcast %scalar dims = [] : tensor<f32> -> tensor<4xf32>
    %d = autopar.binary mul %c, %s : tensor<4xf32>
    %loss = autopar.reduce sum %d dims = [0] : tensor<4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// Indices are no table: what they gather is trained, also behind a function and where a mask is added. So is the weight of a layer that
// reads a table, but no frequencies that a contraction multiplies with places.
// CHECK: #autopar.output<"loss", role = loss>}, tensor<3x4xf32> {autopar.result = #autopar.gradient<"rows">}, tensor<4x4xf32> {autopar.result = #autopar.gradient<"layer">}) {
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<2x4xf32> {autopar.source = #autopar.input<"x">},
      %rows: tensor<3x4xf32> {autopar.source = #autopar.parameter<"rows", "m", offset = 0, length = 48>},
      %layer: tensor<4x4xf32> {autopar.source = #autopar.parameter<"layer", "m", offset = 48, length = 64>},
      %frequencies: tensor<1x4xf32> {autopar.source = #autopar.parameter<"frequencies", "m", offset = 112, length = 16>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %which = autopar.constant dense<[2, 0]> : tensor<2xi64>
    %mask = autopar.constant dense<[[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]]> : tensor<2x4xf32>
    %places = autopar.iota dim = 0 : () -> tensor<2x1xf32>
    %gathered = autopar.gather %rows, %which dim = 0 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
    %bent = autopar.unary sigmoid %gathered : tensor<2x4xf32> -> tensor<2x4xf32>
    %masked = autopar.binary add %bent, %mask : tensor<2x4xf32>
    %read = autopar.einsum "bi,ij->bj" %mask, %layer : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %turns = autopar.einsum "bi,ij->bj" %places, %frequencies : (tensor<2x1xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    %a = autopar.binary mul %x, %masked : tensor<2x4xf32>
    %b = autopar.binary mul %a, %read : tensor<2x4xf32>
    %c = autopar.binary mul %b, %turns : tensor<2x4xf32>
    %loss = autopar.reduce sum %c dims = [0, 1] : tensor<2x4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// What the loss does not depend on is a state that stays.
// CHECK: func.func @step(%[[X:.*]]: tensor<3xf32> {{.*}}, %{{.*}}: tensor<3xf32> {{.*}}, %[[W:.*]]: tensor<3xf32> {autopar.source = #autopar.state<"w", #autopar.parameter<"w"
// CHECK-SAME: -> (tensor<f32> {{.*}}, tensor<3xf32> {autopar.result = #autopar.next_state<"w">}, tensor<3xf32> {autopar.result = #autopar.gradient<"v">}) {
// CHECK: return %{{.*}}, %[[W]], %[[X]] : tensor<f32>, tensor<3xf32>, tensor<3xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["v", "w"]}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %v: tensor<3xf32> {autopar.source = #autopar.parameter<"v", "m", offset = 0, length = 12>},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 12, length = 12>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.binary mul %x, %v : tensor<3xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// A gather's rows are added where they came from.
// CHECK: %[[G:.*]] = autopar.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK: autopar.scatter sum %[[G]], %arg0 dim = 0 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<9x4xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%i: tensor<2xi64> {autopar.source = #autopar.input<"i">},
      %t: tensor<9x4xf32> {autopar.source = #autopar.parameter<"t", "m", offset = 0, length = 144>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %rows = autopar.gather %t, %i dim = 0 : (tensor<9x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
    %loss = autopar.reduce sum %rows dims = [0, 1] : tensor<2x4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// Two indices are one of the table with both dimensions as one; each means what it means in gather_nd.
// CHECK: autopar.slice %arg0 starts = [0, 0] {{.*}} -> tensor<2x1xi64>
// CHECK: %[[ROWS:.*]] = autopar.reshape %{{.*}} : tensor<2x1xi64> -> tensor<2xi64>
// CHECK: autopar.scatter sum %{{.*}}, %[[ROWS]] dim = 0 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<27x4xf32>
// CHECK: autopar.reshape %{{.*}} : tensor<27x4xf32> -> tensor<9x3x4xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%i: tensor<2x2xi64> {autopar.source = #autopar.input<"i">},
      %t: tensor<9x3x4xf32> {autopar.source = #autopar.parameter<"t", "m", offset = 0, length = 432>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %rows = autopar.gather_nd %t, %i batch_dims = 0 : (tensor<9x3x4xf32>, tensor<2x2xi64>) -> tensor<2x4xf32>
    %loss = autopar.reduce sum %rows dims = [0, 1] : tensor<2x4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// The gradient by the filter: batch and channels exchanged, strides and dilations, too.
// CHECK: %[[Y:.*]] = autopar.convolution %arg0, %arg1 strides = [2] dilations = [1] low = [1] high = [0] groups = 1
// CHECK-DAG: %[[X:.*]] = autopar.transpose %arg0 perm = [1, 0, 2] : tensor<4x3x8xf32> -> tensor<3x4x8xf32>
// CHECK-DAG: %[[G:.*]] = autopar.transpose %{{.*}} perm = [1, 0, 2] : tensor<4x5x4xf32> -> tensor<5x4x4xf32>
// CHECK: %[[W:.*]] = autopar.convolution %[[X]], %[[G]] strides = [1] dilations = [2] low = [1] high = [0] groups = 1 : (tensor<3x4x8xf32>, tensor<5x4x4xf32>) -> tensor<3x5x3xf32>
// CHECK: autopar.transpose %[[W]] perm = [1, 0, 2] : tensor<3x5x3xf32> -> tensor<5x3x3xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<4x3x8xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<5x3x3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 180>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.convolution %x, %w strides = [2] dilations = [1] low = [1] high = [0] groups = 1 : (tensor<4x3x8xf32>, tensor<5x3x3xf32>) -> tensor<4x5x4xf32>
    %t = autopar.unary tanh %y : tensor<4x5x4xf32> -> tensor<4x5x4xf32>
    %loss = autopar.reduce sum %t dims = [0, 1, 2] : tensor<4x5x4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// The gradient of a maximum: points that are two apart are in the same windows, one phase after the other is interleaved. The
// first phase has one place of the window, the second two.
// CHECK: autopar.select
// CHECK: %[[FIRST:.*]] = autopar.select {{.*}} : tensor<1x1x4xi1>, tensor<1x1x4xf32>
// CHECK: %[[SECOND:.*]] = autopar.binary add {{.*}} : tensor<1x1x4xf32>
// CHECK-DAG: %[[A:.*]] = autopar.reshape %[[FIRST]] : tensor<1x1x4xf32> -> tensor<1x1x4x1xf32>
// CHECK-DAG: %[[B:.*]] = autopar.reshape %[[SECOND]] : tensor<1x1x4xf32> -> tensor<1x1x4x1xf32>
// CHECK: %[[C:.*]] = autopar.concat %[[A]], %[[B]] dim = 3
// CHECK: autopar.reshape %[[C]] : tensor<1x1x4x2xf32> -> tensor<1x1x8xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["x"]}>} {
  func.func @step(%x: tensor<1x1x8xf32> {autopar.source = #autopar.parameter<"x", "m", offset = 0, length = 32>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.pool max %x window = [3] strides = [2] dilations = [1] low = [1] high = [0] : (tensor<1x1x8xf32>) -> tensor<1x1x4xf32>
    %loss = autopar.reduce sum %y dims = [0, 1, 2] : tensor<1x1x4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// Strides longer than the window: the phase of the one point is placed, the one before it is padding.
// CHECK: %[[MAX:.*]] = autopar.pool max
// CHECK: autopar.compare eq
// CHECK-NOT: autopar.concat
// CHECK: return %{{.*}} : tensor<f32>, tensor<1x1x1xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["x"]}>} {
  func.func @step(%x: tensor<1x1x1xf32> {autopar.source = #autopar.parameter<"x", "m", offset = 0, length = 4>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.pool max %x window = [2] strides = [3] dilations = [1] low = [1] high = [0] : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
    %loss = autopar.reduce sum %y dims = [0, 1, 2] : tensor<1x1x1xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// Windows that read nothing but padding: the gradient by the input is zero.
// CHECK: %[[ZERO:.*]] = autopar.constant dense<0.000000e+00> : tensor<1x1x1xf32>
// CHECK: return %{{.*}}, %[[ZERO]] : tensor<f32>, tensor<1x1x1xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["x"]}>} {
  func.func @step(%x: tensor<1x1x1xf32> {autopar.source = #autopar.parameter<"x", "m", offset = 0, length = 4>},
      %w: tensor<1x1x1xf32> {autopar.source = #autopar.input<"w">})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.convolution %x, %w strides = [3] dilations = [1] low = [5] high = [0] groups = 1 : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
    %loss = autopar.reduce sum %y dims = [0, 1, 2] : tensor<1x1x2xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// The loss is scaled for its gradients: a dynamic scale is a state that stays until the optimizer sets it.
// CHECK: func.func @step(%[[X:[^:]*]]: tensor<4xf32> {{.*}}, %{{.*}}: tensor<i64> {autopar.source = #autopar.state<"loss_scale/finite_steps", 0 : i64, role = loss_scale>}, %[[SCALE:.*]]: tensor<f32> {autopar.source = #autopar.state<"loss_scale/scale", 6.553600e+04 : f64, role = loss_scale>})
// CHECK-DAG: %[[SEED:.*]] = autopar.broadcast %[[SCALE]] dims = [] : tensor<f32> -> tensor<4xf32>
// CHECK-DAG: %[[G:.*]] = autopar.binary mul %[[SEED]], %[[X]] : tensor<4xf32>
// CHECK: return %{{.*}}, %{{.*}}, %[[SCALE]], %[[G]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, loss_scale = "dynamic"}>} {
  func.func @step(%x: tensor<4xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<4xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 16>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %y = autopar.binary mul %x, %w : tensor<4xf32>
    %loss = autopar.reduce sum %y dims = [0] : tensor<4xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----
// Of the greatest updates of a row, those that equal it share its gradient.
// CHECK: %[[Y:.*]] = autopar.scatter max %{{.*}}, %{{.*}} dim = 1 batched : (tensor<2x4xf32>, tensor<2x4xi64>) -> tensor<2x3xf32>
// CHECK: autopar.reshape %arg0 : tensor<2x4xi64> -> tensor<2x4x1xi64>
// CHECK: %[[KEPT:.*]] = autopar.gather_nd %[[Y]], %{{.*}} batch_dims = 1 : (tensor<2x3xf32>, tensor<2x4x1xi64>) -> tensor<2x4xf32>
// CHECK: %[[FOUND:.*]] = autopar.compare eq %{{.*}}, %[[KEPT]]
// CHECK: autopar.scatter sum %{{.*}}, %arg0 dim = 1 batched : (tensor<2x4xf32>, tensor<2x4xi64>) -> tensor<2x3xf32>
// CHECK: autopar.binary div
// CHECK: %[[SHARE:.*]] = autopar.gather_nd %{{.*}}, %{{.*}} batch_dims = 1
// CHECK: autopar.select %[[FOUND]], %[[SHARE]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%i: tensor<2x4xi64> {autopar.source = #autopar.input<"i">},
      %u: tensor<2x4xf32> {autopar.source = #autopar.parameter<"u", "m", offset = 0, length = 32>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %rows = autopar.scatter max %u, %i dim = 1 batched : (tensor<2x4xf32>, tensor<2x4xi64>) -> tensor<2x3xf32>
    %loss = autopar.reduce sum %rows dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}
