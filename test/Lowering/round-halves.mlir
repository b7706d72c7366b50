// A result of 16 bits is rounded where it is computed, stored or not: it does not depend on what is one kernel.
// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s
// RUN: rm -rf %t && autopar-opt %s --autopar-lower-to-gpu=cuda-source=%t -o /dev/null
// RUN: FileCheck %s --check-prefix=CUDA < %t/kernels.cu
// RUN: autopar-opt %s --autopar-lower-to-gpu-pipeline --autopar-print-ptx=arch=sm_90 -o /dev/null | FileCheck %s --check-prefix=PTX

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8192 : i64} {
    %a = autopar.buffer arena[0] : memref<48xf16>
    %b = autopar.buffer arena[512] : memref<48xf16>
    %c = autopar.buffer arena[1024] : memref<48xbf16>
    %d = autopar.buffer arena[2048] : memref<48xf32>
    // The product is rounded, and not fused with the sum; the sum is rounded once, what is stored not again; relu is exact.
    autopar.kernel ins(%a) outs(%b) : (memref<48xf16>, memref<48xf16>) -> () {
    ^bb0(%x: tensor<48xf16>):
      %p = autopar.binary mul %x, %x : tensor<48xf16>
      %s = autopar.binary add %p, %x : tensor<48xf16>
      %r = autopar.unary relu %s : tensor<48xf16> -> tensor<48xf16>
      %n = autopar.unary neg %r : tensor<48xf16> -> tensor<48xf16>
      %e = autopar.unary reciprocal %n : tensor<48xf16> -> tensor<48xf16>
      autopar.yield %e : tensor<48xf16>
    }
    // A conversion there and back loses what the type between them does not hold.
    autopar.kernel ins(%d) outs(%d) : (memref<48xf32>, memref<48xf32>) -> () {
    ^bb0(%x: tensor<48xf32>):
      %p = autopar.convert %x : tensor<48xf32> -> tensor<48xbf16>
      %s = autopar.convert %p : tensor<48xbf16> -> tensor<48xf32>
      autopar.yield %s : tensor<48xf32>
    }
    // A sum is rounded once, at its end.
    %e = autopar.buffer arena[4096] : memref<f16>
    autopar.kernel ins(%a) outs(%e) : (memref<48xf16>, memref<f16>) -> () {
    ^bb0(%x: tensor<48xf16>):
      %p = autopar.reduce sum %x dims = [0] : tensor<48xf16> -> tensor<f16>
      %s = autopar.binary mul %p, %p : tensor<f16>
      autopar.yield %s : tensor<f16>
    }
    return
  }
}

// CHECK-LABEL: @kernel_0_unary_body
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[X]], %[[X]] fastmath<nsz> : f32
// CHECK-NEXT: %[[PH:.*]] = arith.truncf %[[P]] : f32 to f16
// CHECK-NEXT: %[[PR:.*]] = arith.extf %[[PH]] : f16 to f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[PR]], %[[X]] fastmath<nsz> : f32
// CHECK-NEXT: %[[SH:.*]] = arith.truncf %[[S]] : f32 to f16
// CHECK-NEXT: arith.extf %[[SH]] : f16 to f32
// CHECK-NOT: arith.truncf
// CHECK: %[[E:.*]] = arith.divf
// CHECK-NEXT: %[[EH:.*]] = arith.truncf %[[E]] : f32 to f16
// CHECK-NOT: arith.truncf
// CHECK: llvm.store %[[EH]]
// CHECK-LABEL: @kernel_1_convert_body
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: %[[BACK:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: llvm.store %[[BACK]]
// CHECK-LABEL: @kernel_2_binary_body
// CHECK: %[[SUM:.*]] = scf.for {{.*}} -> (f32)
// CHECK-NOT: arith.truncf
// CHECK: scf.yield
// CHECK: arith.truncf %[[SUM]] : f32 to f16

// CUDA-LABEL: kernel_0_unary(
// CUDA: __half2float(__float2half(__half2float(__float2half(x * x)) + x))
// CUDA-LABEL: kernel_1_convert(
// CUDA: __bfloat162float(__float2bfloat16(

// On the machine's own halves, one rounding each.
// PTX-LABEL: .entry kernel_0_unary(
// PTX-NOT: fma
// PTX: mul.rn.f16x2
// PTX-NOT: fma
// PTX: add.rn.f16x2
// PTX-NOT: fma
// PTX: .entry kernel_1_convert(
// PTX: cvt.rn.bf16.f32
// PTX: cvt.f32.bf16
