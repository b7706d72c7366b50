// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8192 : i64} {
    %e = autopar.buffer arena[0] : memref<0x6xf32>
    %f = autopar.buffer arena[64] : memref<0x6xf32>
    %s = autopar.buffer arena[128] : memref<6xf32>
    %a = autopar.buffer arena[192] : memref<6xf32>
    autopar.kernel ins(%e) outs(%f) : (memref<0x6xf32>, memref<0x6xf32>) -> () {
    ^bb0(%x: tensor<0x6xf32>):
      %y = autopar.unary exp %x : tensor<0x6xf32> -> tensor<0x6xf32>
      autopar.yield %y : tensor<0x6xf32>
    }
    autopar.kernel ins(%a, %e) outs(%s, %f) : (memref<6xf32>, memref<0x6xf32>, memref<6xf32>, memref<0x6xf32>) -> () {
    ^bb0(%x: tensor<6xf32>, %y: tensor<0x6xf32>):
      %n = autopar.unary neg %x : tensor<6xf32> -> tensor<6xf32>
      autopar.yield %n, %y : tensor<6xf32>, tensor<0x6xf32>
    }
    autopar.kernel ins(%e, %f) outs(%s) : (memref<0x6xf32>, memref<0x6xf32>, memref<6xf32>) -> () {
    ^bb0(%x: tensor<0x6xf32>, %y: tensor<0x6xf32>):
      %c = autopar.concat %x, %y dim = 0 : (tensor<0x6xf32>, tensor<0x6xf32>) -> tensor<0x6xf32>
      %r = autopar.reduce sum %c dims = [0] : tensor<0x6xf32> -> tensor<6xf32>
      autopar.yield %r : tensor<6xf32>
    }
    return
  }
}

// A kernel without elements is not launched, an output without any not stored.
// CHECK-NOT: exp
// CHECK-LABEL: llvm.func internal @kernel_0_unary_body(
// CHECK: llvm.store
// CHECK-NOT: llvm.store
// CHECK: llvm.return

// A sum over nothing reads nothing: one zero per column.
// CHECK-LABEL: llvm.func internal @kernel_1_reduce_body(
// CHECK-NOT: llvm.load
// CHECK: llvm.store
// CHECK: llvm.return
