// RUN: autopar-opt %s --mlir-print-debuginfo=false --autopar-form-kernels --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @bias_and_activation
// CHECK: %[[H:.*]] = autopar.kernel ins(%arg0, %arg1, %arg2) library <gemm, {{[^>]*}}>
// CHECK: ^bb0(%[[X:.*]]: tensor<2x4xf32>, %[[W:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<3xf32>):
// CHECK: %[[P:.*]] = autopar.einsum "mk,kn->mn" %[[X]], %[[W]]
// CHECK: %[[S:.*]] = autopar.broadcast %[[B]]
// CHECK: %[[A:.*]] = autopar.binary add %[[P]], %[[S]]
// CHECK: %[[R:.*]] = autopar.unary relu %[[A]]
// CHECK: autopar.yield %[[R]]
// CHECK: return %[[H]]
func.func @bias_and_activation(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = autopar.broadcast %b dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %2 = autopar.binary add %0, %1 : tensor<2x3xf32>
  %3 = autopar.unary relu %2 : tensor<2x3xf32> -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// -----

// Names of nodes and values go to the kernel, so that bodies of equal layers are equal.
// CHECK-LABEL: func.func @names
// CHECK: autopar.kernel ins(%arg0) attributes {autopar.in_place = array<i64: 0>, autopar.names = ["y"], autopar.op = "/layer/Tanh"}
// CHECK-NOT: autopar.names
// CHECK: return
func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = autopar.unary tanh %x {autopar.names = ["y"]} : tensor<4xf32> -> tensor<4xf32> loc("/layer/Tanh")
  return %0 : tensor<4xf32>
}

// -----

// Communication stays between kernels; reshapes rename what is in memory.
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @communication_between_kernels
// CHECK: %[[A:.*]] = autopar.kernel ins(%arg0)
// CHECK: %[[V:.*]] = autopar.reshape %[[A]]
// CHECK: %[[R:.*]] = autopar.all_reduce %[[V]] mesh = @mesh axes = ["data"]
// CHECK-SAME: autopar.op = "all_reduce"
// CHECK: %[[B:.*]] = autopar.kernel ins(%[[R]])
// CHECK: return %[[B]]
func.func @communication_between_kernels(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = autopar.unary exp %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = autopar.reshape %0 : tensor<2x3xf32> -> tensor<6xf32>
  %2 = autopar.all_reduce %1 mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<6xf32>) -> tensor<6xf32>
  %3 = autopar.unary log %2 : tensor<6xf32> -> tensor<6xf32>
  return %3 : tensor<6xf32>
}

// -----

