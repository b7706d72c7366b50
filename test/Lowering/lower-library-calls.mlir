// RUN: autopar-opt %s --autopar-pack-weights --autopar-lower-to-cpu | FileCheck %s

#replicated = #autopar.sharding<@mesh, [{}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "model.onnx", offset = 64, length = 128>, sharding = #replicated,
     global_type = tensor<4x8xf32>, type = tensor<4x8xf32>>,
    #autopar.persistent<what = #autopar.parameter<"f", "model.onnx", offset = 192, length = 432>, sharding = #autopar.sharding<@mesh, [{}, {}, {}, {}]>,
     global_type = tensor<4x3x3x3xf32>, type = tensor<4x3x3x3xf32>>]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8192 : i64} {
    %x = autopar.buffer arena[0] : memref<2x4xf32>
    %w = autopar.buffer persistent[0] : memref<4x8xf32>
    %b = autopar.buffer arena[128] : memref<8xf32>
    %r = autopar.buffer arena[256] : memref<2x8xf32>
    %y = autopar.buffer arena[512] : memref<2x8xf32>
    autopar.kernel ins(%x, %w, %b, %r) outs(%y)
      library <gemm, a = 0, b = 1, bias = 2, addend = 3, activation = gelu_erf>
        : (memref<2x4xf32>, memref<4x8xf32>, memref<8xf32>, memref<2x8xf32>, memref<2x8xf32>) -> () {
    ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>, %2: tensor<8xf32>, %3: tensor<2x8xf32>):
      %4 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
      %5 = autopar.broadcast %2 dims = [1] : tensor<8xf32> -> tensor<2x8xf32>
      %6 = autopar.binary add %4, %5 : tensor<2x8xf32>
      %7 = autopar.unary gelu_erf %6 : tensor<2x8xf32> -> tensor<2x8xf32>
      %8 = autopar.binary add %3, %7 : tensor<2x8xf32>
      autopar.yield %8 : tensor<2x8xf32>
    }
    %i = autopar.buffer arena[1024] : memref<1x3x8x8xf32>
    %f = autopar.buffer persistent[1] : memref<4x3x3x3xf32>
    %o = autopar.buffer arena[2048] : memref<1x4x8x8xf32>
    autopar.kernel ins(%i, %f) outs(%o)
      library <convolution, a = 0, b = 1, activation = relu>
        : (memref<1x3x8x8xf32>, memref<4x3x3x3xf32>, memref<1x4x8x8xf32>) -> () {
    ^bb0(%0: tensor<1x3x8x8xf32>, %1: tensor<4x3x3x3xf32>):
      %2 = autopar.convolution %0, %1 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
        : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
      %3 = autopar.unary relu %2 : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
      autopar.yield %3 : tensor<1x4x8x8xf32>
    }
    return
  }
}

// dtype, batch rank, batch, m, n, k, strides of a, b, c; bias, addend, gelu, slot 0.
// CHECK: llvm.mlir.global internal constant @words(dense<[11, 0, 0, 0, 0, 0, 2, 8, 4, 4, 1, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0, 1, 1, 2, 0,
// dtype, spatial rank, n, c, o, groups, in, window, out, ...; no bias, no addend,
// relu, slot 1, row-major, no gradient.
// CHECK-SAME: 11, 2, 1, 3, 4, 1, 8, 8, 1, 3, 3, 1, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0]>

// CHECK-LABEL: llvm.func internal @stage_0_step(
// CHECK: llvm.call @aprt_gemm(
// CHECK: llvm.call @aprt_conv(

// The largest weight first; each is there only while it is packed.
// CHECK-LABEL: llvm.func internal @stage_0_setup(
// CHECK: llvm.call @aprt_load(%arg0, %{{.*}})
// CHECK: llvm.call @aprt_conv_pack(
// CHECK: llvm.call @aprt_release(%arg0, %{{.*}})
// CHECK: llvm.call @aprt_load(%arg0, %{{.*}})
// CHECK: llvm.call @aprt_gemm_pack(
// CHECK: llvm.call @aprt_release(%arg0, %{{.*}})
// CHECK: \22libraries\22:[\22onednn\22]
// CHECK-SAME: \22name\22:\22w\22,\22offset\22:64
