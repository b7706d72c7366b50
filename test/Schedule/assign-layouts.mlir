// RUN: autopar-opt %s --autopar-form-kernels --autopar-order-work --autopar-assign-layouts --split-input-file | FileCheck %s

// Between convolutions images have their channels last; the argument and the result are
// row-major and copied. Filters stay.
// CHECK-LABEL: func.func @chain
// CHECK: %[[X:.*]] = autopar.kernel ins(%arg0) attributes {autopar.layouts = [array<i64: 0, 2, 3, 1>], autopar.op = "copy"}
// CHECK: %[[C:.*]] = autopar.kernel ins(%[[X]], %arg1) library <convolution, {{[^>]*}}> attributes {autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK: %[[P:.*]] = autopar.kernel ins(%[[C]]) attributes {autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK: autopar.pool
// CHECK: %[[D:.*]] = autopar.kernel ins(%[[P]], %arg2) library <convolution, {{[^>]*}}> attributes {autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK: %[[Y:.*]] = autopar.kernel ins(%[[D]]) attributes {autopar.op = "copy"}
// CHECK: return %[[Y]]
func.func @chain(%x: tensor<2x3x8x8xf32>, %v: tensor<4x3x3x3xf32>, %w: tensor<5x4x1x1xf32>) -> tensor<2x5x4x4xf32> {
  %0 = autopar.convolution %x, %v strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  %1 = autopar.unary relu %0 : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  %2 = autopar.pool max %1 window = [2, 2] strides = [2, 2] dilations = [1, 1] low = [0, 0] high = [0, 0]
    : (tensor<2x4x8x8xf32>) -> tensor<2x4x4x4xf32>
  %3 = autopar.convolution %2, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x4x4x4xf32>, tensor<5x4x1x1xf32>) -> tensor<2x5x4x4xf32>
  return %3 : tensor<2x5x4x4xf32>
}

// -----

// One copy for two readers of an argument; the addend comes with channels last as well,
// and the result may be stored over it.
// CHECK-LABEL: func.func @two_readers
// CHECK-COUNT-1: autopar.op = "copy"
// CHECK-NOT: "copy"
// CHECK: library <convolution, {{[^>]*}}>
// CHECK: library <convolution, {{[^>]*}}> attributes {autopar.in_place = array<i64: 2>, autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK: autopar.op = "copy"
func.func @two_readers(%x: tensor<2x4x8x8xf32>, %v: tensor<4x4x3x3xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<2x4x8x8xf32> {
  %0 = autopar.convolution %x, %v strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  %1 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  %2 = autopar.binary add %1, %0 : tensor<2x4x8x8xf32>
  return %2 : tensor<2x4x8x8xf32>
}

// -----

// A reshape that joins height and width names the same buffer, and the transpose to
// tokens finds its elements in order: nothing to copy.
// CHECK-LABEL: func.func @to_tokens
// CHECK: library <convolution, {{[^>]*}}>
// CHECK: autopar.reshape
// CHECK-NOT: "copy"
// CHECK: %[[T:.*]] = autopar.kernel ins({{.*}}) attributes {autopar.op = "transpose"}
// CHECK: return %[[T]]
func.func @to_tokens(%x: tensor<2x3x8x8xf32>, %w: tensor<16x3x4x4xf32>) -> tensor<2x4x16xf32> {
  %0 = autopar.convolution %x, %w strides = [4, 4] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x8x8xf32>, tensor<16x3x4x4xf32>) -> tensor<2x16x2x2xf32>
  %1 = autopar.reshape %0 : tensor<2x16x2x2xf32> -> tensor<2x16x4xf32>
  %2 = autopar.transpose %1 perm = [0, 2, 1] : tensor<2x16x4xf32> -> tensor<2x4x16xf32>
  return %2 : tensor<2x4x16xf32>
}

// -----

// Groups of channels joined with height and width are in one piece only if row-major.
// CHECK-LABEL: func.func @groups
// CHECK: %[[C:.*]] = autopar.kernel {{.*}} library <convolution, {{[^>]*}}>
// CHECK: %[[P:.*]] = autopar.kernel ins(%[[C]]) attributes {autopar.op = "copy"}
// CHECK: autopar.reshape %[[P]]
// CHECK: autopar.kernel {{.*}}autopar.in_place = array<i64: 0>
func.func @groups(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x2x128xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x8x8xf32>
  %1 = autopar.reshape %0 : tensor<2x4x8x8xf32> -> tensor<2x2x128xf32>
  %2 = autopar.normalize layer %1 dims = [2] epsilon = 1.000000e-05 : tensor<2x2x128xf32>
  return %2 : tensor<2x2x128xf32>
}