// A result that is an argument, or a result for the second time, is copied.
// CHECK-LABEL: func.func @copied_results
// CHECK: %[[A:.*]] = autopar.kernel ins(%arg0)
// CHECK: %[[C0:.*]] = autopar.kernel ins(%arg0) attributes {autopar.op = "copy"}
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4xf32>):
// CHECK-NEXT: autopar.yield %[[X]]
// CHECK: %[[C1:.*]] = autopar.kernel ins(%[[A]]) attributes {autopar.op = "copy"}
// CHECK: return %[[C0]], %[[A]], %[[C1]]
func.func @copied_results(%x: tensor<4xf32> {autopar.source = #autopar.input<"x">})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = autopar.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  return %x, %0, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A constant result gets a kernel of its own; dead work none.
// CHECK-LABEL: func.func @constant_result
// CHECK: %[[C:.*]] = autopar.kernel ins()
// CHECK: autopar.constant dense<1.0{{.*}}> : tensor<2xf32>
// CHECK: return %[[C]]
func.func @constant_result(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = autopar.constant dense<1.0> : tensor<2xf32>
  %1 = autopar.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<2xf32>
}

// -----

// A reshape of a constant that is in memory for one reader and is repeated in
// the kernel of another.
autopar.mesh @mesh #autopar.mesh<["x"=2]>
// CHECK-LABEL: func.func @reshape_in_memory_and_in_kernel
// CHECK: %[[C:.*]] = autopar.kernel ins()
// CHECK: %[[V:.*]] = autopar.reshape %[[C]]
// CHECK: %[[Z:.*]] = autopar.kernel ins()
// CHECK: %[[K:.*]] = autopar.constant
// CHECK: autopar.reshape %[[K]]
// CHECK: autopar.all_reduce %[[V]]
func.func @reshape_in_memory_and_in_kernel() -> (tensor<7xf64>, tensor<7xf64>) {
  %c = autopar.constant dense<5.0> : tensor<7xf64>
  %s = autopar.unary sin %c : tensor<7xf64> -> tensor<7xf64>
  %r = autopar.reshape %c : tensor<7xf64> -> tensor<7xf64>
  %z = autopar.binary mul %s, %r : tensor<7xf64>
  %u = autopar.all_reduce %r mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<7xf64>) -> tensor<7xf64>
  return %z, %u : tensor<7xf64>, tensor<7xf64>
}

// -----

// The gradient of a filter takes its transposes along, whatever else their operands are for; one that something else
// reads stays a kernel of its own.
// CHECK-LABEL: func.func @filter_gradient
// CHECK: autopar.kernel ins(%arg0, %arg1) library <filter_gradient, a = 0, b = 1>
// CHECK-NEXT: ^bb0
// CHECK-NEXT: autopar.transpose
// CHECK-NEXT: autopar.transpose
// CHECK-NEXT: autopar.convolution
// CHECK: %[[T:.*]] = autopar.kernel ins(%arg0) attributes
// CHECK: library <convolution, a = 0, b = 1>
func.func @filter_gradient(%x: tensor<8x3x9x9xf32>, %g: tensor<8x5x9x9xf32>) -> (tensor<3x5x3x3xf32>, tensor<3x8x9x9xf32>, tensor<3x5x3x3xf32>) {
  %0 = autopar.transpose %x perm = [1, 0, 2, 3] : tensor<8x3x9x9xf32> -> tensor<3x8x9x9xf32>
  %1 = autopar.transpose %g perm = [1, 0, 2, 3] : tensor<8x5x9x9xf32> -> tensor<5x8x9x9xf32>
  %2 = autopar.convolution %0, %1 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<3x8x9x9xf32>, tensor<5x8x9x9xf32>) -> tensor<3x5x3x3xf32>
  %3 = autopar.transpose %x perm = [1, 0, 2, 3] : tensor<8x3x9x9xf32> -> tensor<3x8x9x9xf32>
  %4 = autopar.transpose %g perm = [1, 0, 2, 3] : tensor<8x5x9x9xf32> -> tensor<5x8x9x9xf32>
  %5 = autopar.convolution %3, %4 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<3x8x9x9xf32>, tensor<5x8x9x9xf32>) -> tensor<3x5x3x3xf32>
  return %2, %3, %5 : tensor<3x5x3x3xf32>, tensor<3x8x9x9xf32>, tensor<3x5x3x3xf32>
}

// -----

// A sum over images makes its summands itself where their factors are in memory anyway, so that none is stored: the difference
// is a result. A product of values that only one kernel has stays in that kernel.
// CHECK-LABEL: func.func @sums_of_products
// CHECK: %[[D:.*]] = autopar.kernel ins(%arg0, %arg1)
// CHECK: autopar.binary sub
// CHECK: %[[V:.*]] = autopar.kernel ins(%[[D]])
// CHECK: autopar.binary mul
// CHECK: autopar.reduce sum
// CHECK: %[[P:.*]]:2 = autopar.kernel ins(%[[V]], %[[D]], %arg1)
// CHECK: autopar.unary exp
// CHECK: autopar.binary mul
// CHECK: autopar.kernel ins(%[[P]]#{{[01]}})
// CHECK-NOT: autopar.binary
// CHECK: autopar.reduce sum
// CHECK: return %[[D]], %[[V]]
func.func @sums_of_products(%x: tensor<8x3x6x5xf32>, %y: tensor<8x3x6x5xf32>)
    -> (tensor<8x3x6x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<8x3x6x5xf32>) {
  %0 = autopar.binary sub %x, %y : tensor<8x3x6x5xf32>
  %1 = autopar.binary mul %0, %0 : tensor<8x3x6x5xf32>
  %2 = autopar.reduce sum %1 dims = [0, 2, 3] : tensor<8x3x6x5xf32> -> tensor<3xf32>
  %3 = autopar.broadcast %2 dims = [1] : tensor<3xf32> -> tensor<8x3x6x5xf32>
  %4 = autopar.binary add %0, %3 : tensor<8x3x6x5xf32>
  %5 = autopar.unary exp %4 : tensor<8x3x6x5xf32> -> tensor<8x3x6x5xf32>
  %6 = autopar.binary mul %5, %4 : tensor<8x3x6x5xf32>
  %7 = autopar.reduce sum %6 dims = [0, 2, 3] : tensor<8x3x6x5xf32> -> tensor<3xf32>
  %8 = autopar.binary mul %4, %y : tensor<8x3x6x5xf32>
  return %0, %2, %7, %8 : tensor<8x3x6x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<8x3x6x5xf32>
}
