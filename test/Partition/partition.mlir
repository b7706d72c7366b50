// RUN: autopar-opt %s --autopar-partition | FileCheck %s

// Each kind of step, on sizes that split and on sizes that do not nest.

autopar.mesh @mesh #autopar.mesh<["a"=2, "b"=2]>

// CHECK-LABEL: func.func @slice_both
// CHECK: autopar.slice_block %{{.*}} mesh = @mesh axes = ["a", "b"] {dim = 0 : i64} : (tensor<5xf32>) -> tensor<2xf32>
func.func @slice_both(%x: tensor<5xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) -> tensor<5xf32> {
  %0 = autopar.reshard %x from <@mesh, [{}]> to <@mesh, [{"a", "b"}]> steps = [#autopar.reshard_step<slice_block ["a", "b"] dim = 0>] : tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Blocks of 3 over a are no whole blocks of 2 over a and b: the way leads over the whole.
// CHECK-LABEL: func.func @slice_uneven
// CHECK: autopar.all_gather %{{.*}} mesh = @mesh axes = ["a"] {dim = 0 : i64} : (tensor<3xf32>) -> tensor<5xf32>
// CHECK: autopar.slice_block %{{.*}} mesh = @mesh axes = ["a", "b"] {dim = 0 : i64} : (tensor<5xf32>) -> tensor<2xf32>
func.func @slice_uneven(%x: tensor<5xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"a"}]>}) -> tensor<5xf32> {
  %0 = autopar.reshard %x from <@mesh, [{"a"}]> to <@mesh, [{"a", "b"}]>
    steps = [#autopar.reshard_step<all_gather ["a"] dim = 0>, #autopar.reshard_step<slice_block ["a", "b"] dim = 0>] : tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @slice_even
// CHECK-NOT: all_gather
// CHECK: autopar.slice_block %{{.*}} axes = ["b"] {dim = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
func.func @slice_even(%x: tensor<8xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  %0 = autopar.reshard %x from <@mesh, [{"a"}]> to <@mesh, [{"a", "b"}]> steps = [#autopar.reshard_step<slice_block ["b"] dim = 0>] : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @keep_first
// CHECK: autopar.keep_first %{{.*}} axes = ["b"] {kind = #autopar<reduce_kind max>}
func.func @keep_first(%x: tensor<8xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = autopar.reshard %x from <@mesh, [{}]> to <@mesh, [{}], partial = {"b": max}> steps = [#autopar.reshard_step<keep_first ["b"] reduce = max>] : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @halo
// CHECK: autopar.halo %{{.*}} axes = ["a"]
// CHECK-SAME: dim = 0 : i64, fill = 1.000000e+00 : f64, offset = -1 : i64, size = 8 : i64, step = 4 : i64
// CHECK-SAME: (tensor<4xf32>) -> tensor<6xf32>
func.func @halo(%x: tensor<8xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  %0 = autopar.reshard %x from <@mesh, [{"a"}]>
    to <@mesh, [{"a", step = 4, offset = -1, length = 6}]> fill = [1.0]
    steps = [#autopar.reshard_step<halo ["a"] dim = 0>] : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Device 3 holds nothing of 5 elements over 4: the local type is one all the same.
// CHECK-LABEL: func.func @empty_blocks
// CHECK-SAME: tensor<2xf32> {autopar.global_type = tensor<5xf32>
// CHECK: autopar.mask %{{.*}} axes = ["a", "b"] {dim = 0 : i64, size = 5 : i64, value = 0.000000e+00 : f64}
// CHECK: autopar.reduce sum %{{.*}} dims = [0]
// CHECK-SAME: tensor<2xf32> -> tensor<f32>
func.func @empty_blocks(%x: tensor<5xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"a", "b"}]>}) -> tensor<f32> {
  %0 = autopar.reduce sum %x dims = [0] {autopar.strategy = #autopar.strategy<@mesh, {"a": split 0, "b": split 0}>} : tensor<5xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