// -----

// Rows of an image are not outermost with channels last: what normalizes them gets a
// copy, what only sums them up does not.
// CHECK-LABEL: func.func @rows
// CHECK: library <convolution, {{[^>]*}}>
// CHECK: autopar.kernel {{.*}}autopar.op = "copy"
// CHECK: autopar.kernel {{.*}}autopar.in_place = array<i64: 0>, autopar.op = "normalize"
// CHECK-LABEL: func.func @row_sums
// CHECK: %[[C:.*]] = autopar.kernel {{.*}} library <convolution, {{[^>]*}}>
// CHECK: %[[S:.*]] = autopar.kernel ins(%[[C]]) attributes {autopar.op = "reduce"
// CHECK: return %[[S]]
func.func @rows(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4x8x8xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x8x8xf32>
  %1 = autopar.normalize layer %0 dims = [2, 3] epsilon = 1.000000e-05 : tensor<2x4x8x8xf32>
  return %1 : tensor<2x4x8x8xf32>
}
func.func @row_sums(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x8x8xf32>
  %1 = autopar.reduce sum %0 dims = [2, 3] : tensor<2x4x8x8xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// Collectives and messages keep the order of memory: no copy after the receive.
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @step_1
// CHECK: autopar.recv {{.*}}autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK-NEXT: autopar.kernel {{.*}} library <convolution, {{[^>]*}}>
// CHECK-LABEL: func.func @step_0
// CHECK: library <convolution, {{[^>]*}}>
// CHECK: %[[H:.*]] = autopar.halo {{.*}}autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK: autopar.send %[[H]]
func.func @step_1(%w: tensor<3x4x3x3xf32>) -> tensor<2x3x4x8xf32> attributes {autopar.stage = 1 : i64} {
  %0 = autopar.recv channel = 0 from 0 : () -> tensor<2x4x6x8xf32>
  %1 = autopar.convolution %0, %w strides = [1, 1] dilations = [1, 1] low = [0, 1] high = [0, 1] groups = 1
    : (tensor<2x4x6x8xf32>, tensor<3x4x3x3xf32>) -> tensor<2x3x4x8xf32>
  return %1 : tensor<2x3x4x8xf32>
}
func.func @step_0(%x: tensor<2x3x4x8xf32>, %w: tensor<4x3x1x1xf32>) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x4x8xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x4x8xf32>
  %1 = autopar.halo %0 mesh = @mesh axes = ["data"] {dim = 2 : i64, size = 8 : i64, step = 4 : i64, offset = -1 : i64, fill = 0.0 : f64}
    : (tensor<2x4x4x8xf32>) -> tensor<2x4x6x8xf32>
  autopar.send %1 channel = 0 to 1 : tensor<2x4x6x8xf32>
  return
}

// -----

// The sizes have no common refinement: with channels last no order of the new dimensions
// names the buffer.
// CHECK-LABEL: func.func @no_refinement
// CHECK: %[[C:.*]] = autopar.kernel {{.*}} library <convolution, {{[^>]*}}> attributes {autopar.layouts
// CHECK: %[[P:.*]] = autopar.kernel ins(%[[C]]) attributes {autopar.op = "copy"}
// CHECK: autopar.reshape %[[P]]
func.func @no_refinement(%x: tensor<1x3x6x4xf32>, %w: tensor<9x3x1x1xf32>) -> tensor<1x4x9x6xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<1x3x6x4xf32>, tensor<9x3x1x1xf32>) -> tensor<1x9x6x4xf32>
  %1 = autopar.reshape %0 : tensor<1x9x6x4xf32> -> tensor<1x4x9x6xf32>
  return %1 : tensor<1x4x9x6xf32>
}

// -----

