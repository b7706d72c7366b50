// A warp per short row: each element is read once, sums go by shuffles.
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8388608 : i64} {
    %x = autopar.buffer arena[0] : memref<1024x128xf32>
    %y = autopar.buffer arena[2097152] : memref<1024x128xf32>
    autopar.kernel ins(%x) outs(%y) : (memref<1024x128xf32>, memref<1024x128xf32>) -> () {
    ^bb0(%x_: tensor<1024x128xf32>):
      %t_ = autopar.softmax %x_ dim = 1 : tensor<1024x128xf32>
      autopar.yield %t_ : tensor<1024x128xf32>
    }
    return
  }
}

// CHECK-NOT: llvm.mlir.global
// CHECK: gpu.func @kernel_0_softmax({{.*}}known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 256, 1, 1>
// CHECK-COUNT-4: llvm.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: llvm.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: llvm.load
// CHECK-NOT: gpu.barrier
// CHECK-COUNT-4: llvm.store
