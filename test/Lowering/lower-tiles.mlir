// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 262144 : i64} {
    %a = autopar.buffer arena[0] : memref<100x70xf32>
    %b = autopar.buffer arena[65536] : memref<70x100xf32>
    %s = autopar.buffer arena[131072] : memref<70xf32>
    autopar.kernel ins(%a) outs(%b) : (memref<100x70xf32>, memref<70x100xf32>) -> () {
    ^bb0(%x: tensor<100x70xf32>):
      %t = autopar.transpose %x perm = [1, 0] : tensor<100x70xf32> -> tensor<70x100xf32>
      autopar.yield %t : tensor<70x100xf32>
    }
    autopar.kernel ins(%a) outs(%s) : (memref<100x70xf32>, memref<70xf32>) -> () {
    ^bb0(%x: tensor<100x70xf32>):
      %r = autopar.reduce sum %x dims = [0] : tensor<100x70xf32> -> tensor<70xf32>
      autopar.yield %r : tensor<70xf32>
    }
    return
  }
}

// A transpose goes in tiles of 16 columns and 16 rows; the last tiles of 70 and
// 100 move back to end with the dimension.
// CHECK-LABEL: llvm.func internal @kernel_0_transpose_body(
// CHECK-DAG: %[[LAST70:.*]] = arith.constant 54 : i64
// CHECK-DAG: %[[LAST100:.*]] = arith.constant 84 : i64
// CHECK: scf.for %[[COLUMNS:.*]] = %arg3 to %arg4
// CHECK: %[[LEFT:.*]] = arith.minsi {{.*}}, %[[LAST70]]
// CHECK: scf.for %[[ROWS:.*]] = %{{.*}} to %{{.*}}
// CHECK: %[[TOP:.*]] = arith.minsi {{.*}}, %[[LAST100]]
// CHECK: scf.for %[[COLUMN:.*]] =
// CHECK: arith.addi %[[LEFT]], %[[COLUMN]]
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: arith.addi %[[TOP]], %[[ROW]]
// CHECK: llvm.store

// The sums of a block of columns are a row on the stack, which every row of the
// operand is added to in order.
// CHECK-LABEL: llvm.func internal @kernel_1_reduce_body(
// CHECK: %[[SUMS:.*]] = llvm.alloca %{{.*}} x f32
// CHECK: scf.for %{{.*}} = %arg3 to %arg4
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: scf.for %[[COLUMN:.*]] =
// CHECK: %[[NEXT:.*]] = arith.addf
// CHECK: llvm.store %[[NEXT]]
// CHECK: scf.for
// CHECK: llvm.store
