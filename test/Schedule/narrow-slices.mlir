// RUN: autopar-opt %s --autopar-narrow-slices --autopar-verify-schedule | FileCheck %s
// RUN: autopar-opt %s --autopar-narrow-slices --autopar-narrow-slices | FileCheck %s

// Kernels read the rows that they need, and write those of a long concat.

// CHECK-LABEL: func.func @rows
func.func @rows() attributes {autopar.arena_bytes = 256 : i64, autopar.results = [],
    autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4x8xf32>, value = 0>]} {
  %x = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4x8xf32>
  %y = autopar.buffer arena[128] {autopar.value = 1 : i64} : memref<1x8xf32>
  // CHECK: %[[ROW:.*]] = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<1x8xf32, strided<[8, 1], offset: 24>>
  // CHECK: autopar.kernel ins(%[[ROW]]) outs(%{{.*}}) : (memref<1x8xf32, strided<[8, 1], offset: 24>>, memref<1x8xf32>)
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: tensor<1x8xf32>):
  // CHECK-NEXT: autopar.unary exp %[[IN]]
  autopar.kernel ins(%x) outs(%y) : (memref<4x8xf32>, memref<1x8xf32>) -> () {
  ^bb0(%0: tensor<4x8xf32>):
    %1 = autopar.slice %0 starts = [3, 0] steps = [1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
    %2 = autopar.unary exp %1 : tensor<1x8xf32> -> tensor<1x8xf32>
    autopar.yield %2 : tensor<1x8xf32>
  }
  return
}

// A column is no one piece of memory, and what is read twice is not narrowed.
// CHECK-LABEL: func.func @pieces
func.func @pieces() attributes {autopar.arena_bytes = 256 : i64, autopar.results = [],
    autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4x8xf32>, value = 0>]} {
  %x = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4x8xf32>
  %y = autopar.buffer arena[128] {autopar.value = 1 : i64} : memref<4x1xf32>
  %z = autopar.buffer arena[192] {autopar.value = 2 : i64} : memref<1x8xf32>
  // CHECK-NOT: offset
  autopar.kernel ins(%x) outs(%y) : (memref<4x8xf32>, memref<4x1xf32>) -> () {
  ^bb0(%0: tensor<4x8xf32>):
    %1 = autopar.slice %0 starts = [0, 3] steps = [1, 1] : tensor<4x8xf32> -> tensor<4x1xf32>
    autopar.yield %1 : tensor<4x1xf32>
  }
  autopar.kernel ins(%x) outs(%z) : (memref<4x8xf32>, memref<1x8xf32>) -> () {
  ^bb0(%0: tensor<4x8xf32>):
    %1 = autopar.slice %0 starts = [1, 0] steps = [1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
    %2 = autopar.slice %0 starts = [2, 0] steps = [1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
    %3 = autopar.binary add %1, %2 : tensor<1x8xf32>
    autopar.yield %3 : tensor<1x8xf32>
  }
  return
}

// Of columns of one row, the row is read.
// CHECK-LABEL: func.func @columns
func.func @columns() attributes {autopar.arena_bytes = 256 : i64, autopar.results = [],
    autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4x2x4xf32>, value = 0>]} {
  %x = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4x2x4xf32>
  %y = autopar.buffer arena[128] {autopar.value = 1 : i64} : memref<1x2x1xf32>
  // CHECK: %[[BLOCK:.*]] = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<1x2x4xf32, strided<[8, 4, 1], offset: 16>>
  // CHECK: autopar.kernel ins(%[[BLOCK]])
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: tensor<1x2x4xf32>):
  // CHECK-NEXT: autopar.slice %[[IN]] starts = [0, 0, 3] steps = [1, 1, 1] : tensor<1x2x4xf32> -> tensor<1x2x1xf32>
  autopar.kernel ins(%x) outs(%y) : (memref<4x2x4xf32>, memref<1x2x1xf32>) -> () {
  ^bb0(%0: tensor<4x2x4xf32>):
    %1 = autopar.slice %0 starts = [2, 0, 3] steps = [1, 1, 1] : tensor<4x2x4xf32> -> tensor<1x2x1xf32>
    autopar.yield %1 : tensor<1x2x1xf32>
  }
  return
}

// CHECK-LABEL: func.func @concat
func.func @concat() attributes {autopar.arena_bytes = 192 : i64, autopar.results = [
      #autopar.port<space = arena, position = 64, type = tensor<16x2xf32>, value = 1>],
    autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<2xf32>, value = 0>]} {
  %x = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<1x2xf32>
  %y = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<16x2xf32>
  // CHECK: autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<1x2xf32, strided<[2, 1]>>
  // CHECK: %[[LAST:.*]] = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<1x2xf32, strided<[2, 1], offset: 30>>
  // CHECK-NEXT: autopar.kernel ins(%{{.*}}) outs(%[[LAST]])
  // CHECK-NEXT: ^bb0(%[[COPIED:.*]]: tensor<1x2xf32>):
  // CHECK-NEXT: autopar.yield %[[COPIED]]
  autopar.kernel ins(%x) outs(%y) : (memref<1x2xf32>, memref<16x2xf32>) -> () {
  ^bb0(%0: tensor<1x2xf32>):
    %1 = autopar.concat %0, %0, %0, %0, %0, %0, %0, %0, %0, %0, %0, %0, %0, %0, %0, %0 dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<16x2xf32>
    autopar.yield %1 : tensor<16x2xf32>
  }
  return
}
