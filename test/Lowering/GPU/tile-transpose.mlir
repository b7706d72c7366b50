// A transpose goes through tiles in shared memory, one column longer than the
// tile; the 4 x 3 tiles at the ends repeat loads and leave out stores.
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8388608 : i64} {
    %x = autopar.buffer arena[0] : memref<100x70xf32>
    %y = autopar.buffer arena[65536] : memref<70x100xf32>
    autopar.kernel ins(%x) outs(%y) : (memref<100x70xf32>, memref<70x100xf32>) -> () {
    ^bb0(%x_: tensor<100x70xf32>):
      %t_ = autopar.transpose %x_ perm = [1, 0] : tensor<100x70xf32> -> tensor<70x100xf32>
      autopar.yield %t_ : tensor<70x100xf32>
    }
    return
  }
}

// CHECK: llvm.mlir.global internal @shared_kernel_0_transpose_0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1056 x f32>
// CHECK: gpu.func @kernel_0_transpose({{.*}}known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 12, 1, 1>
// CHECK-COUNT-4: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: scf.if
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr
