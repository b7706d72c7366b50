// RUN: autopar-opt %s --autopar-insert-reshards --split-input-file --verify-diagnostics

// expected-error @below {{there is no autopar.mesh: plan the module first}}
module {
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]> // expected-note {{the first mesh is here}}
// expected-error @below {{a planned module has one mesh: remove this}}
autopar.mesh @other #autopar.mesh<["x"=2]>

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{argument 0 has no sharding: plan the module first}}
func.func @step(%a: tensor<4xf32>) {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
  // expected-error @below {{node '' has no autopar.strategy: plan the module first}}
  %0 = autopar.unary tanh %a : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
  // expected-error @below {{is not legal by the op's sharding rule: choose factors that may be split so}}
  %0 = autopar.unary tanh %a {autopar.strategy = #autopar.strategy<@mesh, {"x": split 7}>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
  // expected-error @below {{is not an op of a planned program: only compute ops and return are}}
  %0 = autopar.slice_block %a mesh = @mesh axes = ["x"] {dim = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
  // expected-error @below {{node '': the plan records no steps from #autopar.sharding<@mesh, [{}]> to #autopar.sharding<@mesh, [{"x"}]>: plan the module first}}
  %0 = autopar.unary tanh %a {autopar.strategy = #autopar.strategy<@mesh, {"x": split 0}>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step(%a: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
  // expected-error @below {{'autopar.reshard' op its steps lead to [{}], partial = {"x": sum}, not to [{"x"}]}}
  %0 = autopar.unary tanh %a {autopar.strategy = #autopar.strategy<@mesh, {"x": split 0}>,
    autopar.operand_steps = [[#autopar.reshard_step<keep_first ["x"]>]]} : tensor<4xf32> -> tensor<4xf32>
  return
}
