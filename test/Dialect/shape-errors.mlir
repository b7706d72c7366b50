// RUN: autopar-opt %s -verify-diagnostics -split-input-file

func.func @iota() {
  // expected-error @below {{dim 1 is no dimension of a tensor of rank 1}}
  %0 = autopar.iota dim = 1 : () -> tensor<4xi64>
  return
}

// -----

func.func @broadcast_count(%x: tensor<3xf32>) {
  // expected-error @below {{dims must have 1 entries, one per dimension, not 2}}
  %0 = autopar.broadcast %x dims = [0, 1] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_order(%x: tensor<2x3xf32>) {
  // expected-error @below {{dims must be strictly increasing}}
  %0 = autopar.broadcast %x dims = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_element(%x: tensor<3xf32>) {
  // expected-error @below {{must keep the element type}}
  %0 = autopar.broadcast %x dims = [1] : tensor<3xf32> -> tensor<2x3xf64>
  return
}

// -----

func.func @broadcast_size(%x: tensor<3xf32>) {
  // expected-error @below {{cannot stretch dimension 0 of size 3 to 2}}
  %0 = autopar.broadcast %x dims = [0] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape_element(%x: tensor<3xf32>) {
  // expected-error @below {{must keep the element type}}
  %0 = autopar.reshape %x : tensor<3xf32> -> tensor<3xi32>
  return
}

// -----

func.func @reshape_count(%x: tensor<3xf32>) {
  // expected-error @below {{must keep the number of elements, 3}}
  %0 = autopar.reshape %x : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<3x3xf32>) {
  // expected-error @below {{perm names dimension 0 twice}}
  %0 = autopar.transpose %x perm = [0, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose_dim(%x: tensor<3x3xf32>) {
  // expected-error @below {{perm entry 2 is no dimension of a tensor of rank 2}}
  %0 = autopar.transpose %x perm = [0, 2] : tensor<3x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose_result(%x: tensor<2x3xf32>) {
  // expected-error @below {{result must have type 'tensor<3x2xf32>'}}
  %0 = autopar.transpose %x perm = [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_step(%x: tensor<4xf32>) {
  // expected-error @below {{step of dimension 0 must not be 0}}
  %0 = autopar.slice %x starts = [0] steps = [0] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_range(%x: tensor<4xf32>) {
  // expected-error @below {{reads indices 1 to 5 of dimension 0 of size 4}}
  %0 = autopar.slice %x starts = [1] steps = [2] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @slice_rank(%x: tensor<4xf32>) {
  // expected-error @below {{must keep rank and element type}}
  %0 = autopar.slice %x starts = [0] steps = [1] : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4xf32>) {
  // expected-error @below {{low and high must not be negative; use autopar.slice to cut}}
  %0 = autopar.pad %x low = [-1] high = [0] value = 0.0 : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @pad_result(%x: tensor<4xf32>) {
  // expected-error @below {{result must have type 'tensor<7xf32>'}}
  %0 = autopar.pad %x low = [1] high = [2] value = 0.0 : tensor<4xf32> -> tensor<6xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @below {{needs at least one operand}}
  %0 = "autopar.concat"() {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_shapes(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @below {{operands must agree in element type and in all dimensions but 0}}
  %0 = autopar.concat %x, %y dim = 0 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @concat_result(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @below {{result must have type 'tensor<4x5xf32>'}}
  %0 = autopar.concat %x, %y dim = 1 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return
}
