// RUN: autopar-opt %s --autopar-pack-weights --autopar-lower-to-cpu | FileCheck %s

// Steps read the setup value packed: its source goes when it is made, it goes when it is packed. The bias is the runtime's to
// load; the embedding, read by a kernel as it is, stays and is packed for nobody.
#whole = #autopar.sharding<@mesh, [{}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #whole, global_type = tensor<8x4xf32>, type = tensor<8x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #whole, global_type = tensor<4x8xf32>, type = tensor<4x8xf32>>,
    #autopar.persistent<what = #autopar.parameter<"b", "m.onnx", offset = 128, length = 64>, sharding = #whole, global_type = tensor<2x8xf32>, type = tensor<2x8xf32>>,
    #autopar.persistent<what = #autopar.parameter<"e", "m.onnx", offset = 192, length = 128>, sharding = #whole, global_type = tensor<8x4xf32>, type = tensor<8x4xf32>>]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @setup_0() attributes {autopar.arena_bytes = 0 : i64} {
    %w = autopar.buffer persistent[0] : memref<8x4xf32>
    %t = autopar.buffer persistent[1] : memref<4x8xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<8x4xf32>, memref<4x8xf32>) -> () {
    ^bb0(%0: tensor<8x4xf32>):
      %1 = autopar.transpose %0 perm = [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
      autopar.yield %1 : tensor<4x8xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.arena_bytes = 4096 : i64} {
    %x = autopar.buffer arena[0] : memref<2x4xf32>
    %t = autopar.buffer persistent[1] : memref<4x8xf32>
    %y = autopar.buffer arena[512] : memref<2x8xf32>
    autopar.kernel ins(%x, %t) outs(%y) library <gemm, a = 0, b = 1> : (memref<2x4xf32>, memref<4x8xf32>, memref<2x8xf32>) -> () {
    ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
      autopar.yield %2 : tensor<2x8xf32>
    }
    %b = autopar.buffer persistent[2] : memref<2x8xf32>
    %z = autopar.buffer arena[1024] : memref<2x8xf32>
    autopar.kernel ins(%y, %b) outs(%z) : (memref<2x8xf32>, memref<2x8xf32>, memref<2x8xf32>) -> () {
    ^bb0(%0: tensor<2x8xf32>, %1: tensor<2x8xf32>):
      %2 = autopar.binary mul %0, %1 : tensor<2x8xf32>
      autopar.yield %2 : tensor<2x8xf32>
    }
    %e = autopar.buffer persistent[3] : memref<8x4xf32>
    %u = autopar.buffer arena[1536] : memref<8x4xf32>
    autopar.kernel ins(%e) outs(%u) : (memref<8x4xf32>, memref<8x4xf32>) -> () {
    ^bb0(%0: tensor<8x4xf32>):
      %1 = autopar.unary exp %0 : tensor<8x4xf32> -> tensor<8x4xf32>
      autopar.yield %1 : tensor<8x4xf32>
    }
    %v = autopar.buffer arena[2048] : memref<2x4xf32>
    autopar.kernel ins(%z, %e) outs(%v) library <gemm, a = 0, b = 1> : (memref<2x8xf32>, memref<8x4xf32>, memref<2x4xf32>) -> () {
    ^bb0(%0: tensor<2x8xf32>, %1: tensor<8x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
      autopar.yield %2 : tensor<2x4xf32>
    }
    return
  }
}

// CHECK-LABEL: llvm.func internal @stage_0_setup(
// CHECK: llvm.call @aprt_load(%arg0, %{{.*}})
// CHECK: llvm.call @aprt_load(%arg0, %{{.*}})
// CHECK: llvm.call @aprt_launch(
// CHECK: llvm.call @aprt_release(
// CHECK-NOT: llvm.call @aprt_load
// CHECK: llvm.call @aprt_gemm_pack(
// CHECK: llvm.call @aprt_release(
// CHECK-NOT: llvm.call @aprt_
// CHECK: llvm.return
