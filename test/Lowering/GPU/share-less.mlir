// What would take more shared memory than a block may have is shared by fewer
// threads; running sums keep fewer elements.
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8388608 : i64} {
    %a = autopar.buffer arena[0] : memref<64x64xf64>
    %b = autopar.buffer arena[32768] : memref<64x64xf64>
    %c = autopar.buffer arena[65536] : memref<64x64xf64>
    %d = autopar.buffer arena[98304] : memref<64x64xf64>
    %e = autopar.buffer arena[131072] : memref<64x64xf64>
    %f = autopar.buffer arena[163840] : memref<64x64xf64>
    %y = autopar.buffer arena[196608] : memref<64x64xf64>
    %u = autopar.buffer arena[262144] : memref<1x8000xf32>
    %v = autopar.buffer arena[327680] : memref<1x8000xf32>
    %w = autopar.buffer arena[393216] : memref<1x8000xf32>
    autopar.kernel ins(%a, %b, %c, %d, %e, %f) outs(%y) : (memref<64x64xf64>, memref<64x64xf64>, memref<64x64xf64>, memref<64x64xf64>, memref<64x64xf64>, memref<64x64xf64>, memref<64x64xf64>) -> () {
    ^bb0(%a_: tensor<64x64xf64>, %b_: tensor<64x64xf64>, %c_: tensor<64x64xf64>, %d_: tensor<64x64xf64>, %e_: tensor<64x64xf64>, %f_: tensor<64x64xf64>):
      %1 = autopar.binary add %a_, %b_ : tensor<64x64xf64>
      %2 = autopar.binary add %1, %c_ : tensor<64x64xf64>
      %3 = autopar.binary add %2, %d_ : tensor<64x64xf64>
      %4 = autopar.binary add %3, %e_ : tensor<64x64xf64>
      %5 = autopar.binary add %4, %f_ : tensor<64x64xf64>
      %t_ = autopar.transpose %5 perm = [1, 0] : tensor<64x64xf64> -> tensor<64x64xf64>
      autopar.yield %t_ : tensor<64x64xf64>
    }
    autopar.kernel ins(%u) outs(%v, %w) : (memref<1x8000xf32>, memref<1x8000xf32>, memref<1x8000xf32>) -> () {
    ^bb0(%u_: tensor<1x8000xf32>):
      %1 = autopar.scan sum %u_ dim = 1 : tensor<1x8000xf32>
      %2 = autopar.scan prod %u_ dim = 1 : tensor<1x8000xf32>
      autopar.yield %1, %2 : tensor<1x8000xf32>, tensor<1x8000xf32>
    }
    return
  }
}

// CHECK-NOT: @shared_kernel_0
// CHECK-DAG: @shared_kernel_1_scan_0() {{.*}} !llvm.array<4000 x f32>
// CHECK-DAG: @shared_kernel_1_scan_2() {{.*}} !llvm.array<{{[0-9]+}} x f32>
// CHECK: gpu.func @kernel_0_transpose(
// CHECK-NOT: gpu.barrier
// CHECK: gpu.func @kernel_1_scan(
// CHECK: gpu.return
