// RUN: autopar-opt %s -verify-diagnostics -split-input-file

func.func @reduce_order(%x: tensor<2x3xf32>) {
  // expected-error @below {{dims must be strictly increasing}}
  %0 = autopar.reduce sum %x dims = [1, 0] : tensor<2x3xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_result(%x: tensor<2x3xf32>) {
  // expected-error @below {{result must have type 'tensor<2xf32>'}}
  %0 = autopar.reduce sum %x dims = [1] : tensor<2x3xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @scan(%x: tensor<2x3xf32>) {
  // expected-error @below {{dim -1 is no dimension of a tensor of rank 2}}
  %0 = autopar.scan sum %x dim = -1 : tensor<2x3xf32>
  return
}

// -----

func.func @softmax(%x: tensor<2x3xf32>) {
  // expected-error @below {{dim 2 is no dimension of a tensor of rank 2}}
  %0 = autopar.softmax %x dim = 2 : tensor<2x3xf32>
  return
}

// -----

func.func @normalize_none(%x: tensor<2x3xf32>) {
  // expected-error @below {{needs at least one dimension to normalize over}}
  %0 = autopar.normalize layer %x dims = [] epsilon = 0.0 : tensor<2x3xf32>
  return
}

// -----

func.func @normalize_dim(%x: tensor<2x3xf32>) {
  // expected-error @below {{dims 3 is no dimension of a tensor of rank 2}}
  %0 = autopar.normalize layer %x dims = [3] epsilon = 0.0 : tensor<2x3xf32>
  return
}

// -----

func.func @top_k_bools(%x: tensor<4xi1>) {
  // expected-error @below {{is not defined on i1}}
  %0 = autopar.top_k %x dim = 0 : tensor<4xi1> -> tensor<2xi64>
  return
}

// -----

func.func @top_k_count(%x: tensor<4xf32>) {
  // expected-error @below {{finds 5 of 4 elements}}
  %0 = autopar.top_k %x dim = 0 : tensor<4xf32> -> tensor<5xi64>
  return
}

// -----

func.func @top_k_shape(%x: tensor<4x3xf32>) {
  // expected-error @below {{operand and result must agree in all dimensions but dim}}
  %0 = autopar.top_k %x dim = 0 : tensor<4x3xf32> -> tensor<2x2xi64>
  return
}
