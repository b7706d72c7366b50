// A kernel that writes over what it reads folds a whole row before it writes
// any of it: the scale's digit cuts rows of 8 in two parts, which no two pieces
// of the launch share.
// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 1024 : i64} {
    %x = autopar.buffer arena[0] : memref<5x3x2x4xf32>
    %s = autopar.buffer arena[512] : memref<3x2xf32>
    %y = autopar.buffer arena[0] : memref<5x3x2x4xf32>
    autopar.kernel ins(%x, %s) outs(%y) attributes {autopar.in_place = array<i64: 0>} : (memref<5x3x2x4xf32>, memref<3x2xf32>, memref<5x3x2x4xf32>) -> () {
    ^bb0(%a: tensor<5x3x2x4xf32>, %b: tensor<3x2xf32>):
      %n = autopar.normalize layer %a dims = [2, 3] epsilon = 1.0e-5 : tensor<5x3x2x4xf32>
      %w = autopar.broadcast %b dims = [1, 2] : tensor<3x2xf32> -> tensor<5x3x2x4xf32>
      %p = autopar.binary mul %n, %w : tensor<5x3x2x4xf32>
      autopar.yield %p : tensor<5x3x2x4xf32>
    }
    return
  }
}

// CHECK-LABEL: llvm.func internal @kernel_0_binary_body(
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.sqrt
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: llvm.store
// CHECK: llvm.return

// 5 x 3 rows.
// CHECK: %[[ROWS:.*]] = llvm.mlir.constant(15 : i64) : i64
// CHECK-NEXT: %[[GRAIN:.*]] = llvm.mlir.constant
// CHECK-NEXT: llvm.call @aprt_launch({{.*}}, %[[ROWS]], %[[GRAIN]])
