// Best elements come one by one, each joined over the warp; running sums in
// shared memory: a segment per thread, then what is before it.
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
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr{{$}}
