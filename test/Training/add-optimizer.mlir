// RUN: autopar-opt %s --split-input-file --autopar-add-optimizer --canonicalize --cse | FileCheck %s

// The parameter and its momentum become states; the learning rate of the schedule is computed from the number of the step.
// CHECK: func.func @step(%[[X:.*]]: tensor<3xf32> {{.*}}, %[[W:.*]]: tensor<3xf32> {autopar.source = #autopar.state<"w", #autopar.parameter<"w", "m", offset = 0, length = 12>>},
// CHECK-SAME: %[[N:.*]]: tensor<i64> {autopar.source = #autopar.state<"optimizer/step", 0 : i64, role = optimizer>}, %[[V:.*]]: tensor<3xf32> {autopar.source = #autopar.state<"w/momentum_buffer", 0.000000e+00 : f64, role = optimizer>})
// CHECK-SAME: tensor<3xf32> {autopar.result = #autopar.gradient<"w">}, tensor<f64> {autopar.result = #autopar.output<"grad_norm", role = grad_norm>}, tensor<f64> {autopar.result = #autopar.output<"learning_rate", role = learning_rate>},
// CHECK-SAME: tensor<3xf32> {autopar.result = #autopar.next_state<"w/momentum_buffer", role = optimizer>}, tensor<3xf32> {autopar.result = #autopar.next_state<"w">}, tensor<i64> {autopar.result = #autopar.next_state<"optimizer/step", role = optimizer>}
// CHECK-DAG: %[[NORM:.*]] = autopar.unary sqrt
// CHECK-DAG: %[[RATE:.*]] = autopar.select %{{.*}} : tensor<i1>, tensor<f64>
// CHECK-DAG: %[[OLD:.*]] = autopar.binary mul %[[V]], %{{.*}} : tensor<3xf32>
// CHECK-DAG: %[[NEW:.*]] = autopar.binary add %[[OLD]], %[[X]] : tensor<3xf32>
// CHECK-DAG: %[[ALL:.*]] = autopar.broadcast %{{.*}} dims = [] : tensor<f32> -> tensor<3xf32>
// CHECK-DAG: %[[STEP:.*]] = autopar.binary mul %[[ALL]], %[[NEW]] : tensor<3xf32>
// CHECK-DAG: %[[NEXT:.*]] = autopar.binary sub %[[W]], %[[STEP]] : tensor<3xf32>
// CHECK-DAG: %[[COUNT:.*]] = autopar.binary add %[[N]], %{{.*}} : tensor<i64>
// CHECK: return %[[X]], %[[NORM]], %[[RATE]], %[[NEW]], %[[NEXT]], %[[COUNT]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd", momentum = 0.9}, schedule = {kind = "linear", warmup_steps = 2 : i64}, steps = 9 : i64}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %x : tensor<3xf32>
  }
}

// -----
// One norm for all gradients, in f64, whose squares do not overflow: the sum over a vector of their squares; and one factor.
// CHECK: %[[SQUARES:.*]] = autopar.concat %{{.*}}, %{{.*}} dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
// CHECK: %[[SUM:.*]] = autopar.reduce sum %[[SQUARES]] dims = [0] : tensor<2xf64> -> tensor<f64>
// CHECK: %[[NORM:.*]] = autopar.unary sqrt %[[SUM]]
// CHECK: %[[WIDE:.*]] = autopar.binary min %{{.*}}, %{{.*}} : tensor<f64>
// CHECK: %[[FACTOR:.*]] = autopar.convert %[[WIDE]] : tensor<f64> -> tensor<f32>
// CHECK-DAG: autopar.broadcast %[[FACTOR]] dims = [] : tensor<f32> -> tensor<3xf32>
// CHECK-DAG: autopar.broadcast %[[FACTOR]] dims = [] : tensor<f32> -> tensor<2x2xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, clip_global_norm = 1.0}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}, %y: tensor<2x2xf32> {autopar.source = #autopar.input<"y">},
      %v: tensor<3xf32> {autopar.source = #autopar.parameter<"v", "m", offset = 0, length = 12>},
      %w: tensor<2x2xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 12, length = 16>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"v">}, tensor<2x2xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %x, %y : tensor<3xf32>, tensor<2x2xf32>
  }
}

