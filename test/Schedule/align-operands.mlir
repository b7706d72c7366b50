// RUN: autopar-opt %s --autopar-align-operands --split-input-file | FileCheck %s -enable-var-scope

// A vocabulary of 50,257 words that also embeds: beside the setup value, which other work reads, there is a padded one.
module attributes {autopar.target = "emulated"} {
autopar.mesh @mesh #autopar.mesh<["x"=1]>
// CHECK-LABEL: func.func @setup_0
// CHECK: -> (tensor<50257x768xbf16> {{.*}}, tensor<50264x768xbf16> {autopar.global_type = tensor<50264x768xbf16>, autopar.result = #autopar.setup_value<"w/aligned">
// CHECK: %[[W:.*]] = autopar.convert
// CHECK: %[[P:.*]] = autopar.pad %[[W]] low = [0, 0] high = [7, 0] value = 0
// CHECK: return %[[W]], %[[P]]
func.func @setup_0(%w: tensor<50257x768xf32> {autopar.global_type = tensor<50257x768xf32>, autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>, autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 4>}) -> (tensor<50257x768xbf16> {autopar.global_type = tensor<50257x768xbf16>, autopar.result = #autopar.setup_value<"w">, autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>}) {
  %0 = autopar.convert %w : tensor<50257x768xf32> -> tensor<50257x768xbf16>
  return %0 : tensor<50257x768xbf16>
}
// CHECK-LABEL: func.func @step_0
// CHECK-SAME: %[[X:[^:]*]]: tensor<512x768xbf16>
// CHECK-SAME: %{{[^:]*}}: tensor<50257x768xbf16> {{[^%]*}}#autopar.setup_result<0>
// CHECK-SAME: %[[V:[^:]*]]: tensor<50264x768xbf16> {{[^%]*}}#autopar.setup_result<1>
// CHECK: %[[Y:.*]] = autopar.einsum "mk,nk->mn" %[[X]], %[[V]] {{.*}} -> tensor<512x50264xbf16>
// CHECK: %[[S:.*]] = autopar.slice %[[Y]] starts = [0, 0] steps = [1, 1] {autopar.names = ["logits"]} : tensor<512x50264xbf16> -> tensor<512x50257xbf16>
// CHECK: return %[[S]]
func.func @step_0(%x: tensor<512x768xbf16>, %w: tensor<50257x768xbf16> {autopar.global_type = tensor<50257x768xbf16>, autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>, autopar.source = #autopar.setup_result<0>}) -> (tensor<512x50257xbf16>, tensor<50257x768xbf16>) {
  %0 = autopar.einsum "mk,nk->mn" %x, %w {autopar.padded, autopar.names = ["logits"]} : (tensor<512x768xbf16>, tensor<50257x768xbf16>) -> tensor<512x50257xbf16>
  %1 = autopar.unary neg %w : tensor<50257x768xbf16> -> tensor<50257x768xbf16>
  return %0, %1 : tensor<512x50257xbf16>, tensor<50257x768xbf16>
}
}

// -----

// What nothing else reads is padded in its place. Each of two ranks pads its block: 515 of 1,030 columns and rows. Gradients,
// read by two GEMMs, are padded once.
module attributes {autopar.target = "emulated"} {
autopar.mesh @mesh #autopar.mesh<["x"=2]>
// CHECK-LABEL: func.func @setup_0
// CHECK: -> (tensor<1024x520xf16> {autopar.global_type = tensor<1024x1040xf16>, autopar.result = #autopar.setup_value<"w">
func.func @setup_0(%w: tensor<1024x515xf32> {autopar.global_type = tensor<1024x1030xf32>, autopar.sharding = #autopar.sharding<@mesh, [{}, {"x"}]>, autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 4>}) -> (tensor<1024x515xf16> {autopar.global_type = tensor<1024x1030xf16>, autopar.result = #autopar.setup_value<"w">, autopar.sharding = #autopar.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = autopar.convert %w : tensor<1024x515xf32> -> tensor<1024x515xf16>
  return %0 : tensor<1024x515xf16>
}
// CHECK-LABEL: func.func @step_0
// CHECK-SAME: %[[G:[^:]*]]: tensor<512x515xf16>, %[[X:[^:]*]]: tensor<512x1024xf16>
// CHECK-SAME: %[[W:[^:]*]]: tensor<1024x520xf16> {autopar.global_type = tensor<1024x1040xf16>
// CHECK: %[[P:.*]] = autopar.pad %[[G]] low = [0, 0] high = [0, 5]
// CHECK-NOT: autopar.pad
// CHECK: autopar.einsum "mn,kn->mk" %[[P]], %[[W]] {{.*}} -> tensor<512x1024xf16>
// CHECK: %[[D:.*]] = autopar.einsum "mk,mn->kn" %[[X]], %[[P]] {{.*}} -> tensor<1024x520xf16>
// CHECK: autopar.slice %[[D]] {{.*}} -> tensor<1024x515xf16>
func.func @step_0(%g: tensor<512x515xf16>, %x: tensor<512x1024xf16>, %w: tensor<1024x515xf16> {autopar.global_type = tensor<1024x1030xf16>, autopar.sharding = #autopar.sharding<@mesh, [{}, {"x"}]>, autopar.source = #autopar.setup_result<0>}) -> (tensor<512x1024xf16>, tensor<1024x515xf16>) {
  %0 = autopar.einsum "mn,kn->mk" %g, %w {autopar.padded} : (tensor<512x515xf16>, tensor<1024x515xf16>) -> tensor<512x1024xf16>
  %1 = autopar.einsum "mk,mn->kn" %x, %g {autopar.padded} : (tensor<512x1024xf16>, tensor<512x515xf16>) -> tensor<1024x515xf16>
  return %0, %1 : tensor<512x1024xf16>, tensor<1024x515xf16>
}
}

// -----

// A parameter as it is, where floats may be rounded to tf32, gets a setup of its own.
module attributes {autopar.target = "emulated", autopar.precision = "tf32"} {
autopar.mesh @mesh #autopar.mesh<["x"=1]>
// CHECK-LABEL: func.func @setup_0
// CHECK-SAME: #autopar.parameter<"w"
// CHECK-SAME: -> (tensor<768x3004xf32> {{.*}}#autopar.setup_value<"w/aligned">
// CHECK-LABEL: func.func @step_0
// CHECK: autopar.einsum {{.*}} -> tensor<512x3004xf32>
func.func @step_0(%x: tensor<512x768xf32>, %w: tensor<768x3001xf32> {autopar.global_type = tensor<768x3001xf32>, autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>, autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 4>}) -> tensor<512x3001xf32> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w {autopar.padded} : (tensor<512x768xf32>, tensor<768x3001xf32>) -> tensor<512x3001xf32>
  return %0 : tensor<512x3001xf32>
}
}

// -----

// Left as they are: what the plan does not pad, and where it pads, aligned rows and rows of two dimensions.
module attributes {autopar.target = "emulated"} {
autopar.mesh @mesh #autopar.mesh<["x"=1]>
// CHECK-LABEL: func.func @step_0
// CHECK-NOT: autopar.pad
// CHECK-NOT: autopar.slice
// CHECK: return
func.func @step_0(%x: tensor<4096x768xf16>, %w: tensor<768x3000xf16>, %h: tensor<768x3x333xf16>, %q: tensor<4096x16xf16>, %k: tensor<4095x16xf16>, %s: tensor<32x64xf16>, %t: tensor<64x33xf16>) -> (tensor<4096x3000xf16>, tensor<4096x3x333xf16>, tensor<4096x4095xf16>, tensor<32x33xf16>) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w {autopar.padded} : (tensor<4096x768xf16>, tensor<768x3000xf16>) -> tensor<4096x3000xf16>
  %1 = autopar.einsum "mk,khn->mhn" %x, %h {autopar.padded} : (tensor<4096x768xf16>, tensor<768x3x333xf16>) -> tensor<4096x3x333xf16>
  %2 = autopar.einsum "mk,nk->mn" %q, %k : (tensor<4096x16xf16>, tensor<4095x16xf16>) -> tensor<4096x4095xf16>
  %3 = autopar.einsum "mk,kn->mn" %s, %t : (tensor<32x64xf16>, tensor<64x33xf16>) -> tensor<32x33xf16>
  return %0, %1, %2, %3 : tensor<4096x3000xf16>, tensor<4096x3x333xf16>, tensor<4096x4095xf16>, tensor<32x33xf16>
}
}

// -----

// A CPU's kernels take any rows.
module {
autopar.mesh @mesh #autopar.mesh<["x"=1]>
// CHECK-LABEL: func.func @step_0
// CHECK-NEXT: autopar.einsum
// CHECK-NEXT: return
func.func @step_0(%x: tensor<4096x768xf16>, %w: tensor<768x3001xf16>) -> tensor<4096x3001xf16> {
  %0 = autopar.einsum "mk,kn->mn" %x, %w {autopar.padded} : (tensor<4096x768xf16>, tensor<768x3001xf16>) -> tensor<4096x3001xf16>
  return %0 : tensor<4096x3001xf16>
}
}
