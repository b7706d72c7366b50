// RUN: autopar-opt %s | autopar-opt | FileCheck %s
// RUN: autopar-opt %s -mlir-print-op-generic | autopar-opt | FileCheck %s

// CHECK: autopar.mesh @mesh <["data"=2, "tensor"=4]>
autopar.mesh @mesh #autopar.mesh<["data"=2, "tensor"=4]>

// CHECK-LABEL: func @elementwise
func.func @elementwise(%x: tensor<2x3xf32>, %c: tensor<2x3xi1>) -> tensor<2x3xf32> {
  // CHECK: autopar.unary tanh %{{.*}} : tensor<2x3xf32> -> tensor<2x3xf32>
  %0 = autopar.unary tanh %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK: autopar.unary is_nan %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %1 = autopar.unary is_nan %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: autopar.binary add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %2 = autopar.binary add %0, %x : tensor<2x3xf32>
  // CHECK: autopar.compare lt %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %3 = autopar.compare lt %0, %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: autopar.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<2x3xf32>
  %4 = autopar.select %3, %0, %x : tensor<2x3xi1>, tensor<2x3xf32>
  // CHECK: autopar.convert %{{.*}} : tensor<2x3xf32> -> tensor<2x3xbf16>
  %5 = autopar.convert %4 : tensor<2x3xf32> -> tensor<2x3xbf16>
  return %4 : tensor<2x3xf32>
}

