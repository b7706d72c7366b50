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

// -----

module attributes {autopar.target = "cuda"} {
func.func @no_order_of_channels() attributes {autopar.stage = 1 : i64} {
  %a = autopar.recv channel = 1 from 0 : () -> tensor<4xf32>
  // expected-error @+1 {{is over channel 0 but needs what channel 1 brings; number channels so that none needs a higher one}}
  autopar.send %a channel = 0 to 2 : tensor<4xf32>
  return
}
}
