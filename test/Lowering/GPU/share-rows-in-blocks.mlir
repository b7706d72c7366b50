// A block of two warps per longer row; each thread keeps 16 elements of it.
// Warps meet in shared memory, in an array per fold.
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8388608 : i64} {
    %x = autopar.buffer arena[0] : memref<600x1024xf32>
    %y = autopar.buffer arena[4194304] : memref<600x1024xf32>
    autopar.kernel ins(%x) outs(%y) : (memref<600x1024xf32>, memref<600x1024xf32>) -> () {
    ^bb0(%x_: tensor<600x1024xf32>):
      %t_ = autopar.normalize layer %x_ dims = [1] epsilon = 1.0e-5 : tensor<600x1024xf32>
      autopar.yield %t_ : tensor<600x1024xf32>
    }
    return
  }
}

// CHECK: llvm.mlir.global internal @shared_kernel_0_normalize_1() {{.*}} : !llvm.array<2 x f32>
// CHECK: llvm.mlir.global internal @shared_kernel_0_normalize_0() {{.*}} : !llvm.array<2 x f32>
// CHECK: gpu.func @kernel_0_normalize({{.*}}known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 600, 1, 1>
// CHECK-COUNT-16: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: scf.if
// CHECK-NEXT: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK-COUNT-16: llvm.store {{.*}} : f32, !llvm.ptr{{$}}