// An image one pixel wide and of one row is row-major: nothing to copy before the reshape.
// CHECK-LABEL: func.func @pixel
// CHECK: %[[C:.*]] = autopar.kernel {{.*}} library <convolution, {{[^>]*}}> attributes {autopar.op = "convolution"}
// CHECK-NOT: "copy"
// CHECK: autopar.reshape %[[C]]
func.func @pixel(%x: tensor<1x3x1x1xf32>, %w: tensor<8x3x1x1xf32>) -> tensor<1x2x2x2xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<1x3x1x1xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x1x1xf32>
  %1 = autopar.reshape %0 : tensor<1x8x1x1xf32> -> tensor<1x2x2x2xf32>
  %2 = autopar.transpose %1 perm = [0, 2, 1, 3] : tensor<1x2x2x2xf32> -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// -----

// Both results read the convolution's, one with channels last, the other row-major: the one
// may not be stored over what the other still reads.
// CHECK-LABEL: func.func @two_orders
// CHECK: library <convolution, {{[^>]*}}>
// CHECK: autopar.kernel
// CHECK-NOT: autopar.in_place = array<i64: 0
// CHECK: return
func.func @two_orders(%x: tensor<1x4x6x5xf32>, %w: tensor<8x4x1x1xf32>, %y: tensor<1x48x5xf32>)
    -> (tensor<1x8x6x5xf32>, tensor<1x48x5xf32>) {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<1x4x6x5xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x5xf32>
  %1 = autopar.unary exp %0 : tensor<1x8x6x5xf32> -> tensor<1x8x6x5xf32>
  %2 = autopar.reshape %1 : tensor<1x8x6x5xf32> -> tensor<1x48x5xf32>
  %3 = autopar.binary add %2, %y : tensor<1x48x5xf32>
  return %1, %3 : tensor<1x8x6x5xf32>, tensor<1x48x5xf32>
}

// -----

// A depthwise convolution takes a row-major image as it comes: no copies. Where
// another convolution reads its result it has channels last as all others, and where images
// are so small that their lines leave vectors empty.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT: "copy"
// CHECK: %[[C:.*]] = autopar.kernel ins(%arg0, %arg1) library <convolution, {{[^>]*}}> attributes {autopar.op = "convolution"}
// CHECK-NOT: "copy"
// CHECK: return
// CHECK-LABEL: func.func @depthwise_in_a_chain
// CHECK: %[[X:.*]] = autopar.kernel ins(%arg0) attributes {autopar.layouts = [array<i64: 0, 2, 3, 1>], autopar.op = "copy"}
// CHECK: %[[C:.*]] = autopar.kernel ins(%[[X]], %arg1) library <convolution, {{[^>]*}}> attributes {autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK: %[[E:.*]] = autopar.kernel ins(%[[C]]) attributes {{{.*}}autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK: autopar.kernel ins(%[[E]], %arg2) library <convolution, {{[^>]*}}> attributes {autopar.layouts = [array<i64: 0, 2, 3, 1>]
// CHECK-LABEL: func.func @depthwise_of_small_images
// CHECK: autopar.kernel {{.*}}autopar.op = "copy"
// CHECK: library <convolution, {{[^>]*}}> attributes {autopar.layouts = [array<i64: 0, 2, 3, 1>]
func.func @depthwise(%x: tensor<2x8x9x40xf32>, %w: tensor<8x1x3x3xf32>) -> tensor<2x8x9x40xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 8
    : (tensor<2x8x9x40xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x9x40xf32>
  return %0 : tensor<2x8x9x40xf32>
}
func.func @depthwise_in_a_chain(%x: tensor<2x8x9x40xf32>, %v: tensor<8x1x3x3xf32>, %w: tensor<9x8x3x3xf32>) -> tensor<2x9x9x40xf32> {
  %0 = autopar.convolution %x, %v strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 8
    : (tensor<2x8x9x40xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x9x40xf32>
  %1 = autopar.unary exp %0 : tensor<2x8x9x40xf32> -> tensor<2x8x9x40xf32>
  %2 = autopar.convolution %1, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<2x8x9x40xf32>, tensor<9x8x3x3xf32>) -> tensor<2x9x9x40xf32>
  return %2 : tensor<2x9x9x40xf32>
}
func.func @depthwise_of_small_images(%x: tensor<2x8x7x7xf32>, %w: tensor<8x1x3x3xf32>) -> tensor<2x8x7x7xf32> {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 8
    : (tensor<2x8x7x7xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x7x7xf32>
  return %0 : tensor<2x8x7x7xf32>
}

// -----

// The gradient of a filter reads images with channels last and is stored as the filter is, so that what exchanges its
// channels reads it in order.
// CHECK-LABEL: func.func @filter_gradient
// CHECK: library <filter_gradient, {{.*}}channels_last = true> attributes {autopar.layouts = [array<i64: 1, 0, 2, 3>]
func.func @filter_gradient(%x: tensor<8x3x9x9xf32>, %g: tensor<8x5x9x9xf32>) -> tensor<5x3x3x3xf32> {
  %0 = autopar.transpose %x perm = [1, 0, 2, 3] : tensor<8x3x9x9xf32> -> tensor<3x8x9x9xf32>
  %1 = autopar.transpose %g perm = [1, 0, 2, 3] : tensor<8x5x9x9xf32> -> tensor<5x8x9x9xf32>
  %2 = autopar.convolution %0, %1 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<3x8x9x9xf32>, tensor<5x8x9x9xf32>) -> tensor<3x5x3x3xf32>
  %3 = autopar.transpose %2 perm = [1, 0, 2, 3] : tensor<3x5x3x3xf32> -> tensor<5x3x3x3xf32>
  return %3 : tensor<5x3x3x3xf32>
}

