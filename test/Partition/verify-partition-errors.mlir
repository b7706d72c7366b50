// RUN: autopar-opt %s --autopar-verify-partition --split-input-file --verify-diagnostics

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{a global copy is left after partition: run autopar-check-equality}}
func.func private @step.global() attributes {autopar.kept = "step"} {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{has no autopar.stage: run autopar-split-stages}}
func.func @step() {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{argument 0 has no autopar.global_type}}
func.func @step_0(%a: tensor<2xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"x"}]>}) attributes {autopar.stage = 0 : i64} {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{argument 0 has type 'tensor<4xf32>'; its global type and sharding make 'tensor<2xf32>'}}
func.func @step_0(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"x"}]>, autopar.global_type = tensor<4xf32>})
    attributes {autopar.stage = 0 : i64} {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step_0(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>, autopar.global_type = tensor<4xf32>})
    attributes {autopar.stage = 0 : i64} {
  // expected-error @below {{a reshard is left after partition: run autopar-partition}}
  %0 = autopar.reshard %a from <@mesh, [{}]> to <@mesh, [{}]> steps = [] : tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step_0(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>, autopar.global_type = tensor<4xf32>})
    attributes {autopar.stage = 0 : i64} {
  // expected-error @below {{'autopar.strategy' is left after partition: run autopar-check-equality}}
  %0 = autopar.unary tanh %a {autopar.strategy = #autopar.strategy<@mesh, {}>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step_0(%a: tensor<4xf32> {autopar.source = #autopar.parameter<"a", "m.onnx", offset = 0, length = 16>,
    autopar.sharding = #autopar.sharding<@mesh, [{}]>, autopar.global_type = tensor<4xf32>})
    attributes {autopar.stage = 0 : i64} {
  %0 = autopar.unary tanh %a : tensor<4xf32> -> tensor<4xf32>
  // expected-error @below {{sends what depends on no input: each stage that reads it must compute it (autopar-split-stages)}}
  autopar.send %0 channel = 0 to 1 : tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step_0(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>, autopar.global_type = tensor<4xf32>})
    attributes {autopar.stage = 0 : i64} {
  // expected-error @below {{'autopar.task' is left after partition: run autopar-partition}}
  %0 = autopar.unary exp %a {autopar.task = #autopar.task<forward>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step_0(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>, autopar.global_type = tensor<4xf32>})
    attributes {autopar.stage = 0 : i64} {
  // expected-error @below {{'autopar.regathers' is left after partition: run autopar-insert-reshards}}
  %0 = autopar.unary exp %a {autopar.regathers = array<i64: 0>} : tensor<4xf32> -> tensor<4xf32>
  return
}
