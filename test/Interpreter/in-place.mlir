// RUN: autopar-opt %s --autopar-interpret -o /dev/null | FileCheck %s

// Kernels that write over what they read: each iteration reads what is there.

module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "model.onnx", offset = -1, length = 16>, type = tensor<2x2xf32>>]]} {
  // Each element is read before it is written, and a row is, too.
  // CHECK: same = dense<{{\[\[}}-0.000000e+00, -1.000000e+00], [-2.000000e+00, -3.000000e+00]]> : tensor<2x2xf32>
  // CHECK: rows = dense<5.000000e-01> : tensor<2x2xf32>
  // The second result reads the first one's bytes in another order: some are
  // negative already.
  // CHECK: first = dense<{{\[\[}}-0.000000e+00, -1.000000e+00], [-2.000000e+00, -3.000000e+00]]> : tensor<2x2xf32>
  // CHECK: second = dense<[0.000000e+00, -1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<4xf32>
  func.func @step() attributes {autopar.arena_bytes = 256 : i64, autopar.arguments = [], autopar.results = [
      #autopar.port<what = #autopar.output<"same">, type = tensor<2x2xf32>, space = arena, position = 0>,
      #autopar.port<what = #autopar.output<"rows">, type = tensor<2x2xf32>, space = arena, position = 64>,
      #autopar.port<what = #autopar.output<"first">, type = memref<2x2xf32, strided<[1, 2]>>, space = arena, position = 128>,
      #autopar.port<what = #autopar.output<"second">, type = tensor<4xf32>, space = arena, position = 192>]} {
    %a = autopar.buffer arena[0] : memref<2x2xf32>
    %b = autopar.buffer arena[64] : memref<2x2xf32>
    %c = autopar.buffer arena[128] : memref<2x2xf32, strided<[1, 2]>>
    %d = autopar.buffer arena[192] : memref<4xf32>
    autopar.kernel ins() outs(%a, %b, %c) : (memref<2x2xf32>, memref<2x2xf32>, memref<2x2xf32, strided<[1, 2]>>) -> () {
      %0 = autopar.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
      %1 = autopar.constant dense<7.0> : tensor<2x2xf32>
      autopar.yield %0, %1, %0 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
    }
    autopar.kernel ins(%a) outs(%a) : (memref<2x2xf32>, memref<2x2xf32>) -> () {
    ^bb0(%x: tensor<2x2xf32>):
      %0 = autopar.unary neg %x : tensor<2x2xf32> -> tensor<2x2xf32>
      autopar.yield %0 : tensor<2x2xf32>
    }
    autopar.kernel ins(%b) outs(%b) : (memref<2x2xf32>, memref<2x2xf32>) -> () {
    ^bb0(%x: tensor<2x2xf32>):
      %0 = autopar.softmax %x dim = 1 : tensor<2x2xf32>
      autopar.yield %0 : tensor<2x2xf32>
    }
    autopar.kernel ins(%c) outs(%c, %d) : (memref<2x2xf32, strided<[1, 2]>>, memref<2x2xf32, strided<[1, 2]>>, memref<4xf32>) -> () {
    ^bb0(%x: tensor<2x2xf32>):
      %0 = autopar.unary neg %x : tensor<2x2xf32> -> tensor<2x2xf32>
      %1 = autopar.reshape %x : tensor<2x2xf32> -> tensor<4xf32>
      autopar.yield %0, %1 : tensor<2x2xf32>, tensor<4xf32>
    }
    return
  }
}
