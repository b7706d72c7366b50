// Best elements come one by one, each joined over the warp; running sums in
// shared memory: a segment per thread, then what is before it. Of rows that are
// longer than shared memory every other element is kept.
// CHECK-DAG: llvm.mlir.global internal @shared_kernel_2_scan_0() {{.*}} : !llvm.array<5000 x f32>
// CHECK-DAG: llvm.mlir.global internal @shared_kernel_3_top_k_0() {{.*}} : !llvm.array<3000 x i64>
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8388608 : i64} {
    %x = autopar.buffer arena[0] : memref<600x64xf32>
    %y = autopar.buffer arena[2097152] : memref<600x2xi64>
    %z = autopar.buffer arena[4194304] : memref<600x64xf32>
    autopar.kernel ins(%x) outs(%y) : (memref<600x64xf32>, memref<600x2xi64>) -> () {
    ^bb0(%x_: tensor<600x64xf32>):
      %t_ = autopar.top_k %x_ dim = 1 : tensor<600x64xf32> -> tensor<600x2xi64>
      autopar.yield %t_ : tensor<600x2xi64>
    }
    autopar.kernel ins(%x) outs(%z) : (memref<600x64xf32>, memref<600x64xf32>) -> () {
    ^bb0(%x_: tensor<600x64xf32>):
      %t_ = autopar.scan sum %x_ dim = 1 : tensor<600x64xf32>
      autopar.yield %t_ : tensor<600x64xf32>
    }
    %u = autopar.buffer arena[6291456] : memref<1x10000xf32>
    %v = autopar.buffer arena[7340032] : memref<1x10000xf32>
    %i = autopar.buffer arena[7864320] : memref<1x6000xi64>
    autopar.kernel ins(%u) outs(%v) : (memref<1x10000xf32>, memref<1x10000xf32>) -> () {
    ^bb0(%u_: tensor<1x10000xf32>):
      %t_ = autopar.scan sum %u_ dim = 1 : tensor<1x10000xf32>
      autopar.yield %t_ : tensor<1x10000xf32>
    }
    autopar.kernel ins(%u) outs(%i) : (memref<1x10000xf32>, memref<1x6000xi64>) -> () {
    ^bb0(%u_: tensor<1x10000xf32>):
      %t_ = autopar.top_k %u_ dim = 1 : tensor<1x10000xf32> -> tensor<1x6000xi64>
      autopar.yield %t_ : tensor<1x6000xi64>
    }
    return
  }
}

// CHECK: gpu.func @kernel_0_top_k({{.*}}known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 150, 1, 1>
// CHECK: scf.for
// CHECK: gpu.shuffle xor
// CHECK: scf.if
// CHECK-NEXT: llvm.store {{.*}} : i64, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> i64
// CHECK: gpu.func @kernel_1_scan(
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[TOTAL:.*]] = scf.for
// CHECK: llvm.store %[[TOTAL]], {{.*}} !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK-NOT: scf.for
// CHECK-COUNT-5: arith.select
// CHECK: scf.for
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr{{$}}
// CHECK: gpu.func @kernel_2_scan(
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: scf.for
// CHECK: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK: gpu.func @kernel_3_top_k(
// CHECK: gpu.return
