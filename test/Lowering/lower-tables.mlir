// Constants of many elements are data beside the kernels, once for all that read them; booleans are bytes, halves f32.
// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s --check-prefix=CPU
// RUN: rm -rf %t && autopar-opt %s --autopar-lower-to-gpu=cuda-source=%t | FileCheck %s --check-prefix=GPU
// RUN: FileCheck %s --check-prefix=CUDA < %t/kernels.cu

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8192 : i64} {
    %a = autopar.buffer arena[0] : memref<5xf32>
    %b = autopar.buffer arena[512] : memref<4xf32>
    %c = autopar.buffer arena[1024] : memref<4xi1>
    %d = autopar.buffer arena[2048] : memref<4xf16>
    autopar.kernel ins(%a) outs(%b) : (memref<5xf32>, memref<4xf32>) -> () {
    ^bb0(%x: tensor<5xf32>):
      %i = autopar.constant dense<[4, 0, 3, 3]> : tensor<4xi64>
      %g = autopar.gather %x, %i dim = 0 : (tensor<5xf32>, tensor<4xi64>) -> tensor<4xf32>
      autopar.yield %g : tensor<4xf32>
    }
    autopar.kernel ins(%a) outs(%b) : (memref<5xf32>, memref<4xf32>) -> () {
    ^bb0(%x: tensor<5xf32>):
      %i = autopar.constant dense<[4, 0, 3, 3]> : tensor<4xi64>
      %g = autopar.gather %x, %i dim = 0 : (tensor<5xf32>, tensor<4xi64>) -> tensor<4xf32>
      %n = autopar.unary neg %g : tensor<4xf32> -> tensor<4xf32>
      autopar.yield %n : tensor<4xf32>
    }
    autopar.kernel ins() outs(%c, %d) : (memref<4xi1>, memref<4xf16>) -> () {
      %m = autopar.constant dense<[true, false, true, true]> : tensor<4xi1>
      %h = autopar.constant dense<[0.5, 1.0, 2.0, 65504.0]> : tensor<4xf16>
      autopar.yield %m, %h : tensor<4xi1>, tensor<4xf16>
    }
    %e = autopar.buffer arena[3072] : memref<8xi64>
    %f = autopar.buffer arena[4096] : memref<8xi1>
    autopar.kernel ins(%e) outs(%f) : (memref<8xi64>, memref<8xi1>) -> () {
    ^bb0(%x: tensor<8xi64>):
      %m = autopar.constant dense<[true, false, true, true]> : tensor<4xi1>
      %g = autopar.gather %m, %x dim = 0 : (tensor<4xi1>, tensor<8xi64>) -> tensor<8xi1>
      autopar.yield %g : tensor<8xi1>
    }
    return
  }
}

// CPU-DAG: llvm.mlir.global internal constant @table_0(dense<[4, 0, 3, 3]> : tensor<4xi64>)
// CPU-DAG: llvm.mlir.global internal constant @table_1(dense<[1, 0, 1, 1]> : tensor<4xi8>)
// CPU-DAG: llvm.mlir.global internal constant @table_2(dense<[5.000000e-01, 1.000000e+00, 2.000000e+00, 6.550400e+04]> : tensor<4xf32>)
// CPU-NOT: @table_3
// CPU-LABEL: @kernel_0_gather_body
// CPU: llvm.mlir.addressof @table_0
// CPU-LABEL: @kernel_1_unary_body
// CPU: llvm.mlir.addressof @table_0

// GPU: llvm.mlir.global internal constant @table_0(dense<[4, 0, 3, 3]> : tensor<4xi64>) {addr_space = 1 : i32

// Where a thread's elements are known, so are their numbers.
// CUDA-NOT: table_0
// CUDA: static __device__ const int8_t table_1[4] = {
// CUDA-NEXT: 1, 0, 1, 1,
// CUDA-NOT: table_0
// CUDA: kernel_3_gather(
// CUDA: table_1[
