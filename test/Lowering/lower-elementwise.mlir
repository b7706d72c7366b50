// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8192 : i64} {
    %a = autopar.buffer arena[0] : memref<8x6xf32>
    %b = autopar.buffer arena[256] : memref<8x6xf32>
    %bias = autopar.buffer arena[512] : memref<6xf32>
    %c = autopar.buffer arena[1024] : memref<8x6xf32>
    %t = autopar.buffer arena[2048] : memref<6x8xf32>
    // No index is cut: one flat loop over the launch range.
    autopar.kernel ins(%a, %b) outs(%c) : (memref<8x6xf32>, memref<8x6xf32>, memref<8x6xf32>) -> () {
    ^bb0(%x: tensor<8x6xf32>, %y: tensor<8x6xf32>):
      %s = autopar.binary add %x, %y : tensor<8x6xf32>
      %r = autopar.unary relu %s : tensor<8x6xf32> -> tensor<8x6xf32>
      autopar.yield %r : tensor<8x6xf32>
    }
    // The bias is cut off the rows: rows outside, columns inside.
    autopar.kernel ins(%a, %bias) outs(%c) : (memref<8x6xf32>, memref<6xf32>, memref<8x6xf32>) -> () {
    ^bb0(%x: tensor<8x6xf32>, %y: tensor<6xf32>):
      %w = autopar.broadcast %y dims = [1] : tensor<6xf32> -> tensor<8x6xf32>
      %s = autopar.binary mul %x, %w : tensor<8x6xf32>
      autopar.yield %s : tensor<8x6xf32>
    }
    // The same body on other buffers is the same function; in place, another.
    autopar.kernel ins(%b, %bias) outs(%c) : (memref<8x6xf32>, memref<6xf32>, memref<8x6xf32>) -> () {
    ^bb0(%x: tensor<8x6xf32>, %y: tensor<6xf32>):
      %w = autopar.broadcast %y dims = [1] : tensor<6xf32> -> tensor<8x6xf32>
      %s = autopar.binary mul %x, %w : tensor<8x6xf32>
      autopar.yield %s : tensor<8x6xf32>
    }
    autopar.kernel ins(%c, %bias) outs(%c) : (memref<8x6xf32>, memref<6xf32>, memref<8x6xf32>) -> () {
    ^bb0(%x: tensor<8x6xf32>, %y: tensor<6xf32>):
      %w = autopar.broadcast %y dims = [1] : tensor<6xf32> -> tensor<8x6xf32>
      %s = autopar.binary mul %x, %w : tensor<8x6xf32>
      autopar.yield %s : tensor<8x6xf32>
    }
    return
  }
}

// CHECK-LABEL: llvm.func internal @kernel_0_unary_body(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr {llvm.noalias}, %[[B:.*]]: !llvm.ptr {llvm.noalias}, %[[C:.*]]: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]]
// CHECK-NOT: arith.divui
// CHECK: llvm.getelementptr inbounds %[[A]][%[[I]]]
// CHECK: arith.addf {{.*}} fastmath<nsz,contract>
// CHECK: arith.cmpf olt
// CHECK: llvm.getelementptr inbounds %[[C]][%[[I]]]
// CHECK: llvm.store

// CHECK-LABEL: llvm.func internal @kernel_1_binary_body(
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to
// CHECK: arith.muli %[[ROW]], %{{.*}} overflow<nsw>
// CHECK: scf.for %[[COLUMN:.*]] =
// CHECK: llvm.getelementptr inbounds %arg1[%[[COLUMN]]]

// Three operands, two places.
// CHECK-LABEL: llvm.func internal @kernel_2_binary_body(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64

// CHECK-LABEL: llvm.func internal @stage_0_step(
// CHECK: llvm.mlir.addressof @kernel_0_unary
// CHECK: llvm.mlir.addressof @kernel_1_binary
// CHECK: llvm.mlir.addressof @kernel_1_binary
// CHECK: llvm.mlir.addressof @kernel_2_binary
