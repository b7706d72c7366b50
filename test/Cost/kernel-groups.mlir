// Which ops become one kernel: elementwise chains, rows, movement.
// RUN: autopar-opt %s --autopar-form-kernels --split-input-file | FileCheck %s

// The scale, the mask and the softmax share rows; what is spread is read by index.
// CHECK-LABEL: func.func @masked_softmax
// CHECK: autopar.kernel ins(%arg0, %arg1) attributes {autopar.in_place = array<i64: 0>, autopar.op = "softmax", autopar.row_rank = 2 : i64}
// CHECK: autopar.constant
// CHECK: autopar.binary mul
// CHECK: autopar.broadcast
// CHECK: autopar.binary add
// CHECK: autopar.softmax
// CHECK-NOT: autopar.kernel
func.func @masked_softmax(%x: tensor<4x8x8xf32>, %m: tensor<8x8xf32>) -> tensor<4x8x8xf32> {
  %c = autopar.constant dense<0.25> : tensor<4x8x8xf32>
  %0 = autopar.binary mul %x, %c : tensor<4x8x8xf32>
  %1 = autopar.broadcast %m dims = [1, 2] : tensor<8x8xf32> -> tensor<4x8x8xf32>
  %2 = autopar.binary add %0, %1 : tensor<4x8x8xf32>
  %3 = autopar.softmax %2 dim = 2 : tensor<4x8x8xf32>
  return %3 : tensor<4x8x8xf32>
}

// -----

