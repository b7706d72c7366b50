// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-lower-to-gpu

// expected-error@+1 {{no autopar.mesh in the module: it was not planned}}
module attributes {autopar.target = "cuda"} {
}

// -----

// expected-error@+1 {{no function @step_0: the module was not partitioned and scheduled}}
module attributes {autopar.target = "cuda"} {
  autopar.mesh @mesh <["x"=1]>
}

// -----

module attributes {autopar.target = "cuda"} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() {
    %a = arith.constant 0 : i64 // expected-error {{is no call of the runtime; schedule the function first (autopar-form-kernels)}}
    return
  }
}
