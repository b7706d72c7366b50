// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-interpret

func.func @step(%a: tensor<2xi64>) -> tensor<2xi64> {
  // expected-error @below {{the interpreter does not know this op}}
  %0 = builtin.unrealized_conversion_cast %a : tensor<2xi64> to tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// expected-error @below {{there is no function to run}}
module {}

// -----

func.func @step() {
  return
}
// expected-error @below {{stage has a second step function; the first is @step}}
func.func @other() {
  return
}

// -----

// expected-error @below {{a partitioned module needs an autopar.mesh}}
module {
  func.func @step_0() attributes {autopar.stage = 0 : i64} {
    return
  }
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step_0() attributes {autopar.stage = 0 : i64} {
  // expected-error @below {{nothing was sent over channel 3 by an earlier stage}}
  %0 = autopar.recv channel = 3 from 1 : () -> tensor<2xi64>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{argument 0 (a) has type 'tensor<3xi64>', which is not its sharding's block of 'tensor<4xi64>'}}
func.func @step_0(%a: tensor<3xi64> {autopar.source = #autopar.input<"a">, autopar.sharding = #autopar.sharding<@mesh, [{"x"}]>,
                                     autopar.global_type = tensor<4xi64>}) attributes {autopar.stage = 0 : i64} {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 4 : i64, autopar.arguments = [], autopar.results = []} {
  %0 = autopar.buffer arena[0] : memref<2xf32>
  // expected-error @below {{writes outside its memory at arena[0]}}
  autopar.kernel ins() outs(%0) : (memref<2xf32>) -> () {
    %1 = autopar.constant dense<1.0> : tensor<2xf32>
    autopar.yield %1 : tensor<2xf32>
  }
  return
}
