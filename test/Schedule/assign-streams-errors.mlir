// RUN: autopar-opt %s --autopar-assign-streams --verify-diagnostics --split-input-file

module attributes {autopar.target = "cuda"} {
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has an operand that is no autopar.buffer; run autopar-assign-buffers first}}
  return %x : tensor<4xf32>
}
}
