// RUN: autopar-opt %s --autopar-order-work --verify-diagnostics --split-input-file

func.func @no_kernels(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is outside of a kernel; run autopar-form-kernels first}}
  %0 = autopar.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 shares its memory with an argument or another result}}
func.func @shared_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
