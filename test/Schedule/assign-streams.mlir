// RUN: autopar-opt %s --autopar-schedule-pipeline --split-input-file | FileCheck %s -enable-var-scope

// The reduction runs beside the kernel that does not read it; its operand's place is not
// taken before a kernel waits for it. An event's number is free after its wait.
module attributes {autopar.target = "cuda"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @beside_kernels
// CHECK: autopar.kernel
// CHECK: autopar.record_event 0 on 0
// CHECK: autopar.wait_event 0 on 1
// CHECK-NEXT: autopar.all_reduce {{.*}}autopar.stream = 1
// CHECK-NEXT: autopar.record_event 0 on 1
// CHECK-NOT: event
// CHECK: autopar.kernel
// CHECK-NOT: event
// CHECK: autopar.wait_event 0 on 0
// CHECK-NEXT: autopar.kernel
// CHECK-NOT: event
// CHECK: return
func.func @beside_kernels(%x: tensor<64xf32> {autopar.source = #autopar.input<"x">}, %y: tensor<64xi64> {autopar.source = #autopar.input<"y">}) -> (tensor<64xf32>, tensor<64xi64>) {
  %0 = autopar.unary exp %x : tensor<64xf32> -> tensor<64xf32>
  %1 = autopar.all_reduce %0 mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<64xf32>) -> tensor<64xf32>
  %2 = autopar.unary neg %y : tensor<64xi64> -> tensor<64xi64>
  %3 = autopar.unary log %1 : tensor<64xf32> -> tensor<64xf32>
  return %3, %2 : tensor<64xf32>, tensor<64xi64>
}
}

// -----

// Two collectives in a row need no event between them, and one wait is for both.
module attributes {autopar.target = "emulated"} {
autopar.mesh @mesh #autopar.mesh<["data"=2, "tensor"=2]>
// CHECK-LABEL: func.func @one_wait_for_two
// CHECK: autopar.wait_event 0 on 1
// CHECK: autopar.reduce_scatter
// CHECK-NOT: event
// CHECK: autopar.all_gather
// CHECK-NEXT: autopar.record_event 0 on 1
// CHECK-NEXT: autopar.wait_event 0 on 0
// CHECK-NOT: event
// CHECK: return
func.func @one_wait_for_two(%x: tensor<64xf32> {autopar.source = #autopar.input<"x">}) -> tensor<64xf32> {
  %0 = autopar.unary exp %x : tensor<64xf32> -> tensor<64xf32>
  %1 = autopar.reduce_scatter %0 mesh = @mesh axes = ["data"] {dim = 0 : i64, kind = #autopar<reduce_kind sum>} : (tensor<64xf32>) -> tensor<32xf32>
  %2 = autopar.all_gather %1 mesh = @mesh axes = ["tensor"] {dim = 0 : i64, size = 64 : i64} : (tensor<32xf32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}
}

// -----

// A gather of an argument waits for the start of the step alone; the end waits for a send.
module attributes {autopar.target = "cuda"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @start_and_end
// CHECK: autopar.record_event 0 on 0
// CHECK: autopar.wait_event 0 on 1
// CHECK: autopar.all_gather
// CHECK: autopar.wait_event {{[01]}} on 0
// CHECK: autopar.kernel
// CHECK: autopar.wait_event [[E:[01]]] on 1
// CHECK-NEXT: autopar.send
// CHECK-NEXT: autopar.record_event [[S:[01]]] on 1
// CHECK-NEXT: autopar.wait_event [[S]] on 0
// CHECK: return
func.func @start_and_end(%w: tensor<32xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 128>}) {
  %0 = autopar.all_gather %w mesh = @mesh axes = ["data"] {dim = 0 : i64, size = 64 : i64} : (tensor<32xf32>) -> tensor<64xf32>
  %1 = autopar.unary exp %0 : tensor<64xf32> -> tensor<64xf32>
  autopar.send %1 channel = 0 to 1 : tensor<64xf32>
  return
}
func.func @step_1() attributes {autopar.stage = 1 : i64} {
  %0 = autopar.recv channel = 0 from 0 : () -> tensor<64xf32>
  return
}
}

// -----

// Setup stays on one stream, and a target of one stream gets nothing.
module attributes {autopar.target = "cuda"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @setup
// CHECK-NOT: event
// CHECK-NOT: stream
// CHECK: return
func.func @setup(%w: tensor<32xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 128>}) -> (tensor<64xf32> {autopar.result = #autopar.setup_value<"v">}) {
  %0 = autopar.all_gather %w mesh = @mesh axes = ["data"] {dim = 0 : i64, size = 64 : i64} : (tensor<32xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
}

// -----

autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @one_stream
// CHECK-NOT: event
// CHECK-NOT: stream
// CHECK: return
func.func @one_stream(%x: tensor<64xf32> {autopar.source = #autopar.input<"x">}) -> tensor<64xf32> {
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
