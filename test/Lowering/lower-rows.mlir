// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8192 : i64} {
    %a = autopar.buffer arena[0] : memref<8x6xf32>
    %c = autopar.buffer arena[1024] : memref<8x6xf32>
    %s = autopar.buffer arena[2048] : memref<8xf32>
    %all = autopar.buffer arena[3072] : memref<1x48xf32>
    autopar.kernel ins(%a) outs(%c) : (memref<8x6xf32>, memref<8x6xf32>) -> () {
    ^bb0(%x: tensor<8x6xf32>):
      %p = autopar.softmax %x dim = 1 : tensor<8x6xf32>
      autopar.yield %p : tensor<8x6xf32>
    }
    autopar.kernel ins(%a) outs(%s, %c) : (memref<8x6xf32>, memref<8xf32>, memref<8x6xf32>) -> () {
    ^bb0(%x: tensor<8x6xf32>):
      %m = autopar.reduce max %x dims = [1] : tensor<8x6xf32> -> tensor<8xf32>
      %w = autopar.broadcast %m dims = [0] : tensor<8xf32> -> tensor<8x6xf32>
      %d = autopar.binary sub %x, %w : tensor<8x6xf32>
      autopar.yield %m, %d : tensor<8xf32>, tensor<8x6xf32>
    }
    autopar.kernel ins(%all) outs(%all) : (memref<1x48xf32>, memref<1x48xf32>) -> () {
    ^bb0(%x: tensor<1x48xf32>):
      %n = autopar.normalize rms %x dims = [1] epsilon = 1.0e-5 : tensor<1x48xf32>
      autopar.yield %n : tensor<1x48xf32>
    }
    return
  }
}

// Per row: the maximum, then exponentials kept on the stack while they are
// summed, then the quotient, which makes no exponential again.
// CHECK-LABEL: llvm.func internal @kernel_0_softmax_body(
// CHECK: %[[STACK:.*]] = llvm.alloca {{.*}} x f32
// CHECK: scf.for
// CHECK: %[[MAX:.*]] = scf.for
// CHECK: llvm.fcmp "ogt" {{.*}}fastmath<nnan, nsz>
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: arith.subf %{{.*}}, %[[MAX]]
// CHECK: math.exp
// CHECK: llvm.store {{.*}}
// CHECK: arith.addf {{.*}} fastmath<reassoc,nsz,contract>
// CHECK: arith.divf %{{.*}}, %[[SUM]]
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: llvm.return

// A row output is written once per row, before the full one.
// CHECK-LABEL: llvm.func internal @kernel_1_binary_body(
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[TOP:.*]] = scf.for
// CHECK: %[[PLACE:.*]] = llvm.getelementptr inbounds %arg1[%[[ROW]]]
// CHECK: llvm.store %[[TOP]], %[[PLACE]]
// CHECK: scf.for
// CHECK: llvm.store

// A reduction over everything is one piece of work: 1 iteration is launched.
// CHECK-LABEL: llvm.func internal @stage_0_step(
// CHECK: llvm.mlir.addressof @kernel_2_normalize
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: llvm.call @aprt_launch({{.*}}, %[[ONE]], %{{.*}})
