// RUN: autopar-opt %s --autopar-lower-to-cpu --canonicalize --cse | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 2097152 : i64} {
    %a = autopar.buffer arena[0] : memref<3x5000xf32>
    %r = autopar.buffer arena[1500032] : memref<3xf32>
    %b = autopar.buffer arena[0] : memref<300x1040xf32>
    %c = autopar.buffer arena[1600064] : memref<1040xf32>
    autopar.kernel ins(%a) outs(%r) : (memref<3x5000xf32>, memref<3xf32>) -> () {
    ^bb0(%x: tensor<3x5000xf32>):
      %s = autopar.reduce sum %x dims = [1] : tensor<3x5000xf32> -> tensor<3xf32>
      autopar.yield %s : tensor<3xf32>
    }
    autopar.kernel ins(%b) outs(%c) : (memref<300x1040xf32>, memref<1040xf32>) -> () {
    ^bb0(%x: tensor<300x1040xf32>):
      %s = autopar.reduce sum %x dims = [0] : tensor<300x1040xf32> -> tensor<1040xf32>
      autopar.yield %s : tensor<1040xf32>
    }
    autopar.kernel ins(%a) outs(%r) : (memref<3x5000xf32>, memref<3xf32>) -> () {
    ^bb0(%x: tensor<3x5000xf32>):
      %s = autopar.reduce prod %x dims = [1] : tensor<3x5000xf32> -> tensor<3xf32>
      autopar.yield %s : tensor<3xf32>
    }
    return
  }
}

// A sum of 5,000 floats is one of three sums, the last of them of 904.
// CHECK-LABEL: llvm.func internal @kernel_0_reduce_body(
// CHECK: scf.for %{{.*}} = %arg3 to %arg4
// CHECK: %[[ALL:.*]] = scf.for %[[BLOCK:.*]] = %c0_i64 to %c3_i64 step %c1_i64 iter_args(%[[SUM:.*]] = %[[ZERO:.*]])
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c2048_i64
// CHECK: %[[LEFT:.*]] = arith.subi %c5000_i64, %[[FIRST]]
// CHECK: %[[SIZE:.*]] = arith.minsi %[[LEFT]], %c2048_i64
// CHECK: %[[PART:.*]] = scf.for %{{.*}} = %c0_i64 to %[[SIZE]] step %c1_i64 iter_args(%{{.*}} = %[[ZERO]])
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[PART]]
// CHECK: scf.yield %[[NEXT]]

// 128 rows are added up before their sums are added to the columns'.
// CHECK-LABEL: llvm.func internal @kernel_1_reduce_body(
// CHECK-DAG: %[[SUMS:.*]] = llvm.alloca %c260_i64 x f32
// CHECK-DAG: %[[OWN:.*]] = llvm.alloca %c260_i64 x f32
// CHECK: scf.for %[[BLOCK:.*]] = %c0_i64 to %c3_i64
// CHECK: scf.for %{{.*}} = %c0_i64 to %c260_i64
// CHECK: arith.minsi %{{.*}}, %c128_i64
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %c0_i64 to %c260_i64
// CHECK: arith.addf
// CHECK: scf.for %{{.*}} = %c0_i64 to %c260_i64
// CHECK: arith.addf

// The product of a part alone may leave the range.
// CHECK-LABEL: llvm.func internal @kernel_2_reduce_body(
// CHECK: scf.for %{{.*}} = %c0_i64 to %c5000_i64
// CHECK-NOT: scf.for
// CHECK: llvm.return
