// Threads take as many consecutive elements as one access holds, where buffers
// are aligned; indices of 32 bits, no division where rows join.
// RUN: autopar-opt %s --autopar-lower-to-gpu | FileCheck %s
// RUN: autopar-opt %s --autopar-lower-to-gpu-pipeline --autopar-print-ptx=arch=sm_80 -o /dev/null | FileCheck %s --check-prefix=PTX

module attributes {autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step_0() attributes {autopar.arena_bytes = 8388608 : i64} {
    %x = autopar.buffer arena[0] : memref<64x768xf32>
    %b = autopar.buffer arena[1048576] : memref<768xf32>
    %y = autopar.buffer arena[2097152] : memref<64x768xf32>
    %z = autopar.buffer arena[2097156] : memref<64x767xf32>
    %w = autopar.buffer arena[4194304] : memref<64x767xf32>
    autopar.kernel ins(%x, %b) outs(%y) : (memref<64x768xf32>, memref<768xf32>, memref<64x768xf32>) -> () {
    ^bb0(%x_: tensor<64x768xf32>, %b_: tensor<768xf32>):
      %w_ = autopar.broadcast %b_ dims = [1] : tensor<768xf32> -> tensor<64x768xf32>
      %s_ = autopar.binary add %x_, %w_ : tensor<64x768xf32>
      autopar.yield %s_ : tensor<64x768xf32>
    }
    autopar.kernel ins(%z) outs(%w) : (memref<64x767xf32>, memref<64x767xf32>) -> () {
    ^bb0(%z_: tensor<64x767xf32>):
      %s_ = autopar.binary add %z_, %z_ : tensor<64x767xf32>
      autopar.yield %s_ : tensor<64x767xf32>
    }
    return
  }
}

// CHECK: gpu.func @kernel_0_binary(%{{.*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}, %{{.*}}) kernel
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 96, 1, 1>
// CHECK-NOT: scf.if
// CHECK-COUNT-4: llvm.store
// CHECK-NOT: llvm.store
// A buffer that begins at an odd place.
// CHECK: gpu.func @kernel_1_binary(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}) kernel

// PTX: .entry kernel_0_binary
// PTX-NOT: div
// PTX: ld.global{{.*}}v4.b32
// PTX: ld.global{{.*}}v4.b32
// PTX: st.global.v4.b32
// PTX-NOT: st.global
// PTX: .entry kernel_1_binary
// PTX-NOT: v4
// PTX: ld.global{{.*}}.b32
