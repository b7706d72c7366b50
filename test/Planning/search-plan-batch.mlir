// Which dimension `data` splits: the one that the forward graph carries from inputs to outputs and no op mixes.

// RUN: split-file %s %t
// RUN: autopar-opt %t/recurrence.mlir --autopar-plan="ranks=2 strategy=data save=%t/plan" -o /dev/null
// RUN: FileCheck %s --check-prefix=SEQUENCE < %t/plan
// SEQUENCE: "collectives": []
// SEQUENCE: "x": {
// SEQUENCE-NEXT: "dims": [
// SEQUENCE-NEXT: [],
// SEQUENCE-NEXT: [
// SEQUENCE-NEXT: "data"

// RUN: autopar-opt %t/training.mlir --autopar-plan="ranks=2 strategy=data save=%t/plan" -o /dev/null
// RUN: FileCheck %s --check-prefix=TRAINING < %t/plan
// The batch of 8 and not the 4 of t, which divides it: the loss reduces what has it.
// TRAINING: "t": {
// TRAINING-NEXT: "dims": [
// TRAINING-NEXT: [],
// TRAINING: "x": {
// TRAINING-NEXT: "dims": [
// TRAINING-NEXT: [
// TRAINING-NEXT: "data"

// RUN: not autopar-opt %t/mixed.mlir --autopar-plan="ranks=2 strategy=layer micro-batches=2" 2>&1 | FileCheck %s --check-prefix=MIXED
// Features are no batch, though nothing mixes them.
// MIXED: needs the whole batch

//--- recurrence.mlir
// Two steps of [sequence, batch, features]; the initial state is a parameter of zeros.
func.func @step(%x: tensor<2x6x4xf32> {autopar.source = #autopar.input<"x">},
                %w: tensor<4x5xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 80>},
                %r: tensor<5x5xf32> {autopar.source = #autopar.parameter<"r", "m.onnx", offset = 80, length = 100>},
                %h: tensor<6x5xf32> {autopar.source = #autopar.parameter<"h", "m.onnx", offset = 180, length = 120>})
    -> (tensor<2x6x5xf32> {autopar.result = #autopar.output<"y">}) {
  %p = autopar.einsum "tbi,ih->tbh" %x, %w : (tensor<2x6x4xf32>, tensor<4x5xf32>) -> tensor<2x6x5xf32>
  %s0 = autopar.slice %p starts = [0, 0, 0] steps = [1, 1, 1] : tensor<2x6x5xf32> -> tensor<1x6x5xf32>
  %s1 = autopar.slice %p starts = [1, 0, 0] steps = [1, 1, 1] : tensor<2x6x5xf32> -> tensor<1x6x5xf32>
  %x0 = autopar.reshape %s0 : tensor<1x6x5xf32> -> tensor<6x5xf32>
  %x1 = autopar.reshape %s1 : tensor<1x6x5xf32> -> tensor<6x5xf32>
  %r0 = autopar.einsum "bi,ih->bh" %h, %r : (tensor<6x5xf32>, tensor<5x5xf32>) -> tensor<6x5xf32>
  %a0 = autopar.binary add %x0, %r0 : tensor<6x5xf32>
  %h0 = autopar.unary tanh %a0 : tensor<6x5xf32> -> tensor<6x5xf32>
  %r1 = autopar.einsum "bi,ih->bh" %h0, %r : (tensor<6x5xf32>, tensor<5x5xf32>) -> tensor<6x5xf32>
  %a1 = autopar.binary add %x1, %r1 : tensor<6x5xf32>
  %h1 = autopar.unary tanh %a1 : tensor<6x5xf32> -> tensor<6x5xf32>
  %y0 = autopar.reshape %h0 : tensor<6x5xf32> -> tensor<1x6x5xf32>
  %y1 = autopar.reshape %h1 : tensor<6x5xf32> -> tensor<1x6x5xf32>
  %y = autopar.concat %y0, %y1 dim = 0 : (tensor<1x6x5xf32>, tensor<1x6x5xf32>) -> tensor<2x6x5xf32>
  return %y : tensor<2x6x5xf32>
}

//--- training.mlir
func.func @step(%x: tensor<8x4xf32> {autopar.source = #autopar.input<"x">},
                %t: tensor<4x3xf32> {autopar.source = #autopar.input<"t">},
                %w: tensor<3xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 12>})
    -> (tensor<f32> {autopar.result = #autopar.output<"loss">}, tensor<3xf32> {autopar.result = #autopar.gradient<"w">}) {
  %a = autopar.einsum "mk,kn->mn" %x, %t : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %b = autopar.broadcast %w dims = [1] : tensor<3xf32> -> tensor<8x3xf32>
  %y = autopar.binary mul %a, %b : tensor<8x3xf32>
  %loss = autopar.reduce sum %y dims = [0, 1] : tensor<8x3xf32> -> tensor<f32>
  %gradient = autopar.reduce sum %a dims = [0] : tensor<8x3xf32> -> tensor<3xf32>
  return %loss, %gradient : tensor<f32>, tensor<3xf32>
}

//--- mixed.mlir
func.func @step(%x: tensor<8x4xf32> {autopar.source = #autopar.input<"x">})
    -> (tensor<8x4xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.softmax %x dim = 0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
