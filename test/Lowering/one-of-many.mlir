// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s
// Of nine operands of one size, which one an element is of follows from its index: by a table of their addresses.

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8192 : i64} {
    %a = autopar.buffer arena[0] : memref<2x4xf32>
    %b = autopar.buffer arena[32] : memref<2x4xf32>
    %c = autopar.buffer arena[64] : memref<2x4xf32>
    %d = autopar.buffer arena[96] : memref<2x4xf32>
    %e = autopar.buffer arena[128] : memref<2x4xf32>
    %f = autopar.buffer arena[160] : memref<2x4xf32>
    %g = autopar.buffer arena[192] : memref<2x4xf32>
    %h = autopar.buffer arena[224] : memref<2x4xf32>
    %i = autopar.buffer arena[256] : memref<2x4xf32>
    %y = autopar.buffer arena[1024] : memref<2x36xf32>
    autopar.kernel ins(%a, %b, %c, %d, %e, %f, %g, %h, %i) outs(%y) : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x36xf32>) -> () {
    ^bb0(%0: tensor<2x4xf32>, %1: tensor<2x4xf32>, %2: tensor<2x4xf32>, %3: tensor<2x4xf32>, %4: tensor<2x4xf32>, %5: tensor<2x4xf32>, %6: tensor<2x4xf32>, %7: tensor<2x4xf32>, %8: tensor<2x4xf32>):
      %all = autopar.concat %0, %1, %2, %3, %4, %5, %6, %7, %8 dim = 1 : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x36xf32>
      autopar.yield %all : tensor<2x36xf32>
    }
    return
  }
}

// CHECK-LABEL: llvm.func internal @kernel_0_concat_body(
// CHECK-SAME: %[[A:arg0]]: !llvm.ptr {{.*}} %[[I:arg8]]: !llvm.ptr
// CHECK-DAG: %[[NINE:.*]] = arith.constant 9 : i64
// CHECK: %[[TABLE:.*]] = llvm.alloca %[[NINE]] x !llvm.ptr
// CHECK: llvm.store %[[A]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK: llvm.store %[[I]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK: %[[WHICH:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK-NOT: arith.select
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: llvm.return
