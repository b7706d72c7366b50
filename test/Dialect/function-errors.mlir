// RUN: autopar-opt %s --split-input-file --verify-diagnostics

func.func @no_inputs(%v: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has a derivative but no inputs to derive by}}
  %0 = autopar.function %v of () derivative = "softplus" : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @no_derivative(%v: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has parameters of no derivative}}
  %0 = autopar.function %v of (%v) parameters = {alpha = 1.0 : f64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @other_type(%v: tensor<2xf32>) -> tensor<2xf64> {
  // expected-error @+1 {{failed to verify that all of {value, result} have same type}}
  %0 = autopar.function %v of (%v) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}