// -----

// A GEMM reads images where they are, through transposes and reshapes: a filter's gradient of a convolution of one position,
// and scores between channels. A transpose that something else reads is made all the same. Where images with channels last
// would make many small GEMMs of one, they are copied.
// CHECK-LABEL: func.func @contract_images
// CHECK: %[[A:.*]] = autopar.kernel {{.*}} library <convolution, {{[^>]*}}>
// CHECK: %[[B:.*]] = autopar.kernel {{.*}} library <convolution, {{[^>]*}}>
// CHECK-NOT: autopar.op = "transpose"
// CHECK-NOT: autopar.op = "copy"
// CHECK: autopar.kernel ins(%[[A]], %[[B]]) library <gemm, a = 0, b = 1> attributes {autopar.op = "einsum"} : (tensor<2x6x4x4xf32>, tensor<2x5x4x4xf32>)
// CHECK: autopar.transpose
// CHECK: autopar.transpose
// CHECK: autopar.einsum "opab,ipab->oi"
// CHECK-NOT: autopar.op = "copy"
// CHECK: return
// CHECK-LABEL: func.func @contract_and_keep
// CHECK: %[[C:.*]] = autopar.kernel {{.*}} library <convolution, {{[^>]*}}>
// CHECK: autopar.kernel ins(%[[C]]) {{.*}}autopar.op = "transpose"
// CHECK: autopar.kernel ins(%[[C]], %arg2) library <gemm
// CHECK: return
// CHECK-LABEL: func.func @contract_flat
// CHECK: %[[F:.*]] = autopar.kernel {{.*}} library <convolution, {{[^>]*}}>
// CHECK-NOT: autopar.op = "transpose"
// CHECK: autopar.kernel ins(%[[F]], %arg2) library <gemm
// CHECK: autopar.transpose
// CHECK: autopar.reshape
// CHECK: autopar.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-LABEL: func.func @contract_lines
// CHECK: library <convolution, {{[^>]*}}>
// CHECK: %[[L:.*]] = autopar.kernel {{.*}}autopar.op = "copy"
// CHECK: autopar.kernel ins(%[[L]], %arg2) library <gemm
func.func @contract_images(%x: tensor<2x3x4x4xf32>, %v: tensor<6x3x1x1xf32>, %w: tensor<5x3x1x1xf32>) -> (tensor<6x5xf32>, tensor<2x6x5xf32>) {
  %0 = autopar.convolution %x, %v strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x4x4xf32>, tensor<6x3x1x1xf32>) -> tensor<2x6x4x4xf32>
  %1 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>) -> tensor<2x5x4x4xf32>
  %2 = autopar.transpose %0 perm = [1, 0, 2, 3] : tensor<2x6x4x4xf32> -> tensor<6x2x4x4xf32>
  %3 = autopar.transpose %1 perm = [1, 0, 2, 3] : tensor<2x5x4x4xf32> -> tensor<5x2x4x4xf32>
  %4 = autopar.einsum "opab,ipab->oi" %2, %3 : (tensor<6x2x4x4xf32>, tensor<5x2x4x4xf32>) -> tensor<6x5xf32>
  %5 = autopar.reshape %0 : tensor<2x6x4x4xf32> -> tensor<2x6x16xf32>
  %6 = autopar.reshape %1 : tensor<2x5x4x4xf32> -> tensor<2x5x16xf32>
  %7 = autopar.einsum "bcn,bdn->bcd" %5, %6 : (tensor<2x6x16xf32>, tensor<2x5x16xf32>) -> tensor<2x6x5xf32>
  return %4, %7 : tensor<6x5xf32>, tensor<2x6x5xf32>
}
func.func @contract_and_keep(%x: tensor<2x3x4x4xf32>, %v: tensor<6x3x1x1xf32>, %y: tensor<5x2x4x4xf32>) -> (tensor<6x5xf32>, tensor<6x2x4x4xf32>) {
  %0 = autopar.convolution %x, %v strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x4x4xf32>, tensor<6x3x1x1xf32>) -> tensor<2x6x4x4xf32>
  %1 = autopar.transpose %0 perm = [1, 0, 2, 3] : tensor<2x6x4x4xf32> -> tensor<6x2x4x4xf32>
  %2 = autopar.einsum "opab,ipab->oi" %1, %y : (tensor<6x2x4x4xf32>, tensor<5x2x4x4xf32>) -> tensor<6x5xf32>
  return %2, %1 : tensor<6x5xf32>, tensor<6x2x4x4xf32>
}
func.func @contract_flat(%x: tensor<2x3x4x4xf32>, %v: tensor<6x3x1x1xf32>, %y: tensor<5x32xf32>) -> tensor<6x5xf32> {
  %0 = autopar.convolution %x, %v strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x4x4xf32>, tensor<6x3x1x1xf32>) -> tensor<2x6x4x4xf32>
  %1 = autopar.transpose %0 perm = [1, 0, 2, 3] : tensor<2x6x4x4xf32> -> tensor<6x2x4x4xf32>
  %2 = autopar.reshape %1 : tensor<6x2x4x4xf32> -> tensor<6x32xf32>
  %3 = autopar.einsum "ok,ik->oi" %2, %y : (tensor<6x32xf32>, tensor<5x32xf32>) -> tensor<6x5xf32>
  return %3 : tensor<6x5xf32>
}
func.func @contract_lines(%x: tensor<2x3x4x4xf32>, %v: tensor<6x3x1x1xf32>, %y: tensor<4x5xf32>) -> tensor<2x6x4x5xf32> {
  %0 = autopar.convolution %x, %v strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1
    : (tensor<2x3x4x4xf32>, tensor<6x3x1x1xf32>) -> tensor<2x6x4x4xf32>
  %1 = autopar.einsum "nchw,wk->nchk" %0, %y : (tensor<2x6x4x4xf32>, tensor<4x5xf32>) -> tensor<2x6x4x5xf32>
  return %1 : tensor<2x6x4x5xf32>
}

