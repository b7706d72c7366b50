// Functions of math come from libdevice; who lacks it is told what to install.
// RUN: env AUTOPAR_LIBDEVICE=/nowhere/libdevice.bc not autopar-opt %s --autopar-lower-to-gpu-pipeline --autopar-print-ptx 2>&1 | FileCheck %s

// CHECK: error: AUTOPAR_LIBDEVICE names no file: /nowhere/libdevice.bc

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 1024 : i64} {
    %x = autopar.buffer arena[0] : memref<32xf32>
    autopar.kernel ins(%x) outs(%x) : (memref<32xf32>, memref<32xf32>) -> () {
    ^bb0(%a: tensor<32xf32>):
      %e = autopar.unary exp %a : tensor<32xf32> -> tensor<32xf32>
      autopar.yield %e : tensor<32xf32>
    }
    return
  }
}
