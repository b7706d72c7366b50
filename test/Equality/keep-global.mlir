// RUN: autopar-opt %s --autopar-keep-global | FileCheck %s

// CHECK-LABEL: func.func @setup
// CHECK: autopar.unary tanh %{{.*}} {autopar.origin = array<i64: 0>}
// CHECK-LABEL: func.func private @setup.global
// CHECK-SAME: attributes {autopar.kept = "setup"}
// CHECK: autopar.unary tanh %{{.*}} {autopar.origin = array<i64: 0>}
func.func @setup(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.unary tanh %a : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @step
// CHECK: autopar.unary exp %{{.*}} {autopar.origin = array<i64: 1>}
// CHECK: autopar.unary neg %{{.*}} {autopar.origin = array<i64: 2>}
// CHECK-LABEL: func.func private @step.global
func.func @step(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.unary exp %a : tensor<4xf32> -> tensor<4xf32>
  %1 = autopar.unary neg %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
