// RUN: autopar-opt %s --autopar-verify-schedule --verify-diagnostics --split-input-file

module attributes {autopar.target = "cuda"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
func.func @missing_event() attributes {autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  %b = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<4xf32>
  autopar.record_event 0 on 0
  autopar.wait_event 0 on 1
  // expected-note @+1 {{the other is here}}
  autopar.kernel ins() outs(%a) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  // expected-error @+1 {{on stream 1 reads what stream 0 writes, and no event orders them}}
  autopar.all_reduce %a outs %b mesh = @mesh axes = ["data"] {autopar.sequence = 0 : i64, autopar.stream = 1 : i64, kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
}

// -----

// Memory is used again while the reduction still reads it.
module attributes {autopar.target = "cuda"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
func.func @reuse() attributes {autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  %b = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<4xf32>
  %c = autopar.buffer arena[0] {autopar.value = 2 : i64} : memref<4xf32>
  autopar.kernel ins() outs(%a) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  autopar.record_event 0 on 0
  autopar.wait_event 0 on 1
  // expected-note @+1 {{the other is here}}
  autopar.all_reduce %a outs %b mesh = @mesh axes = ["data"] {autopar.sequence = 0 : i64, autopar.stream = 1 : i64, kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  // expected-error @+1 {{on stream 0 writes what stream 1 reads, and no event orders them}}
  autopar.kernel ins() outs(%c) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  return
}
}

// -----

module attributes {autopar.target = "cuda"} {
func.func @never_recorded() attributes {autopar.arena_bytes = 0 : i64, autopar.arguments = [], autopar.results = []} {
  // expected-error @+1 {{waits for event 3, which nothing has recorded}}
  autopar.wait_event 3 on 1
  return
}
}

// -----

// One stream only: the target is a CPU.
func.func @no_such_stream() attributes {autopar.arena_bytes = 0 : i64, autopar.arguments = [], autopar.results = []} {
  // expected-error @+1 {{is on stream 1, but the target has 1}}
  autopar.record_event 0 on 1
  return
}

// -----

module attributes {autopar.target = "cuda"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
func.func @start_not_awaited() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0>], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  // expected-error @+1 {{on stream 1 does not wait for the start of the step on stream 0}}
  autopar.all_reduce %a outs %a mesh = @mesh axes = ["data"] {autopar.sequence = 0 : i64, autopar.stream = 1 : i64, kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
}

// -----

module attributes {autopar.target = "cuda"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
func.func @end_not_joined() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0>], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  autopar.record_event 0 on 0
  autopar.wait_event 0 on 1
  autopar.all_reduce %a outs %a mesh = @mesh axes = ["data"] {autopar.sequence = 0 : i64, autopar.stream = 1 : i64, kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  // expected-error @+1 {{ends the step before stream 1 has ended}}
  return
}
}

// -----

module attributes {autopar.target = "cuda"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
func.func @two_orders() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0>], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  autopar.record_event 0 on 0
  autopar.wait_event 0 on 1
  // expected-note @+1 {{here it is on stream 1}}
  autopar.all_reduce %a outs %a mesh = @mesh axes = ["data"] {autopar.sequence = 0 : i64, autopar.stream = 1 : i64, kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  autopar.record_event 0 on 1
  autopar.wait_event 0 on 0
  // expected-error @+1 {{communicates on stream 0; all communication of a step must be on one stream}}
  autopar.all_reduce %a outs %a mesh = @mesh axes = ["data"] {autopar.sequence = 1 : i64, kind = #autopar<reduce_kind sum>} : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
}

// -----

// The workspace of library calls has one user at a time: stream 0.
module attributes {autopar.target = "cuda"} {
func.func @computes_elsewhere() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  autopar.record_event 0 on 0
  autopar.wait_event 0 on 1
  // expected-error @+1 {{computes on stream 1; kernels and library calls share one workspace and must be on stream 0}}
  autopar.kernel ins() outs(%a) attributes {autopar.stream = 1 : i64} : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  autopar.record_event 0 on 1
  autopar.wait_event 0 on 0
  return
}
}

// -----

// Without room in channels a send waits for its receive: crossed messages never arrive.
module attributes {autopar.target = "cuda"} {
func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64, autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0>], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  autopar.record_event 0 on 0
  autopar.wait_event 0 on 1
  // expected-error @+1 {{stage 0 waits here for ever}}
  autopar.send %a channel = 0 to 1 {autopar.sequence = 0 : i64, autopar.stream = 1 : i64} : memref<4xf32>
  autopar.send %a channel = 1 to 1 {autopar.sequence = 1 : i64, autopar.stream = 1 : i64} : memref<4xf32>
  autopar.record_event 0 on 1
  autopar.wait_event 0 on 0
  return
}
func.func @step_1() attributes {autopar.stage = 1 : i64, autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  %b = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<4xf32>
  autopar.record_event 0 on 0
  autopar.wait_event 0 on 1
  // expected-note @+1 {{while stage 1 waits here}}
  autopar.recv outs %a channel = 1 from 0 {autopar.sequence = 2 : i64, autopar.stream = 1 : i64} : (memref<4xf32>) -> ()
  autopar.recv outs %b channel = 0 from 0 {autopar.sequence = 3 : i64, autopar.stream = 1 : i64} : (memref<4xf32>) -> ()
  autopar.record_event 0 on 1
  autopar.wait_event 0 on 0
  return
}
}
