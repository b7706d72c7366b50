// RUN: rm -rf %t && autopar-opt %s --autopar-pack-weights --autopar-lower-to-gpu=cuda-source=%t -o /dev/null
// RUN: FileCheck %s --check-prefix=HOST < %t/program.cpp
// RUN: FileCheck %s --check-prefix=KERNEL < %t/kernels.cu
// RUN: FileCheck %s --check-prefix=TABLE < %t/emulated.cpp
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/manifest.json
// RUN: FileCheck %s --check-prefix=README < %t/README.md
// RUN: not autopar-opt %s --autopar-lower-to-gpu=cuda-source=/dev/null/x -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOLDER

module attributes {autopar.target = "emulated", autopar.model = "tiny.onnx", autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "model.onnx", offset = 0, length = 64>, sharding = #autopar.sharding<@mesh, [{}, {}]>,
     global_type = tensor<4x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["data"=2]>
  func.func @step_0() attributes {autopar.arena_bytes = 512 : i64} {
    %w = autopar.buffer persistent[0] : memref<4x4xf32>
    %a = autopar.buffer arena[0] : memref<8x4xf32>
    %b = autopar.buffer arena[128] : memref<8x4xf32>
    %c = autopar.buffer arena[256] : memref<8x4xf32>
    autopar.kernel ins(%a, %w) outs(%b) library <gemm, a = 0, b = 1> : (memref<8x4xf32>, memref<4x4xf32>, memref<8x4xf32>) -> () {
    ^bb0(%0: tensor<8x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      autopar.yield %2 : tensor<8x4xf32>
    } loc("a matmul")
    autopar.kernel ins(%b) outs(%c) : (memref<8x4xf32>, memref<8x4xf32>) -> () {
    ^bb0(%0: tensor<8x4xf32>):
      %1 = autopar.unary exp %0 : tensor<8x4xf32> -> tensor<8x4xf32> loc("a node")
      autopar.yield %1 : tensor<8x4xf32>
    } loc("a node")
    autopar.record_event 0 on 0
    autopar.wait_event 0 on 1
    autopar.all_reduce %c outs %b mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>, autopar.stream = 1 : i64}
      : (memref<8x4xf32>, memref<8x4xf32>) -> ()
    return
  }
}

// HOST: enum Kernel : int32_t {
// HOST-NEXT: kernel_0_unary,
// HOST: //   0: w 4x4xf32
// HOST: static const aprt_gemm_desc gemms[] = {
// HOST-NEXT: // 0: 8x4 from 8x4 and 4x4
// HOST-NEXT: {APRT_F32, /*batch_rank*/ 0, /*batch*/ {0, 0, 0, 0}, /*m*/ 8, /*n*/ 4, /*k*/ 4,
// HOST: static aprt_status stage_0_step(aprt_rank *rank, int64_t) {
// HOST-NEXT: char *const arena = static_cast<char *>(aprt_arena(rank));
// HOST-NEXT: // a matmul
// HOST-NEXT: TRY(aprt_gemm(rank, 0, &gemms[0], arena + 0, nullptr, nullptr, nullptr, arena + 128));
// HOST-NEXT: // a node
// HOST-NEXT: TRY(launch(rank, 1, kernel_0_unary, {arena + 128, arena + 256}, {}, 1));
// HOST: TRY(aprt_event_record(rank, 2, 0));
// HOST: TRY(aprt_event_wait(rank, 3, 0));
// HOST: TRY(aprt_all_reduce(rank, 4, 0, APRT_SUM, APRT_F32, 32, arena + 256, arena + 128));
// HOST-NEXT: return 0;
// HOST: TRY(aprt_gemm_pack(rank, 0, &gemms[0], tensor(rank, 0)));
// HOST: {stage_0_setup, stage_0_step},

// KERNEL: /// a node: unary(8x4xf32) -> 8x4xf32
// KERNEL: extern "C" __global__ void __launch_bounds__(
// KERNEL: kernel_0_unary(const float *__restrict__ in0, float *__restrict__ out1) {
// KERNEL: expf(

// TABLE: #include <autopar/emulated_cuda.h>
// TABLE: static const apemu_parameter kernel_0_unary_parameters[] = {
// TABLE-NEXT: {128, APEMU_READ},
// TABLE-NEXT: {128, APEMU_WRITE},
// TABLE: apemu::kernel<&kernel_0_unary>("kernel_0_unary", /*synchronises=*/0, 0, kernel_0_unary_parameters),
// TABLE: APEMU_PROGRAM(kernels)

// MANIFEST: "cpu_features": []
// MANIFEST: "target": "cuda"
// README: # tiny.onnx in CUDA C++
// README: FOLDER holds `model.onnx`.
// FOLDER: error: cannot make the folder '/dev/null/x'
