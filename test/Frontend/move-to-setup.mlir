// RUN: autopar-opt %s --mlir-print-debuginfo=false -autopar-move-to-setup -split-input-file | FileCheck %s
// RUN: autopar-opt %s --mlir-print-debuginfo=false -autopar-move-to-setup -autopar-move-to-setup -split-input-file | FileCheck %s

// What no input reaches is computed once; its sources leave @step. The broadcast of the result stays.
// CHECK-LABEL: func.func @setup(%arg0: tensor<3xf32> {autopar.source = #autopar.parameter<"v", "m.onnx", offset = 0, length = 12>})
// CHECK-SAME: -> (tensor<3xf32> {autopar.result = #autopar.setup_value<"root">})
// CHECK: %[[ROOT:.*]] = autopar.unary sqrt %arg0
// CHECK: return %[[ROOT]]
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %arg0: tensor<2x3xf32> {autopar.source = #autopar.input<"x">}
// CHECK-SAME: %arg1: tensor<3xf32> {autopar.source = #autopar.setup_result<0>}
// CHECK-NOT: parameter
// CHECK: %[[WIDE:.*]] = autopar.broadcast %arg1 dims = [1]
// CHECK: autopar.binary mul %arg0, %[[WIDE]]
func.func @step(%x: tensor<2x3xf32> {autopar.source = #autopar.input<"x">},
                %v: tensor<3xf32> {autopar.source = #autopar.parameter<"v", "m.onnx", offset = 0, length = 12>})
    -> (tensor<2x3xf32> {autopar.result = #autopar.output<"y">}) {
  %root = autopar.unary sqrt %v {autopar.names = ["root"]} : tensor<3xf32> -> tensor<3xf32>
  %wide = autopar.broadcast %root dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %y = autopar.binary mul %x, %wide : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Broadcasts, reshapes, constants and positions alone are no work: there is no @setup.
// CHECK-NOT: @setup
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %arg1: tensor<3xf32> {autopar.source = #autopar.parameter
func.func @step(%x: tensor<2x3xf32> {autopar.source = #autopar.input<"x">},
                %b: tensor<3xf32> {autopar.source = #autopar.parameter<"b", "m.onnx", offset = 0, length = 12>})
    -> (tensor<2x3xf32> {autopar.result = #autopar.output<"y">}) {
  %one = autopar.constant dense<1.0> : tensor<2x3xf32>
  %wide = autopar.broadcast %b dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %s = autopar.binary add %x, %wide : tensor<2x3xf32>
  %y = autopar.binary add %s, %one : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A mask for several layers is made once; one that a single op reads, larger than what it is made of, stays where it is fused.
// CHECK-LABEL: func.func @setup()
// CHECK-SAME: -> (tensor<1024x1024xi1> {autopar.result = #autopar.setup_value<"mask">})
// CHECK: autopar.iota
// CHECK: autopar.compare le
// CHECK-LABEL: func.func @step(
// CHECK-NOT: compare le
// CHECK: autopar.compare ge
func.func @step(%x: tensor<1024x1024xf32> {autopar.source = #autopar.input<"x">})
    -> (tensor<1024x1024xf32> {autopar.result = #autopar.output<"y">}) {
  %row = autopar.iota dim = 0 : () -> tensor<1024x1024xi64>
  %column = autopar.iota dim = 1 : () -> tensor<1024x1024xi64>
  %zero = autopar.constant dense<0.0> : tensor<1024x1024xf32>
  %mask = autopar.compare le %row, %column {autopar.names = ["mask"]} : tensor<1024x1024xi64> -> tensor<1024x1024xi1>
  %a = autopar.select %mask, %x, %zero : tensor<1024x1024xi1>, tensor<1024x1024xf32>
  %b = autopar.unary exp %a : tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  %c = autopar.select %mask, %b, %zero : tensor<1024x1024xi1>, tensor<1024x1024xf32>
  %column64 = autopar.convert %column : tensor<1024x1024xi64> -> tensor<1024x1024xf64>
  %row64 = autopar.convert %row : tensor<1024x1024xi64> -> tensor<1024x1024xf64>
  %once = autopar.compare ge %row64, %column64 : tensor<1024x1024xf64> -> tensor<1024x1024xi1>
  %wide = autopar.convert %once : tensor<1024x1024xi1> -> tensor<1024x1024xf32>
  %y = autopar.binary mul %c, %wide : tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// -----

// An output that no input reaches is a value of setup. Names that are taken get a number.
// CHECK-LABEL: func.func @setup(
// CHECK-SAME: #autopar.setup_value<"node/0">
// CHECK-SAME: #autopar.setup_value<"node/1">
// CHECK-LABEL: func.func @step(
// CHECK: return %arg{{[01]}}, %arg{{[01]}}
func.func @step(%v: tensor<3xf32> {autopar.source = #autopar.parameter<"v", "m.onnx", offset = 0, length = 12>})
    -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}, tensor<3xf32> {autopar.result = #autopar.output<"z">}) {
  %y = autopar.unary sqrt %v : tensor<3xf32> -> tensor<3xf32> loc("node")
  %z = autopar.unary exp %v : tensor<3xf32> -> tensor<3xf32> loc("node")
  return %y, %z : tensor<3xf32>, tensor<3xf32>
}

// -----

// What a library reads is stored even if it is larger than what it is made of: no kernel makes it where it is read.
// CHECK-LABEL: func.func @setup(
// CHECK: autopar.convert
// CHECK-LABEL: func.func @step(
// CHECK-SAME: tensor<1024x512xf32> {autopar.source = #autopar.setup_result<0>}
// CHECK-NOT: convert
func.func @step(%x: tensor<2x2x512xf32> {autopar.source = #autopar.input<"x">},
                %w: tensor<1024x512xi8> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 524288>})
    -> (tensor<2x2x512xf32> {autopar.result = #autopar.output<"y">}) {
  %wide = autopar.convert %w : tensor<1024x512xi8> -> tensor<1024x512xf32>
  %parts = autopar.reshape %wide : tensor<1024x512xf32> -> tensor<2x512x512xf32>
  %y = autopar.einsum "cmk,ckn->cmn" %x, %parts : (tensor<2x2x512xf32>, tensor<2x512x512xf32>) -> tensor<2x2x512xf32>
  return %y : tensor<2x2x512xf32>
}
