// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s
// Where rows are contiguous, each place of the window goes over the outputs for which it is inside: nothing is clamped in the
// inner loop.

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 65536 : i64} {
    %x = autopar.buffer arena[0] : memref<1x3x20x40xf32>
    %y = autopar.buffer arena[32768] : memref<1x3x20x40xf32>
    autopar.kernel ins(%x) outs(%y) : (memref<1x3x20x40xf32>, memref<1x3x20x40xf32>) -> () {
    ^bb0(%0: tensor<1x3x20x40xf32>):
      %m = autopar.pool max %0 window = [3, 5] strides = [1, 1] dilations = [1, 1] low = [1, 2] high = [1, 2] : (tensor<1x3x20x40xf32>) -> tensor<1x3x20x40xf32>
      autopar.yield %m : tensor<1x3x20x40xf32>
    }
    return
  }
}

// CHECK-LABEL: llvm.func internal @kernel_0_pool_body(
// CHECK-DAG: %[[OUTPUTS:.*]] = arith.constant 40 : i64
// CHECK-DAG: %[[HEIGHT:.*]] = arith.constant 3 : i64
// CHECK-DAG: %[[WIDTH:.*]] = arith.constant 5 : i64
// CHECK-DAG: llvm.alloca %[[OUTPUTS]] x f32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[OUTPUTS]]
// CHECK: llvm.store
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[HEIGHT]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[WIDTH]]
// CHECK: %[[INSIDE:.*]] = arith.muli
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[INSIDE]]
// CHECK-NOT: {{arith.select|arith.maxsi|arith.minsi}}
// CHECK: arith.maximumf
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[OUTPUTS]]
