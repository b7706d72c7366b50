// RUN: autopar-opt %s --autopar-narrow-slices --autopar-lower-to-cpu | FileCheck %s

// An input that is read where the host holds it has an address of its own in each
// micro-batch. Its rows are places in it, so that all slices are one kernel; a
// matrix that is an input is not packed.
#whole = #autopar.sharding<@mesh, [{}, {}]>
module attributes {autopar.model = "m.onnx", autopar.persistent = [[
    #autopar.persistent<what = #autopar.input<"x">, sharding = #whole, global_type = tensor<4x8xf32>, type = tensor<4x8xf32>>]]} {
  autopar.mesh @mesh <["data"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 256 : i64, autopar.arguments = [
      #autopar.port<what = #autopar.input<"x">, sharding = #whole, global_type = tensor<4x8xf32>, type = tensor<4x8xf32>,
       space = persistent, position = 0>]} {
    %x = autopar.buffer persistent[0] : memref<4x8xf32>
    %a = autopar.buffer arena[0] : memref<1x8xf32>
    %b = autopar.buffer arena[64] : memref<1x8xf32>
    %y = autopar.buffer arena[128] : memref<1x4xf32>
    autopar.kernel ins(%x) outs(%a) : (memref<4x8xf32>, memref<1x8xf32>) -> () {
    ^bb0(%0: tensor<4x8xf32>):
      %1 = autopar.slice %0 starts = [0, 0] steps = [1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
      %2 = autopar.unary exp %1 : tensor<1x8xf32> -> tensor<1x8xf32>
      autopar.yield %2 : tensor<1x8xf32>
    }
    autopar.kernel ins(%x) outs(%b) : (memref<4x8xf32>, memref<1x8xf32>) -> () {
    ^bb0(%0: tensor<4x8xf32>):
      %1 = autopar.slice %0 starts = [3, 0] steps = [1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
      %2 = autopar.unary exp %1 : tensor<1x8xf32> -> tensor<1x8xf32>
      autopar.yield %2 : tensor<1x8xf32>
    }
    autopar.kernel ins(%a, %x) outs(%y) library <gemm, a = 0, b = 1> : (memref<1x8xf32>, memref<4x8xf32>, memref<1x4xf32>) -> () {
    ^bb0(%0: tensor<1x8xf32>, %1: tensor<4x8xf32>):
      %2 = autopar.einsum "mk,nk->mn" %0, %1 : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
      autopar.yield %2 : tensor<1x4xf32>
    }
    return
  }
}

// CHECK-NOT: aprt_gemm_pack
// CHECK-LABEL: llvm.func internal @stage_0_step(%arg0: !llvm.ptr, %arg1: i64) -> i32
// CHECK: llvm.mlir.addressof @[[KERNEL:kernel_0_[a-z_]*]]
// CHECK: %[[FIRST:.*]] = llvm.call @aprt_persistent(%arg0, %{{.*}})
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.getelementptr %[[FIRST]][%[[BYTES]]]
// CHECK: llvm.mlir.addressof @[[KERNEL]]
// CHECK: %[[SECOND:.*]] = llvm.call @aprt_persistent(%arg0, %{{.*}})
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(96 : i64)
// CHECK: llvm.getelementptr %[[SECOND]][%[[BYTES]]]
// CHECK: %[[MATRIX:.*]] = llvm.call @aprt_persistent(
// CHECK: llvm.call @aprt_gemm(
// CHECK-SAME: %[[MATRIX]],
// CHECK-NOT: aprt_gemm_pack

// CHECK: \22inputs\22:[{
// CHECK-SAME: \22stages\22:[{\22persistent\22:0,\22stage\22:0}]
// CHECK-SAME: \22kind\22:\22input\22,\22name\22:\22x\22
