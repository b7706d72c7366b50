// RUN: autopar-opt %s -verify-diagnostics -split-input-file

func.func @float_function(%x: tensor<2xi32>) {
  // expected-error @below {{tanh needs a float operand}}
  %0 = autopar.unary tanh %x : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @integer_function(%x: tensor<2xf32>) {
  // expected-error @below {{not needs an integer operand}}
  %0 = autopar.unary not %x : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @signed_function(%x: tensor<2xi1>) {
  // expected-error @below {{neg is not defined on i1}}
  %0 = autopar.unary neg %x : tensor<2xi1> -> tensor<2xi1>
  return
}

// -----

func.func @result_element(%x: tensor<2xf32>) {
  // expected-error @below {{is_nan must give elements of type 'i1'}}
  %0 = autopar.unary is_nan %x : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @bitwise(%x: tensor<2xf32>) {
  // expected-error @below {{and needs integer operands}}
  %0 = autopar.binary and %x, %x : tensor<2xf32>
  return
}

// -----

func.func @arithmetic_on_bools(%x: tensor<2xi1>) {
  // expected-error @below {{add is not defined on i1; use and, or, xor, max, min}}
  %0 = autopar.binary add %x, %x : tensor<2xi1>
  return
}

// -----

func.func @shapes(%x: tensor<2xf32>, %c: tensor<3xi1>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = autopar.select %c, %x, %x : tensor<3xi1>, tensor<2xf32>
  return
}

// -----

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be statically shaped tensor}}
  %0 = autopar.unary tanh %x : tensor<?xf32> -> tensor<?xf32>
  return
}
