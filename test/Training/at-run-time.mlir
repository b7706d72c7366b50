// RUN: autopar-opt %s --split-input-file --autopar-add-optimizer --canonicalize --cse | FileCheck %s

// What is set at run time is a scalar state that stays as it is. A decay and a momentum that begin as 0 are there; without momentum the buffer stays.
// CHECK: autopar.hyperparameters = [#autopar.hyperparameter<name = "lr", least = 0.000000e+00 : f64>, #autopar.hyperparameter<name = "momentum", least = 0.000000e+00 : f64>, #autopar.hyperparameter<name = "weight_decay", least = 0.000000e+00 : f64>]
// CHECK: func.func @step(%[[X:.*]]: tensor<3xf32> {{.*}}, %[[W:.*]]: tensor<3xf32> {autopar.source = #autopar.state<"w",
// CHECK-SAME: %[[LR:[^:]*]]: tensor<f64> {autopar.source = #autopar.state<"lr", 1.250000e-01 : f64, role = hyperparameter>}
// CHECK-SAME: %[[DECAY:[^:]*]]: tensor<f64> {autopar.source = #autopar.state<"weight_decay", 0.000000e+00 : f64, role = hyperparameter>}
// CHECK-SAME: %[[MOMENTUM:[^:]*]]: tensor<f64> {autopar.source = #autopar.state<"momentum", 0.000000e+00 : f64, role = hyperparameter>}
// CHECK-SAME: %[[BUFFER:[^:]*]]: tensor<3xf32> {autopar.source = #autopar.state<"w/momentum_buffer", 0.000000e+00 : f64, role = optimizer>}
// CHECK-DAG: %[[D:.*]] = autopar.convert %[[DECAY]] : tensor<f64> -> tensor<f32>
// CHECK-DAG: %[[DS:.*]] = autopar.broadcast %[[D]] dims = [] : tensor<f32> -> tensor<3xf32>
// CHECK-DAG: %[[WD:.*]] = autopar.binary mul %[[W]], %[[DS]]
// CHECK-DAG: %[[G:.*]] = autopar.binary add %[[X]], %[[WD]]
// CHECK-DAG: %[[M:.*]] = autopar.convert %[[MOMENTUM]] : tensor<f64> -> tensor<f32>
// CHECK-DAG: %[[MS:.*]] = autopar.broadcast %[[M]] dims = [] : tensor<f32> -> tensor<3xf32>
// CHECK-DAG: %[[OLD:.*]] = autopar.binary mul %[[BUFFER]], %[[MS]]
// CHECK-DAG: %[[V:.*]] = autopar.binary add %[[OLD]], %[[G]]
// CHECK-DAG: %[[SET:.*]] = autopar.compare ne %[[MOMENTUM]], %{{.*}} : tensor<f64> -> tensor<i1>
// CHECK-DAG: %[[SETS:.*]] = autopar.broadcast %[[SET]] dims = [] : tensor<i1> -> tensor<3xi1>
// CHECK-DAG: %[[NEXT:.*]] = autopar.select %[[SETS]], %[[V]], %[[BUFFER]]
// CHECK-DAG: %[[ALONG:.*]] = autopar.select %[[SETS]], %[[V]], %[[G]]
// CHECK-DAG: %[[R:.*]] = autopar.convert %[[LR]] : tensor<f64> -> tensor<f32>
// CHECK: return %[[X]], %{{[^,]*}}, %[[LR]], %[[LR]], %[[DECAY]], %[[MOMENTUM]], %[[NEXT]],
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd", lr = 0.125}, at_run_time = ["lr", "momentum", "optimizer.weight_decay"]}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %x : tensor<3xf32>
  }
}

