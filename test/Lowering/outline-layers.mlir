// RUN: autopar-opt %s --mlir-print-debuginfo=false --autopar-pack-weights --autopar-lower-to-cpu | FileCheck %s

// Layers of a matmul and an exponential that differ in weights and nodes: three
// in stage 0, after another call, and four in stage 1.
#whole = #autopar.sharding<@mesh, [{}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w0", "model.onnx", offset = 0, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.parameter<"w1", "model.onnx", offset = 64, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.parameter<"w2", "model.onnx", offset = 128, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>], [
    #autopar.persistent<what = #autopar.parameter<"w3", "model.onnx", offset = 192, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.parameter<"w4", "model.onnx", offset = 256, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.parameter<"w5", "model.onnx", offset = 320, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.parameter<"w6", "model.onnx", offset = 384, length = 64>, sharding = #whole, global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["data"=2]>
  func.func @step_0() attributes {autopar.arena_bytes = 128 : i64} {
    %x = autopar.buffer arena[0] : memref<4x4xf32>
    %y = autopar.buffer arena[64] : memref<4x4xf32>
    autopar.all_reduce %x outs %x mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
    %w0 = autopar.buffer persistent[0] : memref<4x4xf32>
    autopar.kernel ins(%x, %w0) outs(%y) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    } loc("layer0/matmul")
    autopar.kernel ins(%y) outs(%x) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary exp %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    } loc("layer0/exp")
    %w1 = autopar.buffer persistent[1] : memref<4x4xf32>
    autopar.kernel ins(%x, %w1) outs(%y) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    } loc("layer1/matmul")
    autopar.kernel ins(%y) outs(%x) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary exp %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    } loc("layer1/exp")
    %w2 = autopar.buffer persistent[2] : memref<4x4xf32>
    autopar.kernel ins(%x, %w2) outs(%y) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    } loc("layer2/matmul")
    autopar.kernel ins(%y) outs(%x) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary exp %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    } loc("layer2/exp")
    return
  }
  func.func @step_1() attributes {autopar.arena_bytes = 128 : i64} {
    %x = autopar.buffer arena[0] : memref<4x4xf32>
    %y = autopar.buffer arena[64] : memref<4x4xf32>
    %w0 = autopar.buffer persistent[0] : memref<4x4xf32>
    autopar.kernel ins(%x, %w0) outs(%y) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    } loc("layer3/matmul")
    autopar.kernel ins(%y) outs(%x) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary exp %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    } loc("layer3/exp")
    %w1 = autopar.buffer persistent[1] : memref<4x4xf32>
    autopar.kernel ins(%x, %w1) outs(%y) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    } loc("layer4/matmul")
    autopar.kernel ins(%y) outs(%x) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary exp %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    } loc("layer4/exp")
    %w2 = autopar.buffer persistent[2] : memref<4x4xf32>
    autopar.kernel ins(%x, %w2) outs(%y) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    } loc("layer5/matmul")
    autopar.kernel ins(%y) outs(%x) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary exp %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    } loc("layer5/exp")
    %w3 = autopar.buffer persistent[3] : memref<4x4xf32>
    autopar.kernel ins(%x, %w3) outs(%y) library <gemm, a = 0, b = 1> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    } loc("layer6/matmul")
    autopar.kernel ins(%y) outs(%x) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary exp %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    } loc("layer6/exp")
    return
  }
}

// A row per layer of the places that differ: the op, the descriptor (of the
// packed weight). Before, the same for loading: the weight, the op, the descriptor.
// CHECK: llvm.mlir.global internal constant @places_3(dense<[0, 7, 0, 1, 9, 31, 2, 11, 62, 3, 13, 93]>
// CHECK: llvm.mlir.global internal constant @places_2(dense<[7, 0, 9, 31, 11, 62, 13, 93]>
// CHECK: llvm.mlir.global internal constant @places_0(dense<[1, 0, 3, 31, 5, 62]>

// CHECK-LABEL: llvm.func internal @stage_0_step(
// CHECK: llvm.call @aprt_all_reduce(
// CHECK: llvm.br ^[[LOOP:bb[0-9]+]](
// CHECK: ^[[LOOP]](%[[LAYER:.*]]: i64):
// CHECK: %[[FIRST:.*]] = llvm.mul %[[LAYER]], %{{.*}} : i64
// CHECK: %[[PLACES:.*]] = llvm.getelementptr %{{.*}}[%[[FIRST]]]
// CHECK: llvm.call @repeat_0(%arg0, %arg1, %[[PLACES]])
// CHECK: llvm.icmp "ult"
// CHECK-NOT: llvm.call
// CHECK: llvm.return

// Ops are counted from the layer's first.
// CHECK-LABEL: llvm.func internal @repeat_0(%arg0: !llvm.ptr, %arg1: i64, %arg2: !llvm.ptr) -> i32
// CHECK: %[[OP:.*]] = llvm.load
// CHECK: llvm.call @aprt_gemm(
// CHECK: %[[NEXT:.*]] = llvm.add %[[OP]], %{{.*}} : i64
// CHECK: %[[NUMBER:.*]] = llvm.trunc %[[NEXT]]
// CHECK: llvm.call @aprt_launch(%arg0, %[[NUMBER]],

// Each weight is there as it is only while it is packed.
// CHECK-LABEL: llvm.func internal @repeat_1(
// CHECK: llvm.call @aprt_load(
// CHECK: llvm.call @aprt_gemm_pack(
// CHECK: llvm.call @aprt_release(

// Another stage uses the same functions.
// CHECK-LABEL: llvm.func internal @stage_1_step(
// CHECK: llvm.call @repeat_0(
// CHECK-NOT: llvm.call
// CHECK: llvm.return
