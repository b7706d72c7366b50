// RUN: autopar-opt %s --autopar-assign-precision --split-input-file | FileCheck %s -enable-var-scope

// A matrix multiplication is computed in bf16; its bias follows, below the broadcast; softmax is
// computed in f32, and the result keeps its type.
module attributes {autopar.precision = "bf16"} {
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>
// CHECK-SAME: %[[W:.*]]: tensor<4x8xf32>
// CHECK-SAME: %[[B:.*]]: tensor<8xf32>
// CHECK-SAME: -> (tensor<2x8xf32>
// CHECK-DAG: %[[XL:.*]] = autopar.convert %[[X]] : tensor<2x4xf32> -> tensor<2x4xbf16>
// CHECK-DAG: %[[WL:.*]] = autopar.convert %[[W]] : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK-DAG: %[[BL:.*]] = autopar.convert %[[B]] : tensor<8xf32> -> tensor<8xbf16>
// CHECK-DAG: %[[P:.*]] = autopar.einsum "mk,kn->mn" %[[XL]], %[[WL]] {{.*}} -> tensor<2x8xbf16>
// CHECK-DAG: %[[C:.*]] = autopar.broadcast %[[BL]] {{.*}} -> tensor<2x8xbf16>
// CHECK: %[[S:.*]] = autopar.binary add %[[P]], %[[C]] : tensor<2x8xbf16>
// CHECK: %[[F:.*]] = autopar.convert %[[S]] : tensor<2x8xbf16> -> tensor<2x8xf32>
// CHECK: %[[R:.*]] = autopar.softmax %[[F]] dim = 1 : tensor<2x8xf32>
// CHECK: return %[[R]]
func.func @step(%x: tensor<2x4xf32> {autopar.source = #autopar.input<"x">},
                %w: tensor<4x8xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 128>},
                %b: tensor<8xf32> {autopar.source = #autopar.parameter<"b", "m", offset = 128, length = 32>})
    -> (tensor<2x8xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %1 = autopar.broadcast %b dims = [1] : tensor<8xf32> -> tensor<2x8xf32>
  %2 = autopar.binary add %0, %1 : tensor<2x8xf32>
  %3 = autopar.softmax %2 dim = 1 : tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}
}

// -----

// A sum with an f32 value of the step is f32; two einsums in a row need no convert
// between them, and one input one convert.
module attributes {autopar.precision = "fp16"} {
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>
// CHECK: %[[L:.*]] = autopar.convert %[[X]]
// CHECK-NOT: convert
// CHECK: %[[A:.*]] = autopar.einsum "mk,kn->mn" %[[L]], %[[L]] {{.*}} -> tensor<4x4xf16>
// CHECK: %[[B:.*]] = autopar.einsum "mk,kn->mn" %[[A]], %[[L]] {{.*}} -> tensor<4x4xf16>
// CHECK: %[[F:.*]] = autopar.convert %[[B]] : tensor<4x4xf16> -> tensor<4x4xf32>
// CHECK: autopar.binary add %[[F]], %[[X]] : tensor<4x4xf32>
func.func @step(%x: tensor<4x4xf32> {autopar.source = #autopar.input<"x">})
    -> (tensor<4x4xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = autopar.binary add %1, %x : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
}

// -----

// A constant that the low type does not hold keeps the sum in f32; one that it holds
// follows. What depends on parameters alone stays f32.
module attributes {autopar.precision = "bf16"} {
// CHECK-LABEL: func.func @step
// CHECK: autopar.binary sub {{.*}} : tensor<4x4xf32>
// CHECK: %[[HALF:.*]] = autopar.constant dense<5.000000e-01> : tensor<4x4xbf16>
// CHECK: autopar.binary mul %{{.*}}, %[[HALF]] : tensor<4x4xbf16>
// CHECK: autopar.einsum "mk,kn->mn" {{.*}} -> tensor<4x4xbf16>
// CHECK: autopar.binary add {{.*}} : tensor<4x4xf32>
func.func @step(%x: tensor<4x4xf32> {autopar.source = #autopar.input<"x">},
                %w: tensor<4x4xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 64>})
    -> (tensor<4x4xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.binary sub %w, %w : tensor<4x4xf32>
  %half = autopar.constant dense<0.5> : tensor<4x4xf32>
  %least = autopar.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  %1 = autopar.einsum "mk,kn->mn" %x, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = autopar.binary mul %1, %half : tensor<4x4xf32>
  %3 = autopar.einsum "mk,kn->mn" %2, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = autopar.binary add %3, %least : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
}

// -----

// An epsilon that fp16 makes zero, or a number of fewer digits, keeps its op in f32;
// zero and what fp16 holds follow.
module attributes {autopar.precision = "fp16"} {
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = autopar.einsum "mk,kn->mn" {{.*}} -> tensor<4x4xf16>
// CHECK: %[[PF:.*]] = autopar.convert %[[P]] : tensor<4x4xf16> -> tensor<4x4xf32>
// CHECK: %[[D:.*]] = autopar.binary max %[[PF]], %{{.*}} : tensor<4x4xf32>
// CHECK: autopar.binary div %{{.*}}, %[[D]] : tensor<4x4xf32>
// CHECK: autopar.binary add %[[PF]], %{{.*}} : tensor<4x4xf32>
// CHECK: autopar.binary max %[[P]], %{{.*}} : tensor<4x4xf16>
func.func @step(%x: tensor<4x4xf32> {autopar.source = #autopar.input<"x">})
    -> (tensor<4x4xf32> {autopar.result = #autopar.output<"y">},
        tensor<4x4xf32> {autopar.result = #autopar.output<"z">},
        tensor<4x4xf32> {autopar.result = #autopar.output<"r">}) {
  %epsilon = autopar.constant dense<1.0e-9> : tensor<4x4xf32>
  %subnormal = autopar.constant dense<-1.0e-5> : tensor<4x4xf32>
  %zero = autopar.constant dense<0.0> : tensor<4x4xf32>
  %0 = autopar.einsum "mk,kn->mn" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = autopar.binary max %0, %epsilon : tensor<4x4xf32>
  %2 = autopar.binary div %0, %1 : tensor<4x4xf32>
  %3 = autopar.binary add %0, %subnormal : tensor<4x4xf32>
  %4 = autopar.binary max %0, %zero : tensor<4x4xf32>
  return %2, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
}

// -----

// An outer product is no sum: positions keep their digits. tf32 changes no type.
module attributes {autopar.precision = "bf16"} {
// CHECK-LABEL: func.func @step
// CHECK-NOT: bf16
// CHECK: return
func.func @step(%x: tensor<4x1xf32> {autopar.source = #autopar.input<"x">}, %f: tensor<1x4xf32> {autopar.source = #autopar.input<"f">})
    -> (tensor<4x4xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %f : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
}

// -----

module attributes {autopar.precision = "tf32"} {
// CHECK-LABEL: func.func @step
// CHECK-NOT: convert
// CHECK: return
func.func @step(%x: tensor<4x4xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<4x4xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
}

// -----

// Whole numbers that become integers: a low type does not hold their sums.
// CHECK-LABEL: func.func @step(
// CHECK: einsum {{.*}} -> tensor<2x4xf32>
module attributes {autopar.precision = "bf16"} {
  func.func @step(%x: tensor<2x300xf32> {autopar.source = #autopar.input<"x">}, %w: tensor<300x4xf32> {autopar.source = #autopar.input<"w">})
      -> (tensor<4x2xi32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<2x300xf32>, tensor<300x4xf32>) -> tensor<2x4xf32>
    %1 = autopar.unary round %0 : tensor<2x4xf32> -> tensor<2x4xf32>
    %2 = autopar.reshape %1 : tensor<2x4xf32> -> tensor<4x2xf32>
    %3 = autopar.convert %2 : tensor<4x2xf32> -> tensor<4x2xi32>
    return %3 : tensor<4x2xi32>
  }
}

// -----

// What they are made of may be low: it is converted.
// CHECK-LABEL: func.func @step(
// CHECK: %[[LOW:.*]] = autopar.einsum {{.*}} -> tensor<2x3xbf16>
// CHECK: %[[FULL:.*]] = autopar.convert %[[LOW]] : tensor<2x3xbf16> -> tensor<2x3xf32>
// CHECK: autopar.einsum "mk,kn->mn" %[[FULL]], %{{.*}} -> tensor<2x4xf32>
module attributes {autopar.precision = "bf16"} {
  func.func @step(%x: tensor<2x300xf32> {autopar.source = #autopar.input<"x">}, %v: tensor<300x3xf32> {autopar.source = #autopar.input<"v">},
      %w: tensor<3x4xf32> {autopar.source = #autopar.input<"w">}) -> (tensor<2x4xi32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.einsum "mk,kn->mn" %x, %v : (tensor<2x300xf32>, tensor<300x3xf32>) -> tensor<2x3xf32>
    %1 = autopar.einsum "mk,kn->mn" %0, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = autopar.convert %1 : tensor<2x4xf32> -> tensor<2x4xi32>
    return %2 : tensor<2x4xi32>
  }
}

// -----

// A table that is computed, not read: beside what is low it is low, else it is as exact as what it multiplies. A matrix that is written down is a weight.
// CHECK-LABEL: func.func @step(
// CHECK: %[[FULL:.*]] = autopar.einsum "mk,kn->mn" %{{.*}} : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
// CHECK: autopar.convert %[[FULL]] : tensor<2x8xf32> -> tensor<2x8xbf16>
// CHECK: %[[LOW:.*]] = autopar.einsum "mk,kn->mn" %{{.*}} -> tensor<2x8xbf16>
// CHECK: autopar.einsum "mk,kn->mn" %[[LOW]], %{{.*}} : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>
// CHECK: autopar.einsum "mk,kn->mn" %{{.*}} : (tensor<2x8xbf16>, tensor<8x1xbf16>) -> tensor<2x1xbf16>
module attributes {autopar.precision = "bf16"} {
  func.func @step(%x: tensor<2x8xf32> {autopar.source = #autopar.input<"x">}, %w: tensor<8x8xf32> {autopar.source = #autopar.parameter<"w", "model.onnx", offset = 0, length = 256>})
      -> (tensor<2x1xf32> {autopar.result = #autopar.output<"y">}) {
    %v = autopar.constant dense<[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]> : tensor<8xf32>
    %rows = autopar.broadcast %v dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
    %table = autopar.unary cos %rows : tensor<8x8xf32> -> tensor<8x8xf32>
    %0 = autopar.einsum "mk,kn->mn" %x, %table : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %1 = autopar.einsum "mk,kn->mn" %0, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %2 = autopar.einsum "mk,kn->mn" %1, %table : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %c = autopar.constant dense<[[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [0.6], [0.7]]> : tensor<8x1xf32>
    %3 = autopar.einsum "mk,kn->mn" %2, %c : (tensor<2x8xf32>, tensor<8x1xf32>) -> tensor<2x1xf32>
    return %3 : tensor<2x1xf32>
  }
}
