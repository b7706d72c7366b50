// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s
// What is reduced comes from another reduction: with the columns inside, that would be made again for each row.

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 65536 : i64} {
    %x = autopar.buffer arena[0] : memref<64x32xf32>
    %y = autopar.buffer arena[16384] : memref<32xf32>
    autopar.kernel ins(%x) outs(%y) : (memref<64x32xf32>, memref<32xf32>) -> () {
    ^bb0(%0: tensor<64x32xf32>):
      %m = autopar.reduce max %0 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
      %w = autopar.broadcast %m dims = [1] : tensor<32xf32> -> tensor<64x32xf32>
      %d = autopar.binary sub %0, %w : tensor<64x32xf32>
      %s = autopar.reduce sum %d dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
      autopar.yield %s : tensor<32xf32>
    }
    return
  }
}

// CHECK-LABEL: llvm.func internal @kernel_0_reduce_body(
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 64 : i64
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
// CHECK-NOT: scf.for
// CHECK: llvm.return
