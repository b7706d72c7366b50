// RUN: autopar-opt %s -verify-diagnostics -split-input-file

func.func @reshard_rank(%x: tensor<4x4xf32>) {
  // expected-error @below {{does not have 2 dimensions}}
  %0 = autopar.reshard %x from <@mesh, [{}]> to <@mesh, [{}, {}]> steps = [] : tensor<4x4xf32>
  return
}

// -----

func.func @reshard_mesh(%x: tensor<4xf32>) {
  // expected-error @below {{must stay on one mesh}}
  %0 = autopar.reshard %x from <@mesh, [{}]> to <@other, [{}]> steps = [] : tensor<4xf32>
  return
}

// -----

func.func @kernel_arguments(%x: tensor<4xf32>) {
  // expected-error @below {{body must have one argument per input}}
  %0 = autopar.kernel ins(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    %1 = autopar.constant dense<0.0> : tensor<4xf32>
    autopar.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_argument_type(%x: memref<4xf32>) {
  // expected-error @below {{body argument of type 'tensor<5xf32>' does not hold an input of type 'memref<4xf32>'}}
  autopar.kernel ins(%x) outs(%x) : (memref<4xf32>, memref<4xf32>) -> () {
  ^bb0(%a: tensor<5xf32>):
    %1 = autopar.constant dense<0.0> : tensor<4xf32>
    autopar.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_ends(%x: memref<4xf32>) {
  // expected-error @below {{has results or `outs`, not both}}
  %0 = autopar.kernel ins(%x) outs(%x) : (memref<4xf32>, memref<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    autopar.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_yield_count(%x: tensor<4xf32>) {
  // expected-error @below {{body must yield one tensor per result or output}}
  %0 = autopar.kernel ins(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    autopar.yield
  }
  return
}

// -----

func.func @kernel_yield_type(%x: tensor<4xf32>) {
  // expected-error @below {{yields 'tensor<4xf32>' for 'tensor<5xf32>'}}
  %0 = autopar.kernel ins(%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    autopar.yield %a : tensor<4xf32>
  }
  return
}
