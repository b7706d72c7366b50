// RUN: autopar-opt %s --autopar-verify-schedule --verify-diagnostics --split-input-file

// The next value is written before the last read of the state.
module attributes {autopar.persistent = [[#autopar.persistent<what = #autopar.state<"s", 0.0 : f32>, type = tensor<4xf32>>]]} {
  func.func @step_0() attributes {autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.state<"s", 0.0 : f32>, space = persistent, position = 0, type = tensor<4xf32>, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.next_state<"s">, space = persistent, position = 0, type = tensor<4xf32>, value = 1>,
                         #autopar.port<what = #autopar.output<"y">, space = arena, position = 0, type = tensor<4xf32>, value = 2>]} {
    %s = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4xf32>
    %n = autopar.buffer persistent[0] {autopar.value = 1 : i64} : memref<4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 2 : i64} : memref<4xf32>
    autopar.kernel ins(%s) outs(%n) attributes {autopar.in_place = array<i64: 0>} : (memref<4xf32>, memref<4xf32>) -> () {
    ^bb0(%0: tensor<4xf32>):
      %1 = autopar.unary neg %0 : tensor<4xf32> -> tensor<4xf32>
      autopar.yield %1 : tensor<4xf32>
    }
    // expected-error @+1 {{reads value 0 of the state in persistent tensor 0, which holds value 1 then}}
    autopar.kernel ins(%s) outs(%y) : (memref<4xf32>, memref<4xf32>) -> () {
    ^bb0(%0: tensor<4xf32>):
      %1 = autopar.unary exp %0 : tensor<4xf32> -> tensor<4xf32>
      autopar.yield %1 : tensor<4xf32>
    }
    return
  }
}

// -----

// The next value is never written.
module attributes {autopar.persistent = [[#autopar.persistent<what = #autopar.state<"s", 0.0 : f32>, type = tensor<4xf32>>]]} {
  func.func @step_0() attributes {autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.state<"s", 0.0 : f32>, space = persistent, position = 0, type = tensor<4xf32>, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.next_state<"s">, space = persistent, position = 0, type = tensor<4xf32>, value = 1>]} {
    // expected-error @+1 {{reads value 1 of the state in persistent tensor 0, which holds value 0 then}}
    return
  }
}

// -----

// Only the next value may be written there.
module attributes {autopar.persistent = [[#autopar.persistent<what = #autopar.state<"s", 0.0 : f32>, type = tensor<4xf32>>]]} {
  func.func @step_0() attributes {autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.state<"s", 0.0 : f32>, space = persistent, position = 0, type = tensor<4xf32>, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.next_state<"s">, space = persistent, position = 0, type = tensor<4xf32>, value = 1>]} {
    %n = autopar.buffer persistent[0] {autopar.value = 2 : i64} : memref<4xf32>
    // expected-error @+1 {{writes persistent tensor 0, which is no result of this function}}
    autopar.kernel ins() outs(%n) : (memref<4xf32>) -> () {
      %0 = autopar.constant dense<2.0> : tensor<4xf32>
      autopar.yield %0 : tensor<4xf32>
    }
    return
  }
}

// -----

// A GEMM reads a state packed, as if it stayed what it was at load.
module attributes {autopar.persistent = [[#autopar.persistent<what = #autopar.state<"w", 0.0 : f32>, type = tensor<4x4xf32>>]]} {
  func.func @step_0() attributes {autopar.arena_bytes = 128 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.state<"w", 0.0 : f32>, space = persistent, position = 0, type = tensor<4x4xf32>, value = 0>,
                           #autopar.port<what = #autopar.input<"x">, space = arena, position = 0, type = tensor<4x4xf32>, value = 1>],
      autopar.results = [#autopar.port<what = #autopar.next_state<"w">, space = persistent, position = 0, type = tensor<4x4xf32>, value = 0>,
                         #autopar.port<what = #autopar.output<"y">, space = arena, position = 64, type = tensor<4x4xf32>, value = 2>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %x = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[64] {autopar.value = 2 : i64} : memref<4x4xf32>
    // expected-error @+1 {{reads what @setup cannot pack: only constants that a step reads are packed}}
    autopar.kernel ins(%x, %w) outs(%y) library <gemm, a = 0, b = 1, packed = 0> : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
      %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      autopar.yield %2 : tensor<4x4xf32>
    }
    return
  }
}
