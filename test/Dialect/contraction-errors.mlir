// RUN: autopar-opt %s -verify-diagnostics -split-input-file

func.func @equation(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{equation must read "LHS,RHS->RESULT"}}
  %0 = autopar.einsum "mk,kn" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @element(%a: tensor<2x3xf32>, %b: tensor<3x4xf64>) {
  // expected-error @below {{operands and result must have one element type}}
  %0 = autopar.einsum "mk,kn->mn" %a, %b : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @rank(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{'mka' does not have one letter per dimension of 'tensor<2x3xf32>'}}
  %0 = autopar.einsum "mka,kn->mn" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @letters(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{'m1' holds more than letters}}
  %0 = autopar.einsum "m1,kn->mn" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @twice(%a: tensor<2x2xf32>, %b: tensor<2x4xf32>) {
  // expected-error @below {{letter 'm' is twice in 'mm'}}
  %0 = autopar.einsum "mm,mn->mn" %a, %b : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @sizes(%a: tensor<2x3xf32>, %b: tensor<5x4xf32>) {
  // expected-error @below {{letter 'k' has sizes 3 and 5}}
  %0 = autopar.einsum "mk,kn->mn" %a, %b : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @lone_sum(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @below {{letter 'k' is in one term only; reduce or broadcast that dimension}}
  %0 = autopar.einsum "mk,mn->mn" %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @filter_rank(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{needs an input [n, c, spatial...] and a filter [o, c/groups, window...] of the same rank}}
  %0 = autopar.convolution %x, %w strides = [1] dilations = [1] low = [0] high = [0] groups = 1
      : (tensor<1x4x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @strides(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @below {{strides must have 1 entries, one per dimension, not 2}}
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1] low = [0] high = [0] groups = 1
      : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @positive(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @below {{window, strides and dilations must be positive}}
  %0 = autopar.convolution %x, %w strides = [0] dilations = [1] low = [0] high = [0] groups = 1
      : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @padding(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @below {{low and high must not be negative}}
  %0 = autopar.convolution %x, %w strides = [1] dilations = [1] low = [-1] high = [0] groups = 1
      : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @below {{groups = 2 does not fit an input of 4 channels and a filter of 6 output and 4 input channels}}
  %0 = autopar.convolution %x, %w strides = [1] dilations = [1] low = [0] high = [0] groups = 2
      : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @convolution_elements(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf64>) {
  // expected-error @below {{input and filter must have one element type}}
  %0 = autopar.convolution %x, %w strides = [1] dilations = [1] low = [0] high = [0] groups = 1
      : (tensor<1x4x8xf32>, tensor<6x4x3xf64>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @convolution_result(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @below {{result must have type 'tensor<1x6x4xf32>'}}
  %0 = autopar.convolution %x, %w strides = [2] dilations = [1] low = [1] high = [1] groups = 1
      : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x8xf32>
  return
}

// -----

func.func @pool_kind(%x: tensor<1x4x8xf32>) {
  // expected-error @below {{kind must be sum or max}}
  %0 = autopar.pool min %x window = [2] strides = [1] dilations = [1] low = [0] high = [0] : (tensor<1x4x8xf32>) -> tensor<1x4x7xf32>
  return
}

// -----

func.func @pool_rank(%x: tensor<1x4xf32>) {
  // expected-error @below {{needs an input [n, c, spatial...]}}
  %0 = autopar.pool max %x window = [] strides = [] dilations = [] low = [] high = [] : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}