// One kernel with two results: the residual stream goes on.
// CHECK-LABEL: func.func @residual_and_norm
// CHECK: %[[K:.*]]:2 = autopar.kernel ins(%arg0, %arg1, %arg2) attributes {autopar.op = "normalize", autopar.row_rank = 1 : i64}
// CHECK-NOT: autopar.kernel
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @residual_and_norm(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = autopar.binary add %x, %y : tensor<4x8xf32>
  %1 = autopar.normalize layer %0 dims = [1] epsilon = 1.0e-5 : tensor<4x8xf32>
  %2 = autopar.broadcast %g dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
  %3 = autopar.binary mul %1, %2 : tensor<4x8xf32>
  return %0, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Statistics of a row, kept as one element per row with and without a unit dimension.
// CHECK-LABEL: func.func @rms_by_parts
// CHECK: autopar.kernel {{.*}}autopar.row_rank = 1
// CHECK: autopar.reshape
// CHECK-NOT: autopar.kernel
// CHECK: return
func.func @rms_by_parts(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = autopar.binary mul %x, %x : tensor<4x8xf32>
  %1 = autopar.reduce sum %0 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = autopar.reshape %1 : tensor<4xf32> -> tensor<4x1xf32>
  %3 = autopar.unary rsqrt %2 : tensor<4x1xf32> -> tensor<4x1xf32>
  %4 = autopar.broadcast %3 dims = [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %5 = autopar.binary mul %x, %4 : tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// Row statistics that are spread along rows instead need a kernel of their own.
// CHECK-LABEL: func.func @statistics_across_rows
// CHECK: %[[S:.*]] = autopar.kernel ins(%arg0)
// CHECK: autopar.reduce
// CHECK: autopar.kernel ins(%{{.*}}, %{{.*}})
// CHECK: autopar.broadcast
func.func @statistics_across_rows(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = autopar.reduce sum %x dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %1 = autopar.broadcast %0 dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %2 = autopar.binary mul %x, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// Reductions over other dimensions have at most one pointwise op before them, and others after them.
// CHECK-LABEL: func.func @column_sum
// CHECK: autopar.kernel ins(%arg0)
// CHECK: autopar.unary tanh
// CHECK: autopar.kernel
// CHECK: autopar.unary exp
// CHECK: autopar.reduce
// CHECK: autopar.unary log
// CHECK: return
func.func @column_sum(%x: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %0 = autopar.unary tanh %x : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = autopar.unary exp %0 : tensor<8x4xf32> -> tensor<8x4xf32>
  %2 = autopar.reduce sum %1 dims = [0] : tensor<8x4xf32> -> tensor<4xf32>
  %3 = autopar.unary log %2 : tensor<4xf32> -> tensor<4xf32>
  return %3, %0 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

// A transpose that moves the innermost dimension stands alone; another is an index.
// CHECK-LABEL: func.func @transposes
// CHECK-COUNT-3: autopar.kernel
// CHECK-NOT: autopar.kernel
func.func @transposes(%x: tensor<2x4x8xf32>) -> (tensor<8x4x2xf32>, tensor<4x2x8xf32>) {
  %0 = autopar.transpose %x perm = [2, 1, 0] : tensor<2x4x8xf32> -> tensor<8x4x2xf32>
  %1 = autopar.unary exp %0 : tensor<8x4x2xf32> -> tensor<8x4x2xf32>
  %2 = autopar.transpose %x perm = [1, 0, 2] : tensor<2x4x8xf32> -> tensor<4x2x8xf32>
  %3 = autopar.unary exp %2 : tensor<4x2x8xf32> -> tensor<4x2x8xf32>
  return %1, %3 : tensor<8x4x2xf32>, tensor<4x2x8xf32>
}

// -----

// b depends on a through the column sum: the last add may not join the first kernel.
// CHECK-LABEL: func.func @no_cycles
// CHECK-COUNT-3: autopar.kernel
// CHECK-NOT: autopar.kernel
func.func @no_cycles(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = autopar.unary exp %x : tensor<4x4xf32> -> tensor<4x4xf32>
  %s = autopar.reduce sum %a dims = [0] : tensor<4x4xf32> -> tensor<4xf32>
  %b = autopar.broadcast %s dims = [1] : tensor<4xf32> -> tensor<4x4xf32>
  %r = autopar.binary div %a, %b : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A spread under a reshape that changes rows is written to memory once.
// CHECK-LABEL: func.func @spread_under_reshape
// CHECK: %[[S:.*]] = autopar.kernel ins(%arg0)
// CHECK: autopar.broadcast
// CHECK: %[[V:.*]] = autopar.reshape %[[S]]
// CHECK: autopar.kernel ins({{.*}}%[[V]]
func.func @spread_under_reshape(%x: tensor<2x4xf32>, %y: tensor<24xf32>) -> tensor<24xf32> {
  %0 = autopar.broadcast %x dims = [0, 2] : tensor<2x4xf32> -> tensor<2x3x4xf32>
  %1 = autopar.reshape %0 : tensor<2x3x4xf32> -> tensor<24xf32>
  %2 = autopar.binary add %y, %1 : tensor<24xf32>
  return %2 : tensor<24xf32>
}

// -----

// Movement reads through small groups that only it reads: a rotation in one kernel.
// Nothing works in place then.
// CHECK-LABEL: func.func @rotate_half
// CHECK: autopar.kernel ins(%arg0, %arg1) attributes {autopar.op = "binary"}
// CHECK-NOT: autopar.kernel
func.func @rotate_half(%x: tensor<4x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = autopar.slice %x starts = [0, 0] steps = [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %1 = autopar.slice %x starts = [0, 4] steps = [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %2 = autopar.unary neg %1 : tensor<4x4xf32> -> tensor<4x4xf32>
  %3 = autopar.concat %2, %0 dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %4 = autopar.binary mul %3, %c : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// A value that others read too is written once.
// CHECK-LABEL: func.func @moved_and_read
// CHECK: %[[E:.*]] = autopar.kernel ins(%arg0)
// CHECK: autopar.unary exp
// CHECK: autopar.kernel ins(%[[E]])
// CHECK: autopar.slice
func.func @moved_and_read(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x4xf32>) {
  %0 = autopar.unary exp %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = autopar.slice %0 starts = [0, 4] steps = [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x4xf32>
}

// -----

// What joins many is a group of its own: each operand is made first, and what reads the whole reads memory.
// CHECK-LABEL: func.func @many
// CHECK: %[[E:.*]] = autopar.kernel ins(%arg0)
// CHECK: autopar.unary exp
// CHECK: %[[ALL:.*]] = autopar.kernel ins(%arg0, %[[E]])
// CHECK: autopar.concat
// CHECK: autopar.kernel ins(%[[ALL]])
// CHECK: autopar.slice
func.func @many(%x: tensor<1x8xf32>) -> tensor<9x4xf32> {
  %0 = autopar.unary exp %x : tensor<1x8xf32> -> tensor<1x8xf32>
  %1 = autopar.concat %x, %x, %x, %x, %x, %x, %x, %x, %0 dim = 0 : (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<9x8xf32>
  %2 = autopar.slice %1 starts = [0, 4] steps = [1, 1] : tensor<9x8xf32> -> tensor<9x4xf32>
  return %2 : tensor<9x4xf32>
}

// -----

// A kernel that keeps a result for the end comes where its other result is needed; what comes after in the program, as the gather, does not
// move in front of it.
autopar.mesh @mesh #autopar.mesh<["x"=2]>
// CHECK-LABEL: func.func @needed_early
// CHECK: %[[K:.*]]:2 = autopar.kernel ins(%arg0)
// CHECK: autopar.unary exp
// CHECK: autopar.unary neg
// CHECK: autopar.kernel ins(%[[K]]#0)
// CHECK: autopar.reduce sum
// CHECK: %[[G:.*]] = autopar.all_gather %arg1
// CHECK: autopar.kernel ins(%[[G]])
func.func @needed_early(%x: tensor<4x8xf32>, %w: tensor<2xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<4x8xf32>) {
  %0 = autopar.unary exp %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = autopar.reduce sum %0 dims = [0] : tensor<4x8xf32> -> tensor<8xf32>
  %2 = autopar.all_gather %w mesh = @mesh axes = ["x"] {dim = 0 : i64} : (tensor<2xf32>) -> tensor<4xf32>
  %3 = autopar.softmax %2 dim = 0 : tensor<4xf32>
  %4 = autopar.unary neg %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %1, %3, %4 : tensor<8xf32>, tensor<4xf32>, tensor<4x8xf32>
}