// -----

// Transposes of row-major tensors that no GEMM reads through: the kernel stays as it is, and the verifier of buffers tells.
// CHECK-LABEL: func.func @no_gemm_of_rows
// CHECK: autopar.kernel ins(%arg0, %arg1) library <gemm
func.func @no_gemm_of_rows(%x: tensor<2x6x4xf32>, %y: tensor<2x5x4xf32>) -> tensor<6x5xf32> {
  %0 = autopar.kernel ins(%x, %y) library <gemm, a = 0, b = 1> attributes {autopar.op = "einsum"} : (tensor<2x6x4xf32>, tensor<2x5x4xf32>) -> tensor<6x5xf32> {
  ^bb0(%a: tensor<2x6x4xf32>, %b: tensor<2x5x4xf32>):
    %1 = autopar.transpose %a perm = [1, 0, 2] : tensor<2x6x4xf32> -> tensor<6x2x4xf32>
    %2 = autopar.transpose %b perm = [1, 0, 2] : tensor<2x5x4xf32> -> tensor<5x2x4xf32>
    %3 = autopar.einsum "opa,ipa->oi" %1, %2 : (tensor<6x2x4xf32>, tensor<5x2x4xf32>) -> tensor<6x5xf32>
    autopar.yield %3 : tensor<6x5xf32>
  }
  return %0 : tensor<6x5xf32>
}
