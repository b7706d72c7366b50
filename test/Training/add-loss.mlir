// RUN: autopar-opt %s --split-input-file --autopar-add-loss | FileCheck %s

// Labels become an input; what a label chooses is a select, so that it splits, and is summed by row first. A label that is no class ends the run before it begins.
// CHECK: module attributes {autopar.index_bounds = [#autopar.index_bound<input = "labels", text = "labels are classes, 0 to 4; masked_softmax_cross_entropy_mean leaves out -100", size = 5, shape = [6], starts = [0], sizes = [6]>]
// CHECK: func.func @step(%[[X:.*]]: tensor<6x5xf32> {autopar.source = #autopar.input<"x">}, %[[T:.*]]: tensor<6xi64> {autopar.source = #autopar.input<"labels">})
// CHECK-SAME: -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>})
// CHECK: %[[LOG:.*]] = autopar.softmax %[[X]] dim = 1 log
// CHECK: %[[IS:.*]] = autopar.compare eq
// CHECK: %[[OWN:.*]] = autopar.select %[[IS]], %[[LOG]],
// CHECK: %[[ROWS:.*]] = autopar.reduce sum %[[OWN]] dims = [1] : tensor<6x5xf32> -> tensor<6xf32>
// CHECK: autopar.reduce sum %[[ROWS]] dims = [0] : tensor<6xf32> -> tensor<f32>
module attributes {autopar.recipe = #training.recipe<{loss = "softmax_cross_entropy_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<6x5xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<6x5xf32>
  }
}

// -----
// The labels of the causal loss are the tokens, moved up by one.
// CHECK: func.func @step(%{{.*}}: tensor<2x4x5xf32> {{.*}}, %[[T:.*]]: tensor<2x4xi64> {autopar.source = #autopar.input<"input_ids">})
// CHECK: %[[NEXT:.*]] = autopar.slice %[[T]] starts = [0, 1] steps = [1, 1] : tensor<2x4xi64> -> tensor<2x3xi64>
// CHECK: autopar.concat %[[NEXT]], %{{.*}} dim = 1 : (tensor<2x3xi64>, tensor<2x1xi64>) -> tensor<2x4xi64>
module attributes {autopar.recipe = #training.recipe<{loss = "causal_lm_shifted_cross_entropy_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<2x4x5xf32> {autopar.source = #autopar.input<"x">}, %t: tensor<2x4xi64> {autopar.source = #autopar.input<"input_ids">})
      -> (tensor<2x4x5xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<2x4x5xf32>
  }
}

// -----
// An input `labels` that other outputs alone depend on has the labels; a parameter may have any name.
// CHECK: func.func @step(%[[X:[^:]*]]: tensor<3xf32> {{.*}}, %[[T:[^:]*]]: tensor<3xf32> {autopar.source = #autopar.input<"labels">}, %{{.*}}: tensor<3xf32> {autopar.source = #autopar.parameter<"labels"
// CHECK: autopar.binary sub %[[X]], %[[T]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", output = "y", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}, %t: tensor<3xf32> {autopar.source = #autopar.input<"labels">},
                  %w: tensor<3xf32> {autopar.source = #autopar.parameter<"labels", "m", offset = 0, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}, tensor<3xf32> {autopar.result = #autopar.output<"loss">}) {
    %z = autopar.binary mul %t, %w : tensor<3xf32>
    return %x, %z : tensor<3xf32>, tensor<3xf32>
  }
}

// -----
// Narrow outputs are widened first, and differences before they are squared.
// CHECK: autopar.convert %{{.*}} : tensor<3xbf16> -> tensor<3xf32>
// CHECK: autopar.convert %{{.*}} : tensor<3xbf16> -> tensor<3xf32>
// CHECK: autopar.convert %{{.*}} : tensor<3xf32> -> tensor<3xf64>
// CHECK: autopar.reduce sum %{{.*}} dims = [0] : tensor<3xf64> -> tensor<f64>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<3xbf16> {autopar.source = #autopar.input<"x">}) -> (tensor<3xbf16> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<3xbf16>
  }
}

