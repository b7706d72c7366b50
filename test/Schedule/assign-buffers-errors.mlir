// RUN: autopar-opt %s --autopar-form-kernels --autopar-assign-buffers --verify-diagnostics --split-input-file

// expected-error @+1 {{argument 0 does not say where it comes from: give it autopar.source}}
func.func @unknown_source(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 is setup result 3, which the stage's setup does not have}}
func.func @step(%x: tensor<4xf32> {autopar.source = #autopar.setup_result<3>}) -> tensor<4xf32> {
  %0 = autopar.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
