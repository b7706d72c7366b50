// RUN: autopar-opt %s --autopar-form-kernels --autopar-order-work --split-input-file | FileCheck %s

// Communication starts as soon as its operand is there.
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @collective_early
// CHECK: autopar.kernel ins(%arg0)
// CHECK: autopar.all_reduce {{.*}}autopar.sequence = 0
// CHECK: autopar.kernel ins(%arg1)
// CHECK: autopar.kernel
func.func @collective_early(%x: tensor<4xf32>, %y: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %0 = autopar.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  %1 = autopar.unary neg %y : tensor<4xi64> -> tensor<4xi64>
  %2 = autopar.all_reduce %0 mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = autopar.unary log %2 : tensor<4xf32> -> tensor<4xf32>
  return %3, %1 : tensor<4xf32>, tensor<4xi64>
}

// -----

// What gathers an argument would take memory from the start: it waits for its place.
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @gather_of_argument_late
// CHECK: autopar.kernel ins(%arg0)
// CHECK: autopar.all_gather {{.*}}autopar.sequence
// CHECK: autopar.kernel
func.func @gather_of_argument_late(%x: tensor<4xf32>, %w: tensor<2xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %0 = autopar.unary exp %x : tensor<4xf32> -> tensor<4xf32>
  %1 = autopar.all_gather %w mesh = @mesh axes = ["data"] {dim = 0 : i64, size = 4 : i64} : (tensor<2xi64>) -> tensor<4xi64>
  %2 = autopar.unary neg %1 : tensor<4xi64> -> tensor<4xi64>
  return %0, %2 : tensor<4xf32>, tensor<4xi64>
}

// -----

// Receives wait for their first reader, but keep the order of their channel; the
// numbers go on over all functions.
// CHECK-LABEL: func.func @step_0
// CHECK: autopar.send {{.*}}channel = 0 to 1 {{.*}}autopar.sequence = 0
// CHECK: autopar.send {{.*}}channel = 0 to 1 {{.*}}autopar.sequence = 1
func.func @step_0(%x: tensor<4xf32>, %y: tensor<4xf32>) attributes {autopar.stage = 0 : i64} {
  autopar.send %x channel = 0 to 1 : tensor<4xf32>
  autopar.send %y channel = 0 to 1 : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @step_1
// CHECK: autopar.kernel ins(%arg0)
// CHECK: %[[A:.*]] = autopar.recv channel = 0 from 0 {{.*}}autopar.sequence = 2
// CHECK: %[[B:.*]] = autopar.recv channel = 0 from 0 {{.*}}autopar.sequence = 3
// CHECK: autopar.kernel ins(%[[B]])
// CHECK: autopar.kernel ins(%[[A]])
func.func @step_1(%z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {autopar.stage = 1 : i64} {
  %a = autopar.recv channel = 0 from 0 : () -> tensor<4xf32>
  %b = autopar.recv channel = 0 from 0 : () -> tensor<4xf32>
  %0 = autopar.unary exp %z : tensor<4xf32> -> tensor<4xf32>
  %1 = autopar.unary exp %b : tensor<4xf32> -> tensor<4xf32>
  %2 = autopar.unary exp %a : tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// On a target whose sends wait for their receives, all messages go in the order of
// channels.
module attributes {autopar.target = "cuda"} {
// CHECK-LABEL: func.func @rendezvous
// CHECK: autopar.recv channel = 0
// CHECK: autopar.recv channel = 2
// CHECK: autopar.kernel
// CHECK: autopar.send {{.*}}channel = 3
// CHECK: autopar.kernel
func.func @rendezvous() -> (tensor<4xf32>) attributes {autopar.stage = 1 : i64} {
  %b = autopar.recv channel = 2 from 0 : () -> tensor<4xf32>
  %1 = autopar.unary exp %b : tensor<4xf32> -> tensor<4xf32>
  autopar.send %1 channel = 3 to 2 : tensor<4xf32>
  %a = autopar.recv channel = 0 from 0 : () -> tensor<4xf32>
  %2 = autopar.unary log %a : tensor<4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
}

// -----

// The update by a gradient frees its memory: it stands where the gradient is made. The rate, a number of the step's number, comes first.
// CHECK-LABEL: func.func @updates_early
// CHECK: %[[RATE:.*]] = autopar.kernel ins(%arg3) {{.*}}-> tensor<f32>
// CHECK: %[[GB:.*]] = autopar.kernel ins(%arg0)
// CHECK: autopar.kernel ins({{.*}}%[[GB]]{{.*}})
// CHECK: %[[GA:.*]] = autopar.kernel ins(%arg0)
// CHECK: autopar.kernel ins({{.*}}%[[GA]]{{.*}})
func.func @updates_early(%x: tensor<64x64xf32>,
                         %a: tensor<64x64xf32> {autopar.source = #autopar.state<"a", 0.0 : f32>},
                         %b: tensor<64x64xf32> {autopar.source = #autopar.state<"b", 0.0 : f32>},
                         %n: tensor<f32> {autopar.source = #autopar.state<"n", 0.0 : f32>})
    -> (tensor<64x64xf32> {autopar.result = #autopar.next_state<"a">}, tensor<64x64xf32> {autopar.result = #autopar.next_state<"b">},
        tensor<f32> {autopar.result = #autopar.next_state<"n">}) {
  %gb = autopar.einsum "mk,mn->kn" %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %ga = autopar.einsum "mk,nk->mn" %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %rate = autopar.unary exp %n : tensor<f32> -> tensor<f32>
  %all = autopar.broadcast %rate dims = [] : tensor<f32> -> tensor<64x64xf32>
  %da = autopar.binary mul %ga, %all : tensor<64x64xf32>
  %na = autopar.binary sub %a, %da : tensor<64x64xf32>
  %db = autopar.binary mul %gb, %all : tensor<64x64xf32>
  %nb = autopar.binary sub %b, %db : tensor<64x64xf32>
  return %na, %nb, %rate : tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>
}

// -----

// A gather that is made again comes just before its reader, although its operand was computed long before.
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @regather_late
// CHECK: %[[K:.*]] = autopar.kernel ins(%arg1)
// CHECK: autopar.all_gather %[[K]]
// CHECK: autopar.kernel ins(%arg0)
// CHECK: autopar.softmax
// CHECK: %[[B:.*]] = autopar.all_gather %[[K]] {{.*}}autopar.regather = 0
// CHECK-NEXT: autopar.kernel ins(%[[B]]
func.func @regather_late(%x: tensor<4xf32>, %w: tensor<2xi64>) -> (tensor<4xi64>, tensor<4xf32>, tensor<4xi64>) {
  %n = autopar.unary neg %w : tensor<2xi64> -> tensor<2xi64>
  %0 = autopar.all_gather %n mesh = @mesh axes = ["data"] {dim = 0 : i64, size = 4 : i64} : (tensor<2xi64>) -> tensor<4xi64>
  %2 = autopar.all_gather %n mesh = @mesh axes = ["data"] {autopar.regather = 0 : i64, dim = 0 : i64, size = 4 : i64} : (tensor<2xi64>) -> tensor<4xi64>
  %1 = autopar.softmax %x dim = 0 : tensor<4xf32>
  %3 = autopar.unary abs %2 : tensor<4xi64> -> tensor<4xi64>
  return %0, %1, %3 : tensor<4xi64>, tensor<4xf32>, tensor<4xi64>
}
