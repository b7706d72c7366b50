// Updates of a row: its warp finds the indices that mean it together, a bit for each in shared memory, and looks at updates
// only where one does. Few indices are each element's own.
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8388608 : i64} {
    %u = autopar.buffer arena[0] : memref<4096x64xf32>
    %i = autopar.buffer arena[1048576] : memref<4096xi64>
    %y = autopar.buffer arena[1081344] : memref<1000x64xf32>
    %v = autopar.buffer arena[2097152] : memref<8x64xf32>
    %j = autopar.buffer arena[2099200] : memref<8xi64>
    %z = autopar.buffer arena[2099264] : memref<1000x64xf32>
    autopar.kernel ins(%u, %i) outs(%y) attributes {autopar.op = "many"} : (memref<4096x64xf32>, memref<4096xi64>, memref<1000x64xf32>) -> () {
    ^bb0(%u_: tensor<4096x64xf32>, %i_: tensor<4096xi64>):
      %t_ = autopar.scatter sum %u_, %i_ dim = 0 : (tensor<4096x64xf32>, tensor<4096xi64>) -> tensor<1000x64xf32>
      autopar.yield %t_ : tensor<1000x64xf32>
    }
    autopar.kernel ins(%v, %j) outs(%z) attributes {autopar.op = "few"} : (memref<8x64xf32>, memref<8xi64>, memref<1000x64xf32>) -> () {
    ^bb0(%v_: tensor<8x64xf32>, %j_: tensor<8xi64>):
      %t_ = autopar.scatter sum %v_, %j_ dim = 0 : (tensor<8x64xf32>, tensor<8xi64>) -> tensor<1000x64xf32>
      autopar.yield %t_ : tensor<1000x64xf32>
    }
    %w = autopar.buffer arena[3145728] : memref<64x4096xf32>
    %k = autopar.buffer arena[4194304] : memref<64x4096xi64>
    %x = autopar.buffer arena[6291456] : memref<64x1000xf32>
    autopar.kernel ins(%w, %k) outs(%x) attributes {autopar.op = "own"} : (memref<64x4096xf32>, memref<64x4096xi64>, memref<64x1000xf32>) -> () {
    ^bb0(%w_: tensor<64x4096xf32>, %k_: tensor<64x4096xi64>):
      %t_ = autopar.scatter max %w_, %k_ dim = 1 batched : (tensor<64x4096xf32>, tensor<64x4096xi64>) -> tensor<64x1000xf32>
      autopar.yield %t_ : tensor<64x1000xf32>
    }
    return
  }
}

// CHECK: llvm.mlir.global internal @shared_kernel_0{{.*}} : !llvm.array<512 x i32>
// CHECK: gpu.func @kernel_0{{.*}}known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 250, 1, 1>
// CHECK: arith.shli
// CHECK: llvm.store {{.*}}<3>
// CHECK: gpu.shuffle xor
// CHECK: arith.shrui
// CHECK: gpu.func @kernel_1
// CHECK-NOT: arith.shli
// CHECK-NOT: gpu.barrier

// Of a batch, each element looks at the indices of its row, its threads at a part each.
// CHECK: gpu.func @kernel_2
// CHECK-NOT: arith.shli
// CHECK: arith.maximumf
// CHECK-NOT: arith.shli
