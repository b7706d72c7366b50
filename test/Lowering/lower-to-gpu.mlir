// RUN: autopar-opt %s --autopar-pack-weights --autopar-lower-to-gpu | FileCheck %s
// RUN: autopar-opt %s --autopar-lower-to-gpu-pipeline | FileCheck %s --check-prefix=NVVM

// The host program is that of any device: kernels are launched by number, work of other streams is ordered by events.
module attributes {autopar.target = "emulated", autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "model.onnx", offset = 0, length = 64>, sharding = #autopar.sharding<@mesh, [{}, {}]>,
     global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["data"=2]>
  func.func @step_0() attributes {autopar.arena_bytes = 512 : i64} {
    %w = autopar.buffer persistent[0] : memref<4x4xf32>
    %a = autopar.buffer arena[0] : memref<8x4xf32>
    %b = autopar.buffer arena[128] : memref<8x4xf32>
    %c = autopar.buffer arena[256] : memref<8x4xf32>
    %d = autopar.buffer arena[384] : memref<8x4xf32>
    autopar.kernel ins(%a, %w) outs(%b) library <gemm, a = 0, b = 1> : (memref<8x4xf32>, memref<4x4xf32>, memref<8x4xf32>) -> () {
    ^bb0(%0: tensor<8x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      autopar.yield %2 : tensor<8x4xf32>
    }
    autopar.kernel ins(%b) outs(%b) : (memref<8x4xf32>, memref<8x4xf32>) -> () {
    ^bb0(%0: tensor<8x4xf32>):
      %1 = autopar.unary exp %0 : tensor<8x4xf32> -> tensor<8x4xf32>
      autopar.yield %1 : tensor<8x4xf32>
    }
    autopar.record_event 0 on 0
    autopar.wait_event 0 on 1
    autopar.all_reduce %b outs %c mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>, autopar.stream = 1 : i64}
      : (memref<8x4xf32>, memref<8x4xf32>) -> ()
    autopar.record_event 1 on 1
    autopar.wait_event 1 on 0
    autopar.kernel ins(%c) outs(%d) : (memref<8x4xf32>, memref<8x4xf32>) -> () {
    ^bb0(%0: tensor<8x4xf32>):
      %1 = autopar.mask %0 mesh = @mesh axes = ["data"] {dim = 0 : i64, size = 15 : i64, value = 0.0 : f64}
        : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %2 = autopar.unary exp %1 : tensor<8x4xf32> -> tensor<8x4xf32>
      autopar.yield %2 : tensor<8x4xf32>
    }
    // The same body and places alike: the same kernel.
    autopar.kernel ins(%d) outs(%d) : (memref<8x4xf32>, memref<8x4xf32>) -> () {
    ^bb0(%0: tensor<8x4xf32>):
      %1 = autopar.unary exp %0 : tensor<8x4xf32> -> tensor<8x4xf32>
      autopar.yield %1 : tensor<8x4xf32>
    }
    return
  }
}

// CHECK: gpu.module @kernels attributes {autopar.kernels = [#autopar.grid_kernel<name = "kernel_0_unary", threads = {{[0-9]+}}, shared_bytes = 0, scalars = 0, bytes = [128], access = [3]>
// CHECK: gpu.func @kernel_0_unary(
// CHECK: gpu.func @kernel_1_unary(
// CHECK-NOT: gpu.func

// CHECK-LABEL: llvm.func internal @stage_0_step(
// CHECK: llvm.call @aprt_gemm(%arg0, %[[GEMM:[0-9]+]],
// CHECK: %[[EXP:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: %[[FIRST:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @aprt_launch_grid(%arg0, %[[EXP]], %[[FIRST]],
// CHECK: llvm.call @aprt_event_record(
// CHECK: llvm.call @aprt_event_wait(
// CHECK: llvm.call @aprt_all_reduce(
// CHECK: llvm.call @aprt_event_record(
// CHECK: llvm.call @aprt_event_wait(
// CHECK: llvm.call @aprt_launch_grid(
// CHECK: llvm.call @aprt_launch_grid(

// A tensor has an address once it is loaded.
// CHECK-LABEL: llvm.func internal @stage_0_setup(
// CHECK: llvm.call @aprt_load(
// CHECK: llvm.call @aprt_persistent(
// CHECK: llvm.call @aprt_gemm_pack(
// CHECK: llvm.call @aprt_release(

// CHECK: llvm.mlir.global external constant @aprt_program_manifest(
// CHECK-SAME: \22kernels\22:[{\22buffers\22:[{\22access\22:\22rw\22,\22bytes\22:128}],\22name\22:\22kernel_0_unary\22,\22scalars\22:0,
// CHECK-SAME: {\22buffers\22:[{\22access\22:\22r\22,\22bytes\22:128},{\22access\22:\22w\22,\22bytes\22:128}],\22name\22:\22kernel_1_unary\22,\22scalars\22:1,
// CHECK-SAME: \22libraries\22:[\22cublaslt\22,\22nccl\22]
// CHECK-SAME: \22kind\22:\22gemm\22,{{[^}]*}}\22stream\22:0}
// CHECK-SAME: \22kind\22:\22kernel\22,{{[^}]*}}\22stream\22:0}
// CHECK-SAME: \22kind\22:\22event\22,{{[^}]*}}\22stream\22:0}
// CHECK-SAME: \22kind\22:\22event\22,{{[^}]*}}\22stream\22:1}
// CHECK-SAME: \22kind\22:\22all_reduce\22,{{[^}]*}}\22stream\22:1}
// CHECK-SAME: \22kind\22:\22event\22,{{[^}]*}}\22stream\22:1}
// CHECK-SAME: \22kind\22:\22event\22,{{[^}]*}}\22stream\22:0}
// CHECK-SAME: \22target\22:\22emulated\22

// NVVM: gpu.module @kernels attributes {autopar.kernels = [
// NVVM: llvm.func @__nv_expf(f32) -> f32
// NVVM: llvm.func @kernel_0_unary(%{{.*}}: !llvm.ptr{{.*}}) attributes {{.*}}nvvm.kernel
// NVVM-NOT: {{(arith|scf|math|cf|builtin)\.}}
// NVVM: llvm.func internal @stage_0_step(
