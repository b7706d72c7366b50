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
    autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0>]} {
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
    autopar.results = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0>]} {
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

func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [#autopar.port<space = persistent, position = 1, type = tensor<4xf32>, value = 0>], autopar.results = []} {
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
  // expected-error @+1 {{has value 0 as 'memref<2x3xf32, strided<[1, 2]>>', which names other elements}}
  %b = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32, strided<[1, 2]>>
  return
}

// -----

// With channels last [1, 9, 6, 4] has no name as [1, 4, 9, 6]: the shapes have
// no cut in common. As [1, 3, 3, 6, 4] it has.
func.func @step() attributes {autopar.arena_bytes = 896 : i64, autopar.arguments = [], autopar.results = []} {
  // expected-note @+1 {{here it is 'memref<1x9x6x4xf32, strided<[216, 1, 36, 9]>>'}}
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<1x9x6x4xf32, strided<[216, 1, 36, 9]>>
  %b = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<1x3x3x6x4xf32, strided<[216, 3, 1, 36, 9]>>
  // expected-error @+1 {{has value 0 as 'memref<1x4x9x6xf32, strided<[216, 1, 24, 4]>>', which names other elements}}
  %c = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<1x4x9x6xf32, strided<[216, 1, 24, 4]>>
  return
}

// -----

// Results are row-major.
// expected-note @+1 {{here it is 'tensor<6xf32>'}}
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [],
    autopar.results = [#autopar.port<space = arena, position = 0, type = tensor<6xf32>, value = 0>]} {
  // expected-error @+1 {{has value 0 as 'memref<2x3xf32, strided<[1, 2]>>', which names other elements}}
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32, strided<[1, 2]>>
  return
}

// -----

func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  // expected-error @+1 {{has strides that leave gaps or overlap: 'memref<2x3xf32, strided<[4, 1]>>'}}
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32, strided<[4, 1]>>
  return
}

// -----

// Element by element, but result and input are stored otherwise.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.results = [],
    autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<2x3xf32>, value = 0>]} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32>
  %b = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<2x3xf32, strided<[1, 2]>>
  // expected-error @+1 {{writes result 0 over input 0, whose elements are stored in another order: 'memref<2x3xf32, strided<[1, 2]>>' and 'memref<2x3xf32>'}}
  autopar.kernel ins(%a) outs(%b) attributes {autopar.in_place = array<i64: 0>} : (memref<2x3xf32>, memref<2x3xf32, strided<[1, 2]>>) -> () {
  ^bb0(%x: tensor<2x3xf32>):
    %0 = autopar.unary relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
    autopar.yield %0 : tensor<2x3xf32>
  }
  return
}

// -----

// The result may be stored there for its own sake, but the other one reads the same
// elements at other iterations.
func.func @step() attributes {autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32, strided<[1, 2]>>
  %b = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<2x3xf32, strided<[1, 2]>>
  %c = autopar.buffer arena[64] {autopar.value = 2 : i64} : memref<6xf32>
  autopar.kernel ins() outs(%a) : (memref<2x3xf32, strided<[1, 2]>>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<2x3xf32>
    autopar.yield %0 : tensor<2x3xf32>
  }
  // expected-error @+1 {{writes result 0 over input 0, which result 1 reads in another order of memory}}
  autopar.kernel ins(%a) outs(%b, %c) attributes {autopar.in_place = array<i64: 0, -1>}
      : (memref<2x3xf32, strided<[1, 2]>>, memref<2x3xf32, strided<[1, 2]>>, memref<6xf32>) -> () {
  ^bb0(%x: tensor<2x3xf32>):
    %0 = autopar.unary relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %1 = autopar.reshape %0 : tensor<2x3xf32> -> tensor<6xf32>
    autopar.yield %0, %1 : tensor<2x3xf32>, tensor<6xf32>
  }
  return
}

// -----

// Elements of other iterations.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.results = [],
    autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0>]} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  %b = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4xf32>
  // expected-error @+1 {{writes result 0 over input 0, of which result 0 reads other elements than it writes}}
  autopar.kernel ins(%a) outs(%b) attributes {autopar.in_place = array<i64: 0>} : (memref<4xf32>, memref<4xf32>) -> () {
  ^bb0(%x: tensor<4xf32>):
    %0 = autopar.slice %x starts = [3] steps = [-1] : tensor<4xf32> -> tensor<4xf32>
    %1 = autopar.binary add %x, %0 : tensor<4xf32>
    autopar.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// Rows are read before they are written only if they are stored one after another.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32, strided<[1, 2]>>
  %b = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<2x3xf32, strided<[1, 2]>>
  autopar.kernel ins() outs(%a) : (memref<2x3xf32, strided<[1, 2]>>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<2x3xf32>
    autopar.yield %0 : tensor<2x3xf32>
  }
  // expected-error @+1 {{writes result 0 over input 0, of which result 0 reads rows: they must be stored one after another, and be read for one result alone}}
  autopar.kernel ins(%a) outs(%b) attributes {autopar.in_place = array<i64: 0>}
      : (memref<2x3xf32, strided<[1, 2]>>, memref<2x3xf32, strided<[1, 2]>>) -> () {
  ^bb0(%x: tensor<2x3xf32>):
    %0 = autopar.softmax %x dim = 1 : tensor<2x3xf32>
    autopar.yield %0 : tensor<2x3xf32>
  }
  return
}

