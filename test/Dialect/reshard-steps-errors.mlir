// RUN: autopar-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{all_gather needs a dim}}
module attributes {test.step = #autopar.reshard_step<all_gather ["x"]>} {}

// -----

// expected-error @below {{all_reduce has no dim}}
module attributes {test.step = #autopar.reshard_step<all_reduce ["x"] dim = 0>} {}

// -----

// expected-error @below {{all_to_all needs a concat_dim}}
module attributes {test.step = #autopar.reshard_step<all_to_all ["x"] dim = 0>} {}

// -----

// expected-error @below {{halo has no concat_dim}}
module attributes {test.step = #autopar.reshard_step<halo ["x"] dim = 0 concat_dim = 1>} {}

// -----

// expected-error @below {{slice_block reduces nothing}}
module attributes {test.step = #autopar.reshard_step<slice_block ["x"] dim = 0 reduce = max>} {}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @other_axis(%a: tensor<4xf32>) {
  // expected-error @below {{step 0 is #autopar.reshard_step<slice_block ["y"] dim = 0>, which is no step on this mesh}}
  %0 = autopar.reshard %a from <@mesh, [{}]> to <@mesh, [{"x"}]> steps = [#autopar.reshard_step<slice_block ["y"] dim = 0>] : tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @nothing_to_gather(%a: tensor<4xf32>) {
  // expected-error @below {{step 0, #autopar.reshard_step<all_gather ["x"] dim = 0>, does not apply to a value that is sharded [{}]}}
  %0 = autopar.reshard %a from <@mesh, [{}]> to <@mesh, [{"x"}]> steps = [#autopar.reshard_step<all_gather ["x"] dim = 0>] : tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=2]>
func.func @not_minor(%a: tensor<4xf32>) {
  // expected-error @below {{step 0, #autopar.reshard_step<all_gather ["x"] dim = 0>, does not apply to a value that is sharded [{"x", "y"}]}}
  %0 = autopar.reshard %a from <@mesh, [{"x", "y"}]> to <@mesh, [{"y"}]> steps = [#autopar.reshard_step<all_gather ["x"] dim = 0>] : tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @other_reduction(%a: tensor<4xf32>) {
  // expected-error @below {{step 0, #autopar.reshard_step<all_reduce ["x"] reduce = max>, does not apply to a value that is sharded [{}], partial = {"x": sum}}}
  %0 = autopar.reshard %a from <@mesh, [{}], partial = {"x": sum}> to <@mesh, [{}]> steps = [#autopar.reshard_step<all_reduce ["x"] reduce = max>] : tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @on_from_interval(%a: tensor<4xf32>) {
  // expected-error @below {{does not apply to a value that is sharded}}
  %0 = autopar.reshard %a from <@mesh, [{"x", step = 2, offset = -1, length = 4}]> to <@mesh, [{}]> steps = [#autopar.reshard_step<all_gather ["x"] dim = 0>] : tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @elsewhere(%a: tensor<4x4xf32>) {
  // expected-error @below {{its steps lead to [{"x"}, {}], not to [{}, {"x"}]}}
  %0 = autopar.reshard %a from <@mesh, [{}, {}]> to <@mesh, [{}, {"x"}]> steps = [#autopar.reshard_step<slice_block ["x"] dim = 0>] : tensor<4x4xf32>
  return
}

// -----

func.func @no_lists(%a: tensor<4xf32>) {
  // expected-error @below {{autopar.operand_steps must hold one array of #autopar.reshard_step for each of 1 values}}
  %0 = autopar.unary tanh %a {autopar.operand_steps = []} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @no_steps(%a: tensor<4xf32>) {
  // expected-error @below {{autopar.result_steps must hold one array of #autopar.reshard_step for each of 1 values}}
  %0 = autopar.unary tanh %a {autopar.result_steps = [1]} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-error @below {{autopar.steps must be an array of #autopar.reshard_step}}
func.func @no_list(%a: tensor<4xf32>) -> (tensor<4xf32> {autopar.steps = 1}) {
  return %a : tensor<4xf32>
}
