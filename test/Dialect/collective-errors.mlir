// RUN: autopar-opt %s -verify-diagnostics -split-input-file

func.func @mesh(%x: tensor<4xf32>) {
  // expected-error @below {{there is no autopar.mesh @mesh}}
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @axis(%x: tensor<4xf32>) {
  // expected-error @below {{mesh @mesh has no axis "y"}}
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["y"] {kind = #autopar<reduce_kind sum>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=4]>
func.func @axis_twice(%x: tensor<4xf32>) {
  // expected-error @below {{names axis "x.0" twice}}
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["x", "x.0"] {kind = #autopar<reduce_kind sum>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @ends(%x: memref<4xf32>) {
  // expected-error @below {{takes a tensor and gives a result, or takes a memref and `outs`}}
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @element(%x: tensor<4xf32>) {
  // expected-error @below {{must keep rank and element type}}
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @kept(%x: tensor<4x3xf32>) {
  // expected-error @below {{must keep the size of dimension 1}}
  %0 = autopar.all_gather %x mesh = @mesh axes = ["x"] {dim = 0 : i64} : (tensor<4x3xf32>) -> tensor<8x6xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @gather_block(%x: tensor<4xf32>) {
  // expected-error @below {{a block of 9 elements over 2 devices has 5 elements, not 4}}
  %0 = autopar.all_gather %x mesh = @mesh axes = ["x"] {dim = 0 : i64} : (tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @gather_dim(%x: tensor<4xf32>) {
  // expected-error @below {{dim 1 is no dimension of a tensor of rank 1}}
  %0 = autopar.all_gather %x mesh = @mesh axes = ["x"] {dim = 1 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @scatter_block(%x: tensor<5xf32>) {
  // expected-error @below {{a block of 5 elements over 2 devices has 3 elements, not 2}}
  %0 = autopar.reduce_scatter %x mesh = @mesh axes = ["x"] {dim = 0 : i64, kind = #autopar<reduce_kind sum>} : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @all_to_all_dims(%x: tensor<4x4xf32>) {
  // expected-error @below {{split_dim and concat_dim must differ}}
  %0 = autopar.all_to_all %x mesh = @mesh axes = ["x"] {split_dim = 0 : i64, concat_dim = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @all_to_all_blocks(%x: tensor<4x4xf32>) {
  // expected-error @below {{a block of 9 elements over 2 devices has 5 elements, not 4}}
  %0 = autopar.all_to_all %x mesh = @mesh axes = ["x"] {split_dim = 0 : i64, concat_dim = 1 : i64} : (tensor<4x4xf32>) -> tensor<2x9xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @halo_step(%x: tensor<4xf32>) {
  // expected-error @below {{step must not be negative}}
  %0 = autopar.halo %x mesh = @mesh axes = ["x"] {dim = 0 : i64, size = 7 : i64, step = -4 : i64, offset = 0 : i64, fill = 0.0 : f64} : (tensor<4xf32>) -> tensor<6xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @slice_block(%x: tensor<5xf32>) {
  // expected-error @below {{a block of 5 elements over 2 devices has 3 elements, not 2}}
  %0 = autopar.slice_block %x mesh = @mesh axes = ["x"] {dim = 0 : i64} : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @mask(%x: tensor<5xf32>) {
  // expected-error @below {{a block of 7 elements over 2 devices has 4 elements, not 5}}
  %0 = autopar.mask %x mesh = @mesh axes = ["x"] {dim = 0 : i64, size = 7 : i64, value = 0.0 : f64} : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @keep_first(%x: tensor<5xf32>) {
  // expected-error @below {{must keep rank and element type}}
  %0 = autopar.keep_first %x mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<5xf32>) -> tensor<5xf64>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @offset_block() {
  // expected-error @below {{block must not be negative}}
  %0 = autopar.block_offset mesh = @mesh axes = ["x"] block = -1 : tensor<i64>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @offset_scalar() {
  // expected-error @below {{result must be a scalar, tensor<i64>}}
  %0 = autopar.block_offset mesh = @mesh axes = ["x"] block = 1 : tensor<2xi64>
  return
}

// -----

func.func @recv() {
  // expected-error @below {{gives a result or takes `outs`}}
  autopar.recv channel = 0 from 0 : () -> ()
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=3]>
func.func @root(%x: tensor<4xf32>) {
  // expected-error @below {{root 3 is none of the 3 devices along its axes, 0 to 2}}
  %0 = autopar.collective_broadcast %x mesh = @mesh axes = ["y"] {root = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @root_negative(%x: tensor<4xf32>) {
  // expected-error @below {{root -1 is none of the 2 devices along its axes, 0 to 1}}
  %0 = autopar.collective_broadcast %x mesh = @mesh axes = ["x"] {root = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @broadcast_keeps(%x: tensor<4xf32>) {
  // expected-error @below {{must keep the size of dimension 0}}
  %0 = autopar.collective_broadcast %x mesh = @mesh axes = ["x"] {root = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  return
}
