// RUN: autopar-opt %s --autopar-schedule-pipeline --split-input-file | FileCheck %s

// The next value is computed over the state, though another input has its size.
// CHECK-LABEL: func.func @step()
// CHECK: %[[S:.*]] = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4xf32>
// CHECK: %[[N:.*]] = autopar.buffer persistent[1] {autopar.value = {{[2-9]}} : i64} : memref<4xf32>
// CHECK: autopar.kernel ins(%{{.*}}, %[[S]]) outs(%[[N]]) attributes {autopar.in_place = array<i64: 1>
// CHECK-NOT: autopar.kernel
func.func @step(%x: tensor<4xf32> {autopar.source = #autopar.input<"x">},
                %s: tensor<4xf32> {autopar.source = #autopar.state<"s", 0.0 : f32>})
    -> (tensor<4xf32> {autopar.result = #autopar.next_state<"s">}) {
  %0 = autopar.binary sub %x, %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What is read after the next value is there, or by a matrix product that makes it, is copied at the end.
// CHECK-LABEL: func.func @step()
// CHECK: %[[S:.*]] = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
// CHECK: autopar.kernel ins(%{{.*}}, %[[S]])
// CHECK: %[[N:.*]] = autopar.buffer persistent[1] {autopar.value = {{[2-9]}} : i64} : memref<4x4xf32>
// CHECK: autopar.kernel ins(%{{.*}}) outs(%[[N]]){{.*}}autopar.op = "copy"
func.func @step(%x: tensor<4x4xf32> {autopar.source = #autopar.input<"x">},
                %s: tensor<4x4xf32> {autopar.source = #autopar.state<"s", 0.0 : f32>})
    -> (tensor<4x4xf32> {autopar.result = #autopar.next_state<"s">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %s : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A state that stays what it is costs nothing.
// CHECK-LABEL: func.func @step()
// CHECK: autopar.kernel
// CHECK-NOT: autopar.kernel
func.func @step(%x: tensor<4xf32> {autopar.source = #autopar.input<"x">},
                %s: tensor<4xf32> {autopar.source = #autopar.state<"s", 0.0 : f32>})
    -> (tensor<4xf32> {autopar.result = #autopar.output<"y">}, tensor<4xf32> {autopar.result = #autopar.next_state<"s">}) {
  %0 = autopar.binary sub %x, %s : tensor<4xf32>
  return %0, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

// Two states change places: both are copied, the first before the second is written.
// CHECK-LABEL: func.func @step()
func.func @step(%a: tensor<4xf32> {autopar.source = #autopar.state<"a", 0.0 : f32>},
                %b: tensor<4xf32> {autopar.source = #autopar.state<"b", 1.0 : f32>})
    -> (tensor<4xf32> {autopar.result = #autopar.next_state<"a">}, tensor<4xf32> {autopar.result = #autopar.next_state<"b">}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// A reduction in the same kernel keeps a state from being written over if it is of the state alone.
// CHECK-LABEL: func.func @other()
// CHECK: autopar.kernel ins(%{{.*}}, %{{.*}}) outs(%{{.*}}, %{{.*}}) attributes {autopar.in_place = array<i64: -1, 1>
// CHECK: autopar.reduce
// CHECK-NOT: autopar.kernel
func.func @other(%g: tensor<4x8xf32> {autopar.source = #autopar.input<"g">},
                %a: tensor<4x8xf32> {autopar.source = #autopar.state<"a", 0.0 : f32>})
    -> (tensor<4xf32> {autopar.result = #autopar.output<"norm">}, tensor<4x8xf32> {autopar.result = #autopar.next_state<"a">}) {
  %positive = autopar.unary relu %g : tensor<4x8xf32> -> tensor<4x8xf32>
  %norm = autopar.reduce sum %positive dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %next = autopar.binary sub %a, %positive : tensor<4x8xf32>
  return %norm, %next : tensor<4xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @own()
// CHECK: autopar.kernel {{.*}}autopar.op = "reduce"
// CHECK-NOT: in_place
// CHECK: autopar.kernel {{.*}}autopar.op = "copy"
func.func @own(%g: tensor<4x8xf32> {autopar.source = #autopar.input<"g">},
                %a: tensor<4x8xf32> {autopar.source = #autopar.state<"a", 0.0 : f32>})
    -> (tensor<4xf32> {autopar.result = #autopar.output<"norm">}, tensor<4x8xf32> {autopar.result = #autopar.next_state<"a">}) {
  %next = autopar.binary sub %a, %g : tensor<4x8xf32>
  %norm = autopar.reduce sum %next dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %norm, %next : tensor<4xf32>, tensor<4x8xf32>
}
