// Where the output is stored over the input, all threads of a row have read it before
// one writes, and those without an element of a long row take none again; and there are no tiles, whose ends read elements twice.
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 9388608 : i64} {
    %x = autopar.buffer arena[0] : memref<600x2048xf32>
    %y = autopar.buffer arena[0] : memref<600x2048xf32>
    %a = autopar.buffer arena[6291456] : memref<64x64xf32>
    %c = autopar.buffer arena[6291456] : memref<64x64xf32>
    %d = autopar.buffer arena[7340032] : memref<64x64xf32>
    autopar.kernel ins(%x) outs(%y) attributes {autopar.in_place = array<i64: 0>} : (memref<600x2048xf32>, memref<600x2048xf32>) -> () {
    ^bb0(%x_: tensor<600x2048xf32>):
      %t_ = autopar.softmax %x_ dim = 1 : tensor<600x2048xf32>
      autopar.yield %t_ : tensor<600x2048xf32>
    }
    autopar.kernel ins(%a, %d) outs(%c) attributes {autopar.in_place = array<i64: 0, -1>} : (memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) -> () {
    ^bb0(%a_: tensor<64x64xf32>, %d_: tensor<64x64xf32>):
      %t_ = autopar.transpose %d_ perm = [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
      %s_ = autopar.binary add %a_, %t_ : tensor<64x64xf32>
      autopar.yield %s_ : tensor<64x64xf32>
    }
    %e = autopar.buffer arena[8388608] : memref<3x20001xf32>
    %f = autopar.buffer arena[8388608] : memref<3x20001xf32>
    autopar.kernel ins(%e) outs(%f) attributes {autopar.in_place = array<i64: 0>} : (memref<3x20001xf32>, memref<3x20001xf32>) -> () {
    ^bb0(%e_: tensor<3x20001xf32>):
      %t_ = autopar.softmax %e_ dim = 1 : tensor<3x20001xf32>
      autopar.yield %t_ : tensor<3x20001xf32>
    }
    return
  }
}

// CHECK: gpu.func @kernel_0_softmax(%{{[a-z0-9]+}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}) kernel
// CHECK: math.exp
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr{{$}}
// CHECK: gpu.func @kernel_1_binary(
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
// CHECK: gpu.func @kernel_2_softmax(
// CHECK: %[[LEFT:.*]] = arith.subi %c21024_i64
// CHECK: %[[TURNS:.*]] = arith.divui %[[LEFT]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TURNS]] step
// CHECK-NOT: scf.if
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr{{$}}
// CHECK: gpu.return
