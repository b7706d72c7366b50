// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s
// A long list of the best is the beginning of the sorted row: 128 elements in seven passes, each from one half of the buffers into
// the other.

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 65536 : i64} {
    %x = autopar.buffer arena[0] : memref<4x128xf32>
    %y = autopar.buffer arena[8192] : memref<4x100xi64>
    autopar.kernel ins(%x) outs(%y) : (memref<4x128xf32>, memref<4x100xi64>) -> () {
    ^bb0(%0: tensor<4x128xf32>):
      %p = autopar.top_k %0 dim = 1 : tensor<4x128xf32> -> tensor<4x100xi64>
      autopar.yield %p : tensor<4x100xi64>
    }
    return
  }
}

// CHECK-LABEL: llvm.func internal @kernel_0_top_k_body(
// CHECK-DAG: %[[SIZE:.*]] = arith.constant 128 : i64
// CHECK-DAG: %[[BOTH:.*]] = arith.constant 256 : i64
// CHECK-DAG: %[[PASSES:.*]] = arith.constant 7 : i64
// CHECK-DAG: llvm.alloca %[[BOTH]] x i64
// CHECK-DAG: llvm.alloca %[[BOTH]] x f32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[SIZE]]
// CHECK: scf.for %[[PASS:.*]] = %{{.*}} to %[[PASSES]]
// CHECK: arith.shli %{{.*}}, %[[PASS]]
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%[[LEFT:.*]] = %{{.*}}, %[[RIGHT:.*]] = %{{.*}}) -> (i64, i64)
// CHECK: arith.select %{{.*}}, %[[RIGHT]], %[[LEFT]]