// -----
// Gradients are divided by the scale of the loss; a step of which one is not finite leaves everything as it is, and says so.
// CHECK: func.func @step(%{{[^,]*}}, %[[W:[^:]*]]: tensor<3xf32> {{.*}}, %[[N:[^:]*]]: tensor<i64>
// CHECK-SAME: -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}, tensor<f64> {autopar.result = #autopar.output<"grad_norm", role = grad_norm>}, tensor<f64> {autopar.result = #autopar.output<"learning_rate", role = learning_rate>}, tensor<f32> {autopar.result = #autopar.output<"loss_scale", role = loss_scale>}, tensor<i1> {autopar.result = #autopar.output<"skipped", role = skipped>}, tensor<3xf32> {autopar.result = #autopar.next_state<"w">}, tensor<i64> {autopar.result = #autopar.next_state<"optimizer/step", role = optimizer>})
// CHECK-DAG: %[[G:.*]] = autopar.binary mul %{{.*}}, %{{.*}} : tensor<3xf32>
// CHECK-DAG: %[[NORM:.*]] = autopar.unary sqrt
// CHECK-DAG: %[[FINITE:.*]] = autopar.compare le %[[NORM]], %{{.*}} : tensor<f64> -> tensor<i1>
// CHECK-DAG: %[[SKIPPED:.*]] = autopar.unary not %[[FINITE]]
// CHECK-DAG: %[[ALL:.*]] = autopar.broadcast %[[FINITE]] dims = [] : tensor<i1> -> tensor<3xi1>
// CHECK-DAG: %[[NEXT:.*]] = autopar.select %[[ALL]], %{{.*}}, %[[W]] : tensor<3xi1>, tensor<3xf32>
// CHECK-DAG: %[[COUNT:.*]] = autopar.select %[[FINITE]], %{{.*}}, %[[N]] : tensor<i1>, tensor<i64>
// CHECK: return %[[G]], %[[NORM]], %{{.*}}, %{{.*}}, %[[SKIPPED]], %[[NEXT]], %[[COUNT]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, loss_scale = 8.0}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %x : tensor<3xf32>
  }
}

// -----
// Squares of f64 may overflow: whether all is finite is asked of each element.
// CHECK-DAG: %[[BAD:.*]] = autopar.reduce max %{{.*}} dims = [0] : tensor<3xi32> -> tensor<i32>
// CHECK-DAG: %[[FINITE:.*]] = autopar.compare eq %{{.*}} : tensor<i32> -> tensor<i1>
// CHECK-DAG: autopar.broadcast %[[FINITE]] dims = [] : tensor<i1> -> tensor<3xi1>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, loss_scale = 8.0}>} {
  func.func @step(%x: tensor<3xf64> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf64> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 24>})
      -> (tensor<3xf64> {autopar.result = #autopar.gradient<"w">}) {
    return %x : tensor<3xf64>
  }
}

// -----
// A step that counts no label changes nothing.
// CHECK-LABEL: masked_cross_entropy_mean
// CHECK: tensor<i1> {autopar.result = #autopar.output<"no_labels", role = no_labels>}, tensor<i1> {autopar.result = #autopar.output<"skipped", role = skipped>}
// CHECK-NOT: counted_labels
// CHECK-DAG: %[[SOME:.*]] = autopar.compare gt %{{.*}} : tensor<i32> -> tensor<i1>
// CHECK-DAG: %[[NONE:.*]] = autopar.unary not %[[SOME]]
// CHECK-DAG: %[[ALL:.*]] = autopar.broadcast %[[SOME]] dims = [] : tensor<i1> -> tensor<3xi1>
// CHECK-DAG: autopar.select %[[ALL]]
// CHECK: return %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[NONE]], %[[NONE]],
module attributes {autopar.recipe = #training.recipe<{loss = "masked_cross_entropy_mean", optimizer = {kind = "sgd"}}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}, %n: tensor<i32> {autopar.source = #autopar.input<"n">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<i32> {autopar.result = #autopar.output<"counted_labels", role = counted_labels>}, tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %n, %x : tensor<i32>, tensor<3xf32>
  }
}
