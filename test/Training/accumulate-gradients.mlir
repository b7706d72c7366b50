// RUN: autopar-opt %s --split-input-file --autopar-accumulate-gradients --canonicalize --cse | FileCheck %s
// RUN: autopar-opt %s --split-input-file --autopar-accumulate-gradients --canonicalize --cse | FileCheck %s --check-prefix=COUNT

// Each block takes its rows; the second reads the running mean of the first. Losses and gradients add up; a check fails if it does in one
// block; the scalar is that of both.
// CHECK: func.func @step(%[[X:.*]]: tensor<2x3x4xf32> {autopar.source = #autopar.input<"x", blocks = 2>}, %[[S:.*]]: tensor<f32> {autopar.source = #autopar.input<"s">}, %[[M:[^:]*]]: tensor<4xf32> {autopar.source = #autopar.state
// CHECK: %[[X0:.*]] = autopar.slice %[[X]] starts = [0, 0, 0] {{.*}} -> tensor<1x3x4xf32>
// CHECK: %[[M0:.*]] = autopar.reduce max %[[X0]] dims = [0, 1]
// CHECK: %[[N0:.*]] = autopar.binary add %[[M]], %[[M0]]
// CHECK: %[[LOSS0:.*]] = autopar.binary mul %{{.*}}, %[[S]] : tensor<f32>
// CHECK: %[[BAD0:.*]] = autopar.compare lt %[[LOSS0]], %[[S]]
// CHECK: %[[G0:.*]] = autopar.reduce sum %[[X0]] dims = [0, 1]
// CHECK: %[[X1:.*]] = autopar.slice %[[X]] starts = [1, 0, 0] {{.*}} -> tensor<1x3x4xf32>
// CHECK: %[[M1:.*]] = autopar.reduce max %[[X1]] dims = [0, 1]
// CHECK: %[[N1:.*]] = autopar.binary add %[[N0]], %[[M1]]
// CHECK: %[[LOSS1:.*]] = autopar.binary mul %{{.*}}, %[[S]] : tensor<f32>
// CHECK: %[[SUM:.*]] = autopar.binary add %[[LOSS0]], %[[LOSS1]]
// CHECK: %[[BAD1:.*]] = autopar.compare lt %[[LOSS1]], %[[S]]
// CHECK: %[[BAD:.*]] = autopar.binary or %[[BAD0]], %[[BAD1]]
// CHECK: %[[G1:.*]] = autopar.reduce sum %[[X1]] dims = [0, 1]
// CHECK: %[[G:.*]] = autopar.binary add %[[G0]], %[[G1]]
// CHECK: return %[[SUM]], %[[BAD]], %[[N1]], %[[G]]
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, accumulation = 2 : i64}>} {
  func.func @step(%x: tensor<3x4xf32> {autopar.source = #autopar.input<"x">}, %s: tensor<f32> {autopar.source = #autopar.input<"s">},
      %m: tensor<4xf32> {autopar.source = #autopar.state<"mean", #autopar.parameter<"mean", "m", offset = 0, length = 16>>},
      %w: tensor<4xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 16, length = 16>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}, tensor<i1> {autopar.result = #autopar.output<"bad", role = check>},
          tensor<4xf32> {autopar.result = #autopar.next_state<"mean">}, tensor<4xf32> {autopar.result = #autopar.gradient<"w">}) {
    %mean = autopar.reduce max %x dims = [0] : tensor<3x4xf32> -> tensor<4xf32>
    %next = autopar.binary add %m, %mean : tensor<4xf32>
    %ws = autopar.broadcast %w dims = [1] : tensor<4xf32> -> tensor<3x4xf32>
    %y = autopar.binary mul %x, %ws : tensor<3x4xf32>
    %sum = autopar.reduce sum %y dims = [0, 1] : tensor<3x4xf32> -> tensor<f32>
    %loss = autopar.binary mul %sum, %s : tensor<f32>
    %bad = autopar.compare lt %loss, %s : tensor<f32> -> tensor<i1>
    %g = autopar.reduce sum %x dims = [0] : tensor<3x4xf32> -> tensor<4xf32>
    return %loss, %bad, %next, %g : tensor<f32>, tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----
// The labels of both blocks are counted before the first block divides by their number.
// COUNT: %[[T0:.*]] = autopar.slice %[[T:.*]] starts = [0, 0]
// COUNT: %[[C0:.*]] = autopar.reduce sum %{{.*}} -> tensor<i32>
// COUNT: %[[C1:.*]] = autopar.reduce sum %{{.*}} -> tensor<i32>
// COUNT: %[[C:.*]] = autopar.binary add %[[C0]], %[[C1]] : tensor<i32>
// COUNT: %[[S0:.*]] = autopar.reduce sum %{{.*}} -> tensor<f32>
// COUNT: %[[L:.*]] = autopar.convert %[[C]] : tensor<i32> -> tensor<f32>
// COUNT: %[[Q0:.*]] = autopar.binary div %[[S0]], %[[L]]
// COUNT: %[[S1:.*]] = autopar.reduce sum %{{.*}} -> tensor<f32>
// COUNT: %[[Q1:.*]] = autopar.binary div %[[S1]], %[[L]]
// COUNT: %[[LOSS:.*]] = autopar.binary add %[[Q0]], %[[Q1]]
// COUNT: return %[[LOSS]], %[[C]]
module attributes {autopar.recipe = #training.recipe<{loss = "masked_cross_entropy_mean", optimizer = {kind = "sgd"}, accumulation = 2 : i64}>} {
  func.func @step(%x: tensor<3xf32> {autopar.source = #autopar.input<"x">}, %t: tensor<3xi64> {autopar.source = #autopar.input<"labels">})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}, tensor<i32> {autopar.result = #autopar.output<"counted_labels", role = counted_labels>}) {
    %none = autopar.constant dense<-100> : tensor<3xi64>
    %is = autopar.compare ne %t, %none : tensor<3xi64> -> tensor<3xi1>
    %ones = autopar.convert %is : tensor<3xi1> -> tensor<3xi32>
    %count = autopar.reduce sum %ones dims = [0] : tensor<3xi32> -> tensor<i32>
    %sum = autopar.reduce sum %x dims = [0] : tensor<3xf32> -> tensor<f32>
    %all = autopar.convert %count : tensor<i32> -> tensor<f32>
    %loss = autopar.binary div %sum, %all : tensor<f32>
    return %loss, %count : tensor<f32>, tensor<i32>
  }
}
