// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-lower-to-cpu

// expected-error@+1 {{no autopar.mesh in the module: it was not planned}}
module {
}

// -----

// expected-error@+1 {{no function @step_0: the module was not partitioned and scheduled}}
module {
  autopar.mesh @mesh <["x"=1]>
}

// -----

// expected-error@+1 {{parameter 'w' has no raw bytes in a file; compile with `autopar compile`}}
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "model.onnx.gz", offset = -1, length = 8>, sharding = #autopar.sharding<@mesh, [{}]>,
     global_type = tensor<2xf32>, type = tensor<2xf32>>]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() {
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() {
    %x = autopar.buffer arena[0] : memref<2xf32>
    autopar.kernel ins(%x) outs(%x) : (memref<2xf32>, memref<2xf32>) -> () {
    ^bb0(%0: tensor<2xf32>):
      // expected-error@+1 {{'autopar.all_reduce' op has no loops inside a kernel}}
      %1 = autopar.all_reduce %0 mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<2xf32>) -> tensor<2xf32>
      autopar.yield %1 : tensor<2xf32>
    }
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() {
    // expected-error@+1 {{'autopar.constant' op is no call of the runtime; schedule the function first (autopar-form-kernels)}}
    %0 = autopar.constant dense<1.0> : tensor<2xf32>
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() {
    %x = autopar.buffer arena[0] : memref<40000xf32>
    %y = autopar.buffer arena[160000] : memref<32769xi64>
    autopar.kernel ins(%x) outs(%y) : (memref<40000xf32>, memref<32769xi64>) -> () {
    ^bb0(%0: tensor<40000xf32>):
      // expected-error@unknown {{'autopar.top_k' op of node 'best' keeps 32769 elements of a row, more than the 32768 that fit on the stack; ask the model for a smaller k}}
      %1 = autopar.top_k %0 dim = 0 : tensor<40000xf32> -> tensor<32769xi64> loc("best")
      autopar.yield %1 : tensor<32769xi64>
    }
    return
  }
}
