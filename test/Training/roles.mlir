// States and outputs have roles, so that names of different roles are apart, in every form of the step and in the manifest.
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=data" --autopar-partition-pipeline --autopar-schedule-pipeline -o %t.mlir
// RUN: autopar-opt %t.mlir --autopar-interpret="against=%s steps=5" -o /dev/null | FileCheck %s
// RUN: autopar-opt %t.mlir --autopar-phase-lower | FileCheck %s --check-prefix=MANIFEST

// CHECK: 25 results equal

// MANIFEST: \22outputs\22:[
// MANIFEST-SAME: \22name\22:\22loss\22,\22role\22:\22loss\22
// MANIFEST-SAME: \22name\22:\22y\22,\22shape\22
// MANIFEST-SAME: \22persistent\22:
// MANIFEST-SAME: \22kind\22:\22state\22,\22name\22:\22w\22,\22shape\22
// MANIFEST-SAME: \22kind\22:\22state\22,\22name\22:\22w\22,\22role\22:\22optimizer\22
// MANIFEST-SAME: \22kind\22:\22state\22,\22name\22:\22w\22,\22role\22:\22random\22
func.func @step(
    %x: tensor<6xf32> {autopar.source = #autopar.input<"x">},
    %w: tensor<6xf32> {autopar.source = #autopar.state<"w", 1.0 : f64>},
    %m: tensor<6xf32> {autopar.source = #autopar.state<"w", 2.0 : f64, role = optimizer>},
    %n: tensor<i64> {autopar.source = #autopar.state<"w", 3 : i64, role = random>})
    -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>},
        tensor<6xf32> {autopar.result = #autopar.output<"y">},
        tensor<i64> {autopar.result = #autopar.next_state<"w", role = random>},
        tensor<6xf32> {autopar.result = #autopar.next_state<"w", role = optimizer>},
        tensor<6xf32> {autopar.result = #autopar.next_state<"w">}) {
  %one = autopar.constant dense<1> : tensor<i64>
  %next = autopar.binary add %n, %one : tensor<i64> loc("next")
  %y = autopar.binary mul %x, %w : tensor<6xf32> loc("y")
  %mn = autopar.binary add %m, %y : tensor<6xf32> loc("mn")
  %wn = autopar.binary sub %w, %mn : tensor<6xf32> loc("wn")
  %loss = autopar.reduce sum %y dims = [0] : tensor<6xf32> -> tensor<f32> loc("sum")
  return %loss, %y, %next, %mn, %wn : tensor<f32>, tensor<6xf32>, tensor<i64>, tensor<6xf32>, tensor<6xf32>
}
