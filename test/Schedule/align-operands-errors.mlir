// RUN: autopar-opt %s --split-input-file --verify-diagnostics

func.func @step_0(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{autopar.padded is for matrix multiplications}}
  %0 = autopar.unary neg %x {autopar.padded} : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
