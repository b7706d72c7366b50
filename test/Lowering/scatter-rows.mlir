// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s
// Each index is looked at once for a block of the result, whose sums are on the stack.

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 1048576 : i64} {
    %u = autopar.buffer arena[0] : memref<500x8xf32>
    %i = autopar.buffer arena[65536] : memref<500xi64>
    %t = autopar.buffer arena[131072] : memref<64x8xf32>
    %v = autopar.buffer arena[262144] : memref<2x500xf32>
    %p = autopar.buffer arena[524288] : memref<2x7xf32>
    autopar.kernel ins(%u, %i) outs(%t) : (memref<500x8xf32>, memref<500xi64>, memref<64x8xf32>) -> () {
    ^bb0(%x: tensor<500x8xf32>, %n: tensor<500xi64>):
      %s = autopar.scatter sum %x, %n dim = 0 : (tensor<500x8xf32>, tensor<500xi64>) -> tensor<64x8xf32>
      %d = autopar.binary add %s, %s : tensor<64x8xf32>
      autopar.yield %d : tensor<64x8xf32>
    }
    autopar.kernel ins(%v, %i) outs(%p) : (memref<2x500xf32>, memref<500xi64>, memref<2x7xf32>) -> () {
    ^bb0(%x: tensor<2x500xf32>, %n: tensor<500xi64>):
      %s = autopar.scatter sum %x, %n dim = 1 : (tensor<2x500xf32>, tensor<500xi64>) -> tensor<2x7xf32>
      autopar.yield %s : tensor<2x7xf32>
    }
    %w = autopar.buffer arena[589824] : memref<500xf32>
    %q = autopar.buffer arena[655360] : memref<20011xf32>
    autopar.kernel ins(%w, %i) outs(%q) : (memref<500xf32>, memref<500xi64>, memref<20011xf32>) -> () {
    ^bb0(%x: tensor<500xf32>, %n: tensor<500xi64>):
      %s = autopar.scatter sum %x, %n dim = 0 : (tensor<500xf32>, tensor<500xi64>) -> tensor<20011xf32>
      autopar.yield %s : tensor<20011xf32>
    }
    %j = autopar.buffer arena[786432] : memref<2x500xi64>
    %r = autopar.buffer arena[802816] : memref<2x64xf32>
    autopar.kernel ins(%v, %j) outs(%r) : (memref<2x500xf32>, memref<2x500xi64>, memref<2x64xf32>) -> () {
    ^bb0(%x: tensor<2x500xf32>, %n: tensor<2x500xi64>):
      %s = autopar.scatter max %x, %n dim = 1 batched : (tensor<2x500xf32>, tensor<2x500xi64>) -> tensor<2x64xf32>
      autopar.yield %s : tensor<2x64xf32>
    }
    return
  }
}

// Two blocks of 256 sums: zeros, all 500 indices, and of each the columns of its row that are in the block.
// CHECK-LABEL: llvm.func internal @kernel_0_binary_body(
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 256 : i64
// CHECK-DAG: %[[COUNT:.*]] = arith.constant 500 : i64
// CHECK-DAG: llvm.alloca %[[BLOCK]] x f32
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BLOCK]]
// CHECK: llvm.store
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
// CHECK: arith.minsi
// CHECK: %[[END:.*]] = arith.minsi
// CHECK-NEXT: %[[COLUMNS:.*]] = arith.subi %[[END]]
// CHECK-NEXT: %[[SOME:.*]] = arith.maxsi %[[COLUMNS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[SOME]]
// CHECK: arith.addf
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BLOCK]]
// CHECK: arith.addf

// Where a row is one element, all rows are one block.
// CHECK-LABEL: llvm.func internal @kernel_1_scatter_body(
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 7 : i64
// CHECK: llvm.alloca %[[ROWS]] x f32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
// CHECK: llvm.store

// A prime number of rows goes in blocks, too; the last one moves back.
// CHECK-LABEL: llvm.func internal @kernel_2_scatter_body(
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 16384 : i64
// CHECK-DAG: %[[LAST:.*]] = arith.constant 3627 : i64
// CHECK-DAG: llvm.alloca %[[BLOCK]] x f32
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BLOCK]]

// Each of two rows looks at its own 500 indices, and keeps the greatest.
// CHECK-LABEL: llvm.func internal @kernel_3_scatter_body(
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 64 : i64
// CHECK-DAG: %[[COUNT:.*]] = arith.constant 500 : i64
// CHECK-DAG: arith.constant 0xFF800000 : f32
// CHECK-DAG: llvm.alloca %[[BLOCK]] x f32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BLOCK]]
// CHECK: llvm.store
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
// CHECK: arith.maximumf
// CHECK: llvm.store
