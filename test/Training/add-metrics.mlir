// RUN: autopar-opt %s --split-input-file --autopar-add-metrics | FileCheck %s

// Labels and the rows that count become inputs; outputs stay. Rows that do not count have labels that do not. What metrics have in common is computed once (CSE follows).
// CHECK: module attributes {autopar.counted_rows = "counted_rows"
// CHECK-SAME: autopar.metrics = {best = "accuracy", every = 10 : i64, metrics = [
// CHECK-SAME: {higher_is_better = true, kind = "mean", name = "accuracy", outputs = ["metric/accuracy/0", "metric/accuracy/1"]},
// CHECK-SAME: {higher_is_better = false, kind = "exp_mean", name = "perplexity", outputs = ["metric/perplexity/0", "metric/perplexity/1"]}], patience = 3 : i64}
// CHECK: func.func @step(%[[X:.*]]: tensor<6x5xf32> {{.*}}, %[[T:.*]]: tensor<6xi64> {autopar.source = #autopar.input<"labels">}, %[[COUNTS:.*]]: tensor<6xi1> {autopar.source = #autopar.input<"counted_rows">})
// CHECK-SAME: -> (tensor<6x5xf32> {autopar.result = #autopar.output<"y">}, tensor<i32> {autopar.result = #autopar.output<"metric/accuracy/0", role = metric>}, tensor<i32>
// CHECK: %[[LABELS:.*]] = autopar.select %[[COUNTS]], %[[T]],
// CHECK: %[[HIGHEST:.*]] = autopar.reduce max %[[X]] dims = [1]
// CHECK: %[[FIRST:.*]] = autopar.reduce min %{{.*}} dims = [1] : tensor<6x5xi64> -> tensor<6xi64>
// CHECK: autopar.compare eq %[[FIRST]], %[[LABELS]]
module attributes {autopar.evaluation = #training.recipe<{loss = "softmax_cross_entropy_mean", optimizer = {kind = "sgd"},
                                         evaluation = {metrics = ["accuracy", "perplexity"], every = 10, patience = 3}}>} {
  func.func @step(%x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<6x5xf32> {autopar.result = #autopar.output<"y">}) {
    return %x : tensor<6x5xf32>
  }
}

// -----
// An output and an input of these names are the model's.
// CHECK: module attributes {autopar.counted_rows = "counted_rows'"
// CHECK-SAME: outputs = ["metric/loss/0'", "metric/loss/1"]
// CHECK: autopar.input<"counted_rows'">
module attributes {autopar.evaluation = #training.recipe<{loss = "mse_mean", output = "y", optimizer = {kind = "sgd"}, evaluation = {}}>} {
  func.func @step(%x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">}, %c: tensor<6x5xf32> {autopar.source = #autopar.input<"counted_rows">})
      -> (tensor<6x5xf32> {autopar.result = #autopar.output<"y">}, tensor<6x5xf32> {autopar.result = #autopar.output<"metric/loss/0">}) {
    return %x, %c : tensor<6x5xf32>, tensor<6x5xf32>
  }
}
