// Calls of a step read constants packed; a GEMM reads one that other work needs as it is so too.
// RUN: autopar-opt %s --autopar-pack-weights | FileCheck %s

#whole = #autopar.sharding<@mesh, [{}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.parameter<"e", "m.onnx", offset = 64, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=1]>
  // @setup runs once: there is nothing to gain.
  // CHECK-LABEL: @setup_0
  // CHECK: library <gemm, a = 0, b = 1>
  func.func @setup_0() {
    %w = autopar.buffer persistent[0] : memref<4x4xf32>
    %s = autopar.buffer arena[0] : memref<4x4xf32>
    autopar.kernel ins(%w, %w) outs(%s) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    }
    return
  }
  // CHECK-LABEL: @step_0
  // Another epilogue reads the same form.
  // CHECK: library <gemm, a = 0, b = 1, packed = 0>
  // CHECK: library <gemm, a = 0, b = 1, activation = relu, packed = 0>
  // CHECK: library <gemm, a = 0, b = 1>
  // CHECK: library <gemm, a = 0, b = 1>
  func.func @step_0() {
    %x = autopar.buffer arena[0] : memref<4x4xf32>
    %w = autopar.buffer persistent[0] : memref<4x4xf32>
    %e = autopar.buffer persistent[1] : memref<4x4xf32>
    %y = autopar.buffer arena[64] : memref<4x4xf32>
    %z = autopar.buffer arena[128] : memref<4x4xf32>
    %u = autopar.buffer arena[192] : memref<4x4xf32>
    %v = autopar.buffer arena[256] : memref<4x4xf32>
    autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    }
    autopar.kernel ins(%y, %w) outs(%z) library <gemm, a = 0, b = 1, activation = relu> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %3 = autopar.unary relu %2 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %3 : tensor<4x4xf32>
    }
    autopar.kernel ins(%y, %e) outs(%z) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    }
    autopar.kernel ins(%y, %z) outs(%v) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    }
    autopar.kernel ins(%e) outs(%u) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}