// -----
// Without a recipe nothing changes.
// CHECK: func.func @step(%{{.*}}: tensor<3xf32> {{.*}}) -> (tensor<3xf32> {autopar.result = #autopar.output<"y">})
func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
  return %x : tensor<3xf32>
}

// -----
// Labels of a narrow type hold neither all classes nor -100: they are widened first. Those of -100 are none.
// CHECK: autopar.index_bounds = [#autopar.index_bound<input = "labels", text = "labels are classes, 0 to 999, or -100 where none is", size = 1000, ignored = -100 : i64, {{.*}}>]
// CHECK: %[[WIDE:.*]] = autopar.convert %arg1 : tensor<2xui8> -> tensor<2xi64>
// CHECK: autopar.iota dim = 1 : () -> tensor<2x1000xi64>
module attributes {autopar.recipe = #training.recipe<{loss = "masked_cross_entropy_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<2x1000xf32> {autopar.source = #autopar.input<"x">}, %t: tensor<2xui8> {autopar.source = #autopar.input<"labels">})
      -> (tensor<2x1000xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<2x1000xf32>
  }
}

// -----
// A block's terms are divided by all of the step, of which there are four times as many.
// CHECK: autopar.constant dense<0.08333333333333{{.*}}> : tensor<f64>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, accumulation = 4 : i64}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<3xf32>
  }
}

// -----
// What labels may be left out are counted, as integers; none is as one. The count is an output for what follows.
// CHECK: -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}, tensor<i32> {autopar.result = #autopar.output<"counted_labels", role = counted_labels>})
// CHECK: %[[COUNT:.*]] = autopar.reduce sum %{{.*}} dims = [0] : tensor<2xi32> -> tensor<i32>
// CHECK: %[[LEAST:.*]] = autopar.binary max %[[COUNT]], %{{.*}} : tensor<i32>
// CHECK: %[[ALL:.*]] = autopar.convert %[[LEAST]] : tensor<i32> -> tensor<f32>
// CHECK: %[[LOSS:.*]] = autopar.binary div %{{.*}}, %[[ALL]] : tensor<f32>
// CHECK: return %[[LOSS]], %[[COUNT]]
module attributes {autopar.recipe = #training.recipe<{loss = "masked_cross_entropy_mean", optimizer = {kind = "sgd"}, accumulation = 2 : i64}>} {
  func.func @step(%x: tensor<2x5xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<2x5xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<2x5xf32>
  }
}

// -----
// Of the means of blocks each counts its part.
// CHECK: %[[MEAN:.*]] = autopar.binary div
// CHECK: autopar.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[LOSS:.*]] = autopar.binary mul %[[MEAN]], %{{.*}} : tensor<f32>
// CHECK: return %[[LOSS]]
module attributes {autopar.recipe = #training.recipe<{loss = "masked_cross_entropy_mean", optimizer = {kind = "sgd"}, accumulation = 2 : i64, mean_over = "block"}>} {
  func.func @step(%x: tensor<2x5xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<2x5xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<2x5xf32>
  }
}

// -----
// Rows that pad the last batch have the labels as their values, so that their squares are 0; the mean is over the others.
// CHECK: func.func @step(%[[X:.*]]: tensor<6x5xf32> {{.*}}, %[[T:.*]]: tensor<6x5xf32> {autopar.source = #autopar.input<"labels">}, %[[COUNTS:.*]]: tensor<6xi1> {autopar.source = #autopar.input<"counted_rows">})
// CHECK: %[[EACH:.*]] = autopar.broadcast %[[COUNTS]] dims = [0] : tensor<6xi1> -> tensor<6x5xi1>
// CHECK: %[[COUNTED:.*]] = autopar.select %[[EACH]], %[[X]], %[[T]]
// CHECK: autopar.binary sub %[[COUNTED]], %[[T]]
// CHECK: autopar.reduce sum %{{.*}} dims = [0] : tensor<6xi32> -> tensor<i32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, last_batch = "pad"}>} {
  func.func @step(%x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<6x5xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<6x5xf32>
  }
}
