// Sums of columns: neighbouring columns, more threads for each where there are
// few; those of a warp join first, then parts meet in shared memory. A sum of everything is one block's.
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8388608 : i64} {
    %x = autopar.buffer arena[0] : memref<512x64xf32>
    %y = autopar.buffer arena[2097152] : memref<64xf32>
    %w = autopar.buffer arena[3145728] : memref<f32>
    autopar.kernel ins(%x) outs(%y) : (memref<512x64xf32>, memref<64xf32>) -> () {
    ^bb0(%x_: tensor<512x64xf32>):
      %t_ = autopar.reduce sum %x_ dims = [0] : tensor<512x64xf32> -> tensor<64xf32>
      autopar.yield %t_ : tensor<64xf32>
    }
    autopar.kernel ins(%x) outs(%w) : (memref<512x64xf32>, memref<f32>) -> () {
    ^bb0(%x_: tensor<512x64xf32>):
      %t_ = autopar.reduce sum %x_ dims = [0, 1] : tensor<512x64xf32> -> tensor<f32>
      autopar.yield %t_ : tensor<f32>
    }
    return
  }
}

// CHECK-DAG: llvm.mlir.global internal @shared_kernel_0_reduce_0() {{.*}} : !llvm.array<256 x f32>
// CHECK-DAG: llvm.mlir.global internal @shared_kernel_1_reduce_0() {{.*}} : !llvm.array<32 x f32>
// CHECK: gpu.func @kernel_0_reduce({{.*}}known_block_size = array<i32: 1024, 1, 1>, known_grid_size = array<i32: 8, 1, 1>
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.barrier
// CHECK-COUNT-32: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: scf.if
// CHECK-NEXT: llvm.store {{.*}} : f32, !llvm.ptr{{$}}
// CHECK: gpu.func @kernel_1_reduce({{.*}}known_block_size = array<i32: 1024, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr{{$}}
