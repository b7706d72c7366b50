// A recipe is read where its attribute is made, and printed as it was given. Keys of a reference run are left out. One attribute is
// one recipe, however often it stands in a file.
// RUN: autopar-opt %s | FileCheck %s
// RUN: autopar-opt %s | autopar-opt | FileCheck %s

// CHECK: module attributes {
// CHECK-SAME: test.absent = #training.recipe<{clip_value, loss = "mse_mean", optimizer = {kind = "sgd"}}>
// CHECK-SAME: test.full = #training.recipe<{
// CHECK-SAME: accumulation = 2 : i64
// CHECK-SAME: groups = [{lr_scale = 5.000000e-01 : f64, parameters = ["*.bias"]}]
// CHECK-SAME: optimizer = {betas = [unit, 7.500000e-01], kind = "adamw"}
// CHECK-SAME: test.reference = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>
module attributes {
  test.absent = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, clip_value}>,
  test.full = #training.recipe<{loss = "mse_mean", optimizer = {kind = "adamw", betas = [unit, 0.75]}, accumulation = 2 : i64,
    groups = [{parameters = ["*.bias"], lr_scale = 0.5}], schedule = {kind = "cosine"}, steps = 9 : i64,
    evaluation = {metrics = ["loss"], every = 3 : i64}}>,
  test.reference = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, case = "mlp", opset = 17 : i64}>
} {
}
