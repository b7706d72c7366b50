// RUN: autopar-opt %s --autopar-split-stages --split-input-file --verify-diagnostics

// expected-error @below {{there is no @step}}
module {
  autopar.mesh @mesh #autopar.mesh<["x"=2]>
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{is neither @setup nor @step: a planned module holds these two only}}
func.func @main() {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step(%a: tensor<4xf32>) {
  // expected-error @below {{node '' is in stage 3, but autopar.stages is 1}}
  %0 = autopar.unary tanh %a {autopar.stage = 3 : i64} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

module attributes {autopar.stages = 2 : i64} {
autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step(%a: tensor<4xf32>) {
  // expected-note @below {{the value is made here}}
  %0 = autopar.unary tanh %a {autopar.stage = 1 : i64} : tensor<4xf32> -> tensor<4xf32>
  // expected-error @below {{node '' in stage 0 reads a value of stage 1: values flow to later stages only; move the node to a later stage}}
  %1 = autopar.unary exp %0 {autopar.stage = 0 : i64} : tensor<4xf32> -> tensor<4xf32>
  return
}
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{reads setup result 0, but @setup has 0 results}}
func.func @step(%a: tensor<4xf32> {autopar.source = #autopar.setup_result<0>}) -> tensor<4xf32> {
  %0 = autopar.unary tanh %a : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
