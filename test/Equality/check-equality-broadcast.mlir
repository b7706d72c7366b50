// RUN: autopar-opt %s --split-input-file --autopar-check-equality | FileCheck %s

// After keep_first only the first device holds the value: a broadcast from it
// gives the value to all, over both axes at once or one after the other.

#whole = #autopar.sharding<@mesh, [{}, {}]>
autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=3]>

func.func private @step.global(%a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.unary neg %a {autopar.origin = array<i64: 0>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @step_0
// CHECK: autopar.collective_broadcast
func.func @step_0(
    %a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole}) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.keep_first %a mesh = @mesh axes = ["x", "y"] {kind = #autopar<reduce_kind sum>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = autopar.collective_broadcast %0 mesh = @mesh axes = ["x", "y"] {root = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = autopar.unary neg %1 {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {}>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

#whole = #autopar.sharding<@mesh, [{}, {}]>
autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=3]>

func.func private @step.global(%a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.unary neg %a {autopar.origin = array<i64: 0>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @step_0
// CHECK-COUNT-2: autopar.collective_broadcast
func.func @step_0(
    %a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole}) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.keep_first %a mesh = @mesh axes = ["x", "y"] {kind = #autopar<reduce_kind sum>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = autopar.collective_broadcast %0 mesh = @mesh axes = ["y"] {root = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = autopar.collective_broadcast %1 mesh = @mesh axes = ["x"] {root = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = autopar.unary neg %2 {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {}>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}

// -----

// Where all hold the same, any root will do; so it does along an axis that
// keep_first did not name.
#whole = #autopar.sharding<@mesh, [{}, {}]>
autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=3]>

func.func private @step.global(%a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.unary neg %a {autopar.origin = array<i64: 0>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @step_0
// CHECK-COUNT-2: autopar.collective_broadcast
func.func @step_0(
    %a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole}) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.collective_broadcast %a mesh = @mesh axes = ["x", "y"] {root = 4 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = autopar.keep_first %0 mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = autopar.collective_broadcast %1 mesh = @mesh axes = ["x", "y"] {root = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = autopar.unary neg %2 {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {}>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}