// CHECK-LABEL: func @sources
func.func @sources(%offset: tensor<i64>) {
  // CHECK: autopar.constant dense<1.000000e+00> : tensor<2xf32>
  %0 = autopar.constant dense<1.0> : tensor<2xf32>
  // CHECK: autopar.iota dim = 0 : () -> tensor<4xi64>
  %1 = autopar.iota dim = 0 : () -> tensor<4xi64>
  // CHECK: autopar.iota dim = 1 offset %{{.*}} : (tensor<i64>) -> tensor<4x3xf32>
  %2 = autopar.iota dim = 1 offset %offset : (tensor<i64>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: func @movement
func.func @movement(%x: tensor<6xf32>, %i: tensor<4xi64>, %n: tensor<5x2xi32>) {
  // CHECK: autopar.reshape %{{.*}} : tensor<6xf32> -> tensor<2x3xf32>
  %0 = autopar.reshape %x : tensor<6xf32> -> tensor<2x3xf32>
  // CHECK: autopar.broadcast %{{.*}} dims = [1, 2] : tensor<2x3xf32> -> tensor<4x2x3xf32>
  %1 = autopar.broadcast %0 dims = [1, 2] : tensor<2x3xf32> -> tensor<4x2x3xf32>
  // CHECK: autopar.transpose %{{.*}} perm = [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  %2 = autopar.transpose %1 perm = [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  // CHECK: autopar.slice %{{.*}} starts = [2, 0] steps = [-1, 1] : tensor<6x1xf32> -> tensor<2x1xf32>
  %3 = autopar.reshape %x : tensor<6xf32> -> tensor<6x1xf32>
  %4 = autopar.slice %3 starts = [2, 0] steps = [-1, 1] : tensor<6x1xf32> -> tensor<2x1xf32>
  // CHECK: autopar.pad %{{.*}} low = [1] high = [2] value = 5.000000e-01 : tensor<6xf32> -> tensor<9xf32>
  %5 = autopar.pad %x low = [1] high = [2] value = 0.5 : tensor<6xf32> -> tensor<9xf32>
  // CHECK: autopar.concat %{{.*}}, %{{.*}} dim = 0 : (tensor<6xf32>, tensor<9xf32>) -> tensor<15xf32>
  %6 = autopar.concat %x, %5 dim = 0 : (tensor<6xf32>, tensor<9xf32>) -> tensor<15xf32>
  // CHECK: autopar.gather %{{.*}}, %{{.*}} dim = 1 : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  %7 = autopar.gather %0, %i dim = 1 : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  // CHECK: autopar.gather_nd %{{.*}}, %{{.*}} batch_dims = 0 : (tensor<2x3xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  %8 = autopar.gather_nd %0, %n batch_dims = 0 : (tensor<2x3xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  // CHECK: autopar.top_k %{{.*}} dim = 1 : tensor<2x3xf32> -> tensor<2x2xi64>
  %9 = autopar.top_k %0 dim = 1 : tensor<2x3xf32> -> tensor<2x2xi64>
  // CHECK: autopar.top_k %{{.*}} dim = 0 smallest : tensor<2x3xf32> -> tensor<1x3xi64>
  %10 = autopar.top_k %0 dim = 0 smallest : tensor<2x3xf32> -> tensor<1x3xi64>
  // CHECK: autopar.gather_elements %{{.*}}, %{{.*}} dim = 1 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
  %11 = autopar.gather_elements %0, %9 dim = 1 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
  return
}

// CHECK-LABEL: func @split_gather
func.func @split_gather(%x: tensor<5x3xf32>, %i: tensor<4xi64>, %e: tensor<4x3xi64>) -> tensor<4x3xf32> {
  // CHECK: autopar.block_offset mesh = @mesh axes = ["data"] block = 5 : tensor<i64>
  %0 = autopar.block_offset mesh = @mesh axes = ["data"] block = 5 : tensor<i64>
  // CHECK: autopar.gather %{{.*}}, %{{.*}} offset %{{.*}} of 9 dim = 0 : (tensor<5x3xf32>, tensor<4xi64>, tensor<i64>) -> tensor<4x3xf32>
  %1 = autopar.gather %x, %i offset %0 of 9 dim = 0 : (tensor<5x3xf32>, tensor<4xi64>, tensor<i64>) -> tensor<4x3xf32>
  // CHECK: autopar.gather_elements %{{.*}}, %{{.*}} offset %{{.*}} of 9 dim = 0 : (tensor<5x3xf32>, tensor<4x3xi64>, tensor<i64>) -> tensor<4x3xf32>
  %2 = autopar.gather_elements %x, %e offset %0 of 9 dim = 0 : (tensor<5x3xf32>, tensor<4x3xi64>, tensor<i64>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: func @contractions
func.func @contractions(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>, %x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // CHECK: autopar.einsum "bmk,kn->bmn" %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %0 = autopar.einsum "bmk,kn->bmn" %a, %b : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: autopar.convolution %{{.*}}, %{{.*}} strides = [2, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 2 : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x8xf32>
  %1 = autopar.convolution %x, %w strides = [2, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 2
      : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x8xf32>
  // CHECK: autopar.pool max %{{.*}} window = [2, 2] strides = [2, 2] dilations = [1, 1] low = [0, 0] high = [0, 0] : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  %2 = autopar.pool max %x window = [2, 2] strides = [2, 2] dilations = [1, 1] low = [0, 0] high = [0, 0]
      : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  return
}

// CHECK-LABEL: func @reductions
func.func @reductions(%x: tensor<2x3x4xf32>) {
  // CHECK: autopar.reduce max %{{.*}} dims = [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  %0 = autopar.reduce max %x dims = [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  // CHECK: autopar.scan sum %{{.*}} dim = 1 exclusive reverse : tensor<2x3x4xf32>
  %1 = autopar.scan sum %x dim = 1 exclusive reverse : tensor<2x3x4xf32>
  // CHECK: autopar.softmax %{{.*}} dim = 2 : tensor<2x3x4xf32>
  %2 = autopar.softmax %x dim = 2 : tensor<2x3x4xf32>
  // CHECK: autopar.softmax %{{.*}} dim = 1 log : tensor<2x3x4xf32>
  %3 = autopar.softmax %x dim = 1 log : tensor<2x3x4xf32>
  // CHECK: autopar.normalize layer %{{.*}} dims = [1, 2] epsilon = {{.*}} : tensor<2x3x4xf32>
  %4 = autopar.normalize layer %x dims = [1, 2] epsilon = 1.0e-5 : tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func @planned
// CHECK-SAME: autopar.sharding = #autopar.sharding<@mesh, [{"data"}, {}]>
func.func @planned(%x: tensor<4x4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"data"}, {}]>}) -> tensor<4x4xf32> {
  // CHECK: autopar.unary relu %{{.*}} {autopar.shardings = [#autopar.sharding<@mesh, [{"data"}, {}], partial = {"tensor.0": max}>], autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor.0": pass 0}>}
  %0 = autopar.unary relu %x {autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor.0": pass 0}>,
      autopar.shardings = [#autopar.sharding<@mesh, [{"data"}, {}], partial = {"tensor.0": max}>]} : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK: autopar.reshard %{{.*}} from <@mesh, [{"data"}, {}], partial = {"tensor.0": max}> to <@mesh, [{"data", step = 2, offset = -1, length = 4}, {}]>
  // CHECK-SAME: steps = [#autopar.reshard_step<all_reduce ["tensor.0"] reduce = max>, #autopar.reshard_step<halo ["data"] dim = 0>] : tensor<4x4xf32>
  %1 = autopar.reshard %0 from <@mesh, [{"data"}, {}], partial = {"tensor.0": max}>
      to <@mesh, [{"data", step = 2, offset = -1, length = 4}, {}]>
      steps = [#autopar.reshard_step<all_reduce ["tensor.0"] reduce = max>, #autopar.reshard_step<halo ["data"] dim = 0>] : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func @collectives
func.func @collectives(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: autopar.all_reduce %{{.*}} mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: autopar.all_gather {{.*}} {dim = 0 : i64} : (tensor<4x3xf32>) -> tensor<7x3xf32>
  %1 = autopar.all_gather %0 mesh = @mesh axes = ["data"] {dim = 0 : i64} : (tensor<4x3xf32>) -> tensor<7x3xf32>
  // CHECK: autopar.reduce_scatter {{.*}} axes = ["tensor.0"]
  %2 = autopar.reduce_scatter %1 mesh = @mesh axes = ["tensor.0"] {dim = 0 : i64, kind = #autopar<reduce_kind sum>} : (tensor<7x3xf32>) -> tensor<4x3xf32>
  // CHECK: autopar.all_to_all
  %3 = autopar.all_to_all %2 mesh = @mesh axes = ["data"] {concat_dim = 1 : i64, split_dim = 0 : i64} : (tensor<4x3xf32>) -> tensor<2x6xf32>
  // CHECK: autopar.halo
  %4 = autopar.halo %2 mesh = @mesh axes = ["data"] {dim = 0 : i64, size = 7 : i64, step = 4 : i64, offset = -1 : i64, fill = 0.0 : f64} : (tensor<4x3xf32>) -> tensor<6x3xf32>
  // CHECK: autopar.collective_broadcast %{{.*}} mesh = @mesh axes = ["data", "tensor.0"] {root = 3 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %b = autopar.collective_broadcast %2 mesh = @mesh axes = ["data", "tensor.0"] {root = 3 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: autopar.slice_block
  %5 = autopar.slice_block %1 mesh = @mesh axes = ["data"] {dim = 0 : i64} : (tensor<7x3xf32>) -> tensor<4x3xf32>
  // CHECK: autopar.mask
  %6 = autopar.mask %5 mesh = @mesh axes = ["data"] {dim = 0 : i64, size = 7 : i64, value = 0.0 : f64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: autopar.keep_first
  %7 = autopar.keep_first %6 mesh = @mesh axes = ["tensor"] {kind = #autopar<reduce_kind sum>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: autopar.send %{{.*}} channel = 0 to 1 : tensor<4x3xf32>
  autopar.send %7 channel = 0 to 1 : tensor<4x3xf32>
  // CHECK: autopar.recv channel = 1 from 0 : () -> tensor<4x3xf32>
  %8 = autopar.recv channel = 1 from 0 : () -> tensor<4x3xf32>
  return %8 : tensor<4x3xf32>
}

// CHECK-LABEL: func @kernel_on_tensors
func.func @kernel_on_tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[R:.*]] = autopar.kernel ins(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>):
  // CHECK-NEXT: %[[V:.*]] = autopar.unary relu %[[A]]
  // CHECK-NEXT: autopar.yield %[[V]] : tensor<4xf32>
  %0 = autopar.kernel ins(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = autopar.unary relu %a : tensor<4xf32> -> tensor<4xf32>
    autopar.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @scheduled
func.func @scheduled() {
  // CHECK: autopar.buffer arena[4096] : memref<4xf32>
  %0 = autopar.buffer arena[4096] : memref<4xf32>
  // CHECK: autopar.buffer persistent[0] : memref<4xf32>
  %1 = autopar.buffer persistent[0] : memref<4xf32>
  %2 = autopar.buffer arena[0] : memref<f32>
  // CHECK: autopar.all_reduce %{{.*}} outs %{{.*}} mesh = @mesh axes = ["data"] {{.*}} : (memref<4xf32>, memref<4xf32>) -> ()
  autopar.all_reduce %0 outs %1 mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  // CHECK: autopar.recv outs %{{.*}} channel = 0 from 0 : (memref<4xf32>) -> ()
  autopar.recv outs %0 channel = 0 from 0 : (memref<4xf32>) -> ()
  // CHECK: autopar.kernel ins(%{{.*}}, %{{.*}}) outs(%{{.*}}) library <gemm, a = 0, b = 1> : (memref<4xf32>, memref<4xf32>, memref<f32>) -> ()
  autopar.kernel ins(%0, %1) outs(%2) library <gemm, a = 0, b = 1> : (memref<4xf32>, memref<4xf32>, memref<f32>) -> () {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %3 = autopar.einsum "k,k->" %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    autopar.yield %3 : tensor<f32>
  }
  autopar.send %0 channel = 0 to 1 : memref<4xf32>
  return
}
