// RUN: autopar-opt %s -cse | FileCheck %s

autopar.mesh @mesh #autopar.mesh<["x"=2]>

// Equal collectives on tensors are one.
// CHECK-LABEL: func @collectives
// CHECK-NEXT: %[[A:.*]] = autopar.all_reduce
// CHECK-NEXT: return %[[A]], %[[A]]
func.func @collectives(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = autopar.all_reduce %x mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Messages are not.
// CHECK-LABEL: func @messages
// CHECK-COUNT-2: autopar.recv
// CHECK-COUNT-2: autopar.send
func.func @messages() {
  %0 = autopar.recv channel = 0 from 0 : () -> tensor<4xf32>
  %1 = autopar.recv channel = 0 from 0 : () -> tensor<4xf32>
  autopar.send %0 channel = 1 to 1 : tensor<4xf32>
  autopar.send %0 channel = 1 to 1 : tensor<4xf32>
  return
}

// Neither are writes.
// CHECK-LABEL: func @writes
// CHECK-COUNT-2: autopar.all_reduce
// CHECK-COUNT-2: autopar.kernel
func.func @writes() {
  %0 = autopar.buffer arena[0] : memref<4xf32>
  %1 = autopar.buffer arena[64] : memref<4xf32>
  autopar.all_reduce %0 outs %1 mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  autopar.all_reduce %0 outs %1 mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  autopar.kernel ins(%0) outs(%1) : (memref<4xf32>, memref<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    autopar.yield %a : tensor<4xf32>
  }
  autopar.kernel ins(%0) outs(%1) : (memref<4xf32>, memref<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    autopar.yield %a : tensor<4xf32>
  }
  return
}
