// RUN: autopar-opt %s --split-input-file --autopar-plan="cluster=1x1:h100-80gb" --autopar-verify-plan | FileCheck %s

// The plan says which GEMMs are padded, for the memory of that is in its predictions. The rows of 50257 words are padded. Left as
// they are: aligned rows, rows of two dimensions, few products for each byte, few products at all.
module {
// CHECK-LABEL: func.func @step
// CHECK: einsum {{.*}}autopar.padded{{.*}} -> tensor<512x50257xbf16>
// CHECK-NOT: autopar.padded
// CHECK: return
func.func @step(%e: tensor<512x768xbf16> {autopar.source = #autopar.input<"e">}, %v: tensor<50257x768xbf16> {autopar.source = #autopar.parameter<"v", "m.onnx", offset = 0, length = 77194752>},
    %x: tensor<4096x768xf16> {autopar.source = #autopar.input<"x">}, %w: tensor<768x3000xf16> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 4608000>},
    %h: tensor<768x3x333xf16> {autopar.source = #autopar.parameter<"h", "m.onnx", offset = 0, length = 1534464>}, %q: tensor<4096x16xf16> {autopar.source = #autopar.input<"q">},
    %k: tensor<4095x16xf16> {autopar.source = #autopar.input<"k">}, %s: tensor<32x64xf16> {autopar.source = #autopar.input<"s">}, %t: tensor<64x33xf16> {autopar.source = #autopar.parameter<"t", "m.onnx", offset = 0, length = 4224>})
    -> (tensor<512x50257xbf16> {autopar.result = #autopar.output<"a">}, tensor<4096x3000xf16> {autopar.result = #autopar.output<"b">}, tensor<4096x3x333xf16> {autopar.result = #autopar.output<"c">},
        tensor<4096x4095xf16> {autopar.result = #autopar.output<"d">}, tensor<32x33xf16> {autopar.result = #autopar.output<"f">}) {
  %0 = autopar.einsum "mk,nk->mn" %e, %v : (tensor<512x768xbf16>, tensor<50257x768xbf16>) -> tensor<512x50257xbf16>
  %1 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<4096x768xf16>, tensor<768x3000xf16>) -> tensor<4096x3000xf16>
  %2 = autopar.einsum "mk,khn->mhn" %x, %h : (tensor<4096x768xf16>, tensor<768x3x333xf16>) -> tensor<4096x3x333xf16>
  %3 = autopar.einsum "mk,nk->mn" %q, %k : (tensor<4096x16xf16>, tensor<4095x16xf16>) -> tensor<4096x4095xf16>
  %4 = autopar.einsum "mk,kn->mn" %s, %t : (tensor<32x64xf16>, tensor<64x33xf16>) -> tensor<32x33xf16>
  return %0, %1, %2, %3, %4 : tensor<512x50257xbf16>, tensor<4096x3000xf16>, tensor<4096x3x333xf16>, tensor<4096x4095xf16>, tensor<32x33xf16>
}
}

// -----

// Floats that may be rounded to tf32, and floats that may not.
module attributes {autopar.precision = "tf32"} {
// CHECK-LABEL: func.func @step
// CHECK: einsum {{.*}}autopar.padded
func.func @step(%x: tensor<512x768xf32> {autopar.source = #autopar.input<"x">}, %w: tensor<768x3001xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 9219072>})
    -> (tensor<512x3001xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<512x768xf32>, tensor<768x3001xf32>) -> tensor<512x3001xf32>
  return %0 : tensor<512x3001xf32>
}
}

// -----

module {
// CHECK-LABEL: func.func @step
// CHECK-NOT: autopar.padded
// CHECK: return
func.func @step(%x: tensor<512x768xf32> {autopar.source = #autopar.input<"x">}, %w: tensor<768x3001xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 9219072>})
    -> (tensor<512x3001xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<512x768xf32>, tensor<768x3001xf32>) -> tensor<512x3001xf32>
  return %0 : tensor<512x3001xf32>
}
}
