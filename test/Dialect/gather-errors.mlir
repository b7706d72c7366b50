// RUN: autopar-opt %s -verify-diagnostics -split-input-file

func.func @dim(%x: tensor<9x4xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{dim 2 is no dimension of a tensor of rank 2}}
  %0 = autopar.gather %x, %i dim = 2 : (tensor<9x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @result(%x: tensor<9x4xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{result must have type 'tensor<9x2xf32>'}}
  %0 = autopar.gather %x, %i dim = 1 : (tensor<9x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @offset_alone(%x: tensor<9x4xf32>, %i: tensor<2xi64>, %o: tensor<i64>) {
  // expected-error @below {{needs offset and size together or neither}}
  %0 = "autopar.gather"(%x, %i, %o) {dim = 0 : i64} : (tensor<9x4xf32>, tensor<2xi64>, tensor<i64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @nd_batch(%x: tensor<9x4xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{batch_dims 1 must leave indices their last dimension}}
  %0 = autopar.gather_nd %x, %i batch_dims = 1 : (tensor<9x4xf32>, tensor<2xi64>) -> tensor<9x4xf32>
  return
}

// -----

func.func @nd_depth(%x: tensor<9x4xf32>, %i: tensor<2x3xi64>) {
  // expected-error @below {{indices address 3 dimensions after 0 batch dimensions, data has 2}}
  %0 = autopar.gather_nd %x, %i batch_dims = 0 : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @nd_batch_sizes(%x: tensor<9x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{data and indices must agree in the batch dimensions}}
  %0 = autopar.gather_nd %x, %i batch_dims = 1 : (tensor<9x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @nd_result(%x: tensor<9x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{result must have type 'tensor<2x4xf32>'}}
  %0 = autopar.gather_nd %x, %i batch_dims = 0 : (tensor<9x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @elements_shape(%x: tensor<9x4xf32>, %i: tensor<2x3xi64>) {
  // expected-error @below {{data and indices must agree in all dimensions but dim}}
  %0 = autopar.gather_elements %x, %i dim = 0 : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @elements_offset(%x: tensor<9x4xf32>, %i: tensor<2x4xi64>, %o: tensor<i64>) {
  // expected-error @below {{needs offset and size together or neither}}
  %0 = "autopar.gather_elements"(%x, %i, %o) {dim = 0 : i64} : (tensor<9x4xf32>, tensor<2x4xi64>, tensor<i64>) -> tensor<2x4xf32>
  return
}

// -----
func.func @scatter_updates(%u: tensor<2x4xf32>, %i: tensor<3xi64>) -> tensor<9x4xf32> {
  // expected-error @+1 {{updates must have type 'tensor<3x4xf32>'}}
  %0 = autopar.scatter sum %u, %i dim = 0 : (tensor<2x4xf32>, tensor<3xi64>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----
func.func @scatter_dim(%u: tensor<2x4xf32>, %i: tensor<2xi64>) -> tensor<9x4xf32> {
  // expected-error @+1 {{dim 2 is no dimension of a tensor of rank 2}}
  %0 = autopar.scatter sum %u, %i dim = 2 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----
func.func @scatter_bools(%u: tensor<2x4xi1>, %i: tensor<2xi64>) -> tensor<9x4xi1> {
  // expected-error @+1 {{is not defined on i1}}
  %0 = autopar.scatter sum %u, %i dim = 0 : (tensor<2x4xi1>, tensor<2xi64>) -> tensor<9x4xi1>
  return %0 : tensor<9x4xi1>
}

// -----
func.func @scatter_offset(%u: tensor<2x4xf32>, %i: tensor<2xi64>, %o: tensor<i64>) -> tensor<9x4xf32> {
  // expected-error @+1 {{needs offset and size together or neither}}
  %0 = "autopar.scatter"(%u, %i, %o) {dim = 0 : i64, kind = #autopar<reduce_kind sum>} : (tensor<2x4xf32>, tensor<2xi64>, tensor<i64>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----
func.func @scatter_product(%u: tensor<2x4xf32>, %i: tensor<2xi64>) -> tensor<9x4xf32> {
  // expected-error @+1 {{has no kind prod}}
  %0 = autopar.scatter prod %u, %i dim = 0 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----
func.func @scatter_batch(%u: tensor<2x4xf32>, %i: tensor<3x4xi64>) -> tensor<2x9xf32> {
  // expected-error @+1 {{batched indices must begin with the dimensions of the result before dim}}
  %0 = autopar.scatter max %u, %i dim = 1 batched : (tensor<2x4xf32>, tensor<3x4xi64>) -> tensor<2x9xf32>
  return %0 : tensor<2x9xf32>
}

// -----
func.func @scatter_batched_updates(%u: tensor<2x5xf32>, %i: tensor<2x4xi64>) -> tensor<2x9xf32> {
  // expected-error @+1 {{updates must have type 'tensor<2x4xf32>'}}
  %0 = autopar.scatter max %u, %i dim = 1 batched : (tensor<2x5xf32>, tensor<2x4xi64>) -> tensor<2x9xf32>
  return %0 : tensor<2x9xf32>
}