// -----

// A collective moves bytes: both sides have one layout.
autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step() attributes {autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x3xf32>
  %b = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<4x3xf32, strided<[1, 4]>>
  autopar.kernel ins() outs(%a) : (memref<2x3xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<2x3xf32>
    autopar.yield %0 : tensor<2x3xf32>
  }
  // expected-error @+1 {{reads and writes in two orders of memory: 'memref<2x3xf32>' and 'memref<4x3xf32, strided<[1, 4]>>'}}
  autopar.all_gather %a outs %b mesh = @mesh axes = ["x"] {dim = 0 : i64, autopar.sequence = 0 : i64} : (memref<2x3xf32>, memref<4x3xf32, strided<[1, 4]>>) -> ()
  return
}

// -----

// An input that is read where the host holds it is not written.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.results = [],
    autopar.arguments = [#autopar.port<space = persistent, position = 0, what = #autopar.input<"x">, type = tensor<4xf32>, value = 0>]} {
  %a = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4xf32>
  // expected-error @+1 {{writes persistent tensor 0, which is no result of this function}}
  autopar.kernel ins() outs(%a) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  return
}

// -----

// A part of a value lies within it.
// expected-note @+1 {{here it is 'tensor<4xf32>'}}
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.results = [],
    autopar.arguments = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0>]} {
  // expected-error @+1 {{has value 0 as 'memref<2xf32, strided<[1], offset: 3>>', which names other elements}}
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2xf32, strided<[1], offset: 3>>
  return
}

// -----

// Only row-major values have parts.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [], autopar.results = []} {
  // expected-note @+1 {{here it is 'memref<2x2xf32, strided<[1, 2]>>'}}
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2x2xf32, strided<[1, 2]>>
  // expected-error @+1 {{has value 0 as 'memref<2xf32, strided<[1], offset: 2>>', which names other elements}}
  %b = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2xf32, strided<[1], offset: 2>>
  return
}

// -----

// A value is in one place.
func.func @step() attributes {autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  // expected-note @+1 {{here it is 'memref<4xf32>'}}
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  // expected-error @+1 {{has value 0 as 'memref<4xf32>', at another place}}
  %b = autopar.buffer arena[64] {autopar.value = 0 : i64} : memref<4xf32>
  return
}

// -----

// What a part leaves out nobody has written.
func.func @step() attributes {autopar.arena_bytes = 128 : i64, autopar.arguments = [], autopar.results = []} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<2xf32, strided<[1], offset: 2>>
  %b = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  %c = autopar.buffer arena[64] {autopar.value = 1 : i64} : memref<4xf32>
  autopar.kernel ins() outs(%a) : (memref<2xf32, strided<[1], offset: 2>>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<2xf32>
    autopar.yield %0 : tensor<2xf32>
  }
  // expected-error @+1 {{reads value 0 in arena bytes [0, 16), where nothing was written}}
  autopar.kernel ins(%b) outs(%c) : (memref<4xf32>, memref<4xf32>) -> () {
  ^bb0(%x: tensor<4xf32>):
    autopar.yield %x : tensor<4xf32>
  }
  return
}

// -----

// A weight may be packed: nobody reads a part of it.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.results = [],
    autopar.arguments = [#autopar.port<space = persistent, position = 0, type = tensor<4xf32>, value = 0>]} {
  // expected-error @+1 {{is a part of a parameter or setup value, which may be packed: only inputs have parts}}
  %a = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<2xf32, strided<[1], offset: 2>>
  return
}

// -----

// A gradient is read when it is made: what is written over it later is no error.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [],
    autopar.results = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0, what = #autopar.gradient<"w">>,
                       #autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 1, what = #autopar.output<"y">>]} {
  %a = autopar.buffer arena[0] {autopar.value = 0 : i64} : memref<4xf32>
  %b = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4xf32>
  autopar.kernel ins() outs(%a) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<1.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  autopar.kernel ins() outs(%b) : (memref<4xf32>) -> () {
    %0 = autopar.constant dense<2.0> : tensor<4xf32>
    autopar.yield %0 : tensor<4xf32>
  }
  return
}

// -----

// A gradient that is never made.
func.func @step() attributes {autopar.arena_bytes = 64 : i64, autopar.arguments = [],
    autopar.results = [#autopar.port<space = arena, position = 0, type = tensor<4xf32>, value = 0, what = #autopar.gradient<"w">>]} {
  // expected-error @+1 {{reads value 0 in arena bytes [0, 16), where nothing was written}}
  return
}
