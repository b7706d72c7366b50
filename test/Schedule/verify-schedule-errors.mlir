// RUN: autopar-opt %s --autopar-verify-schedule --verify-diagnostics --split-input-file

// expected-error @+1 {{still has arguments or results; run autopar-assign-buffers first}}
func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// A value is overwritten before its last reader.
func.func @step() attributes {autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  %b = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4xf32>
  %c = autopar.buffer arena[64] {autopar.value = 2 : i64} : memref<4xf32>
  autopar.kernel ins() outs(%a) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  // expected-note @+1 {{the other value is written here}}
  autopar.kernel ins() outs(%b) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<2.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  // expected-error @+1 {{reads value 0 in arena bytes [0, 16), where another value was written}}
  autopar.kernel ins(%a) outs(%c) : (memref<4xf32>, memref<4xf32>) -> () {
  ^bb0(%x: tensor<4xf32>):
    autopar.yield %x : tensor<4xf32>
  }
  return
}

// -----

// The kernel does not say that it may work in place.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.results = [],
    autopar.arguments = [{buffer = [#autopar<buffer_space arena>, 0], type = tensor<4xf32>, value = 0 : i64}]} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  %b = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4xf32>
  // expected-error @+1 {{writes result 0 over input 0, which it may still read}}
  autopar.kernel ins(%a) outs(%b) : (memref<4xf32>, memref<4xf32>) -> () {
  ^bb0(%x: tensor<4xf32>):
    autopar.yield %x : tensor<4xf32>
  }
  return
}

// -----

// A result is gone at the end.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [],
    autopar.results = [{buffer = [#autopar<buffer_space arena>, 0], type = tensor<4xf32>, value = 0 : i64}]} {
  // expected-error @+1 {{reads value 0 in arena bytes [0, 16), where nothing was written}}
  return
}

// -----

func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  // expected-error @+1 {{not on a multiple of 64 inside of the arena of 64 bytes}}
  %a = autopar.buffer arena[64] {autopar.value = 0 : i64} : memref<4xf32>
  return
}

// -----

func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4xf32>
  // expected-error @+1 {{writes persistent tensor 1, which is no result of this function}}
  autopar.kernel ins() outs(%a) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [{buffer = [#autopar<buffer_space persistent>, 1], type = tensor<4xf32>, value = 0 : i64}], autopar.results = []} {
  %a = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4xf32>
  // expected-error @+1 {{stage 1 receives nothing over channel 0}}
  autopar.send %a channel = 0 to 1 {autopar.sequence = 0 : i64} : memref<4xf32>
  return
}

// -----

func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4xf32>
  // expected-error @+1 {{has no autopar.sequence; run autopar-order-work first}}
  autopar.send %a channel = 0 to 1 : memref<4xf32>
  return
}

// -----

// Each stage waits for the other.
func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  // expected-error @+1 {{stage 0 waits here for ever}}
  autopar.recv outs %a channel = 1 from 1 {autopar.sequence = 0 : i64} : (memref<4xf32>) -> ()
  autopar.send %a channel = 0 to 1 {autopar.sequence = 1 : i64} : memref<4xf32>
  return
}
func.func @step_1() attributes {autopar.stage = 1 : i64, autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  // expected-note @+1 {{while stage 1 waits here}}
  autopar.recv outs %a channel = 0 from 0 {autopar.sequence = 2 : i64} : (memref<4xf32>) -> ()
  autopar.send %a channel = 1 to 0 {autopar.sequence = 3 : i64} : memref<4xf32>
  return
}

// -----

// A value is written in one layout and read in another.
func.func @step() attributes {autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  // expected-note @+1 {{here it is 'memref<2x3xf32>'}}
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32>
  // expected-error @+1 {{has value 0 as 'memref<2x3xf32, strided<[1, 2]>>'}}
  %b = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32, strided<[1, 2]>>
  autopar.kernel ins() outs(%a) : (memref<2x3xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<2x3xf32>
    autopar.yield %0 : tensor<2x3xf32>
  }
  return
}
