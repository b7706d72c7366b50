// RUN: autopar-opt %s --autopar-interpret="steps=3" -o /dev/null | FileCheck %s

// An exponential average a' = a / 2 + x of x = 8: 8, 12, 14; and how often it was taken.
// CHECK: mean = dense<1.400000e+01> : tensor<2xf32>
// CHECK-NEXT: average = dense<1.400000e+01> : tensor<2xf32>
// CHECK-NEXT: count = dense<5> : tensor<i64>
// CHECK-NOT: =
func.func @step(
    %x: tensor<2xf32> {autopar.source = #autopar.input<"x">, autopar.given = dense<8.0> : tensor<2xf32>},
    %a: tensor<2xf32> {autopar.source = #autopar.state<"average", 0.0 : f32>},
    %n: tensor<i64> {autopar.source = #autopar.state<"count", 2 : i64>})
    -> (tensor<2xf32> {autopar.result = #autopar.output<"mean">},
        tensor<2xf32> {autopar.result = #autopar.next_state<"average">},
        tensor<i64> {autopar.result = #autopar.next_state<"count">}) {
  %half = autopar.constant dense<0.5> : tensor<f32>
  %one = autopar.constant dense<1> : tensor<i64>
  %0 = autopar.broadcast %half dims = [] : tensor<f32> -> tensor<2xf32>
  %1 = autopar.binary mul %a, %0 : tensor<2xf32>
  %2 = autopar.binary add %1, %x : tensor<2xf32>
  %3 = autopar.binary add %n, %one : tensor<i64>
  return %2, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<i64>
}