// -----
// A group has what it names; what it does not say itself is the optimizer's; what it says is its own for good.
// CHECK: autopar.hyperparameters = [#autopar.hyperparameter<name = "betas[0]", least = 0.000000e+00 : f64, below = 1.000000e+00 : f64>, #autopar.hyperparameter<name = "betas[1]", least = 0.000000e+00 : f64, below = 1.000000e+00 : f64>, #autopar.hyperparameter<name = "weight_decay", least = 0.000000e+00 : f64>, #autopar.hyperparameter<name = "groups[0].lr", least = 0.000000e+00 : f64>]
// CHECK-NOT: name = "lr"
// CHECK: #autopar.state<"weight_decay", 1.000000e-02 : f64, role = hyperparameter>
// CHECK-SAME: %[[BETA1:[^ :]*]]: tensor<f64> {autopar.source = #autopar.state<"betas[0]", 9.000000e-01 : f64, role = hyperparameter>}
// CHECK-SAME: %[[BETA2:[^ :]*]]: tensor<f64> {autopar.source = #autopar.state<"betas[1]", 0.99{{[0-9]*}} : f64, role = hyperparameter>}
// CHECK-SAME: %[[M:[^ :]*]]: tensor<3xf32> {autopar.source = #autopar.state<"v/exp_avg",
// CHECK-DAG: %[[OWN:.*]] = autopar.constant dense<7.500000e-01> : tensor<3xf32>
// CHECK-DAG: %[[B2:.*]] = autopar.convert %[[BETA2]] : tensor<f64> -> tensor<f32>
// CHECK-DAG: autopar.binary mul %[[M]], %[[OWN]] : tensor<3xf32>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "adamw"}, at_run_time = ["betas", "weight_decay", "groups[0].lr"], groups = [
    {parameters = ["v"], lr = 0.5, betas = [0.75, unit]}]}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>},
      %v: tensor<3xf32> {autopar.source = #autopar.parameter<"v", "m", offset = 12, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}, tensor<3xf32> {autopar.result = #autopar.gradient<"v">}) {
    return %x, %x : tensor<3xf32>, tensor<3xf32>
  }
}

// -----
// Clips, the average and the schedule, whose warm-up may begin as none.
// CHECK: #autopar.hyperparameter<name = "clip_global_norm", above = 0.000000e+00 : f64>, #autopar.hyperparameter<name = "average", least = 0.000000e+00 : f64, below = 1.000000e+00 : f64>, #autopar.hyperparameter<name = "warmup_steps", least = 0.000000e+00 : f64, integer = true>, #autopar.hyperparameter<name = "steps", least = 1.000000e+00 : f64, integer = true>
// CHECK: func.func @step(
// CHECK-SAME: %[[WARM:[^ :]*]]: tensor<f64> {autopar.source = #autopar.state<"warmup_steps", 0.000000e+00 : f64, role = hyperparameter>}
// CHECK-SAME: %[[ALL:[^ :]*]]: tensor<f64> {autopar.source = #autopar.state<"steps", 9.000000e+00 : f64, role = hyperparameter>}
// CHECK-SAME: %[[CLIP:[^ :]*]]: tensor<f64> {autopar.source = #autopar.state<"clip_global_norm", 2.000000e+00 : f64, role = hyperparameter>}
// CHECK-SAME: %[[PART:[^ :]*]]: tensor<f64> {autopar.source = #autopar.state<"average", 5.000000e-01 : f64, role = hyperparameter>}
// CHECK-DAG: autopar.binary sub %[[ALL]], %[[WARM]] : tensor<f64>
// CHECK-DAG: autopar.binary div %[[CLIP]], %{{.*}} : tensor<f64>
// CHECK-DAG: %[[LEAST:.*]] = autopar.binary max %[[WARM]], %{{.*}} : tensor<f64>
// CHECK-DAG: %[[EARLY:.*]] = autopar.binary div %{{.*}}, %[[LEAST]] : tensor<f64>
// CHECK-DAG: autopar.select %{{.*}}, %[[EARLY]], %{{.*}} : tensor<i1>, tensor<f64>
// CHECK-DAG: autopar.binary sub %{{.*}}, %[[PART]] : tensor<f64>
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, clip_global_norm = 2.0, average = 0.5, steps = 9 : i64, schedule = {kind = "linear"},
    at_run_time = ["clip_global_norm", "average", "schedule.warmup_steps", "steps"]}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">},
      %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 12>})
      -> (tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
    return %x : tensor<3xf32>
  }
}
