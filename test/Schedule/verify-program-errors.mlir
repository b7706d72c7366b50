// What the module says of its functions, one mistake each.
// RUN: autopar-opt %s --autopar-verify-program --verify-diagnostics --split-input-file

// Nothing is wrong.
#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
// expected-error @+1 {{autopar.target is none of cpu, cuda, emulated}}
module attributes {autopar.target = "tpu", autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
// expected-error @+1 {{autopar.precision is none of fp32, tf32, bf16, fp16}}
module attributes {autopar.precision = "int8", autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
// expected-error @+1 {{has 2 meshes; a program has one}}
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  autopar.mesh @other <["x"=4]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
// expected-error @+1 {{has no function @step_1 of its 2 stages}}
module attributes {autopar.stages = 2 : i64, autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  // expected-error @+1 {{is no function of a stage: these are @setup_s and @step_s for s below 1}}
  func.func @setup_1() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  // expected-error @+1 {{says that it is of stage 3}}
  func.func @step_0() attributes {autopar.stage = 3 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
// expected-error @+1 {{autopar.persistent: an entry has type 'tensor<2x4xf32>'; its global type and sharding make 'tensor<4x4xf32>'}}
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<2x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    // expected-error @+1 {{has only one of global_type and sharding}}
    #autopar.persistent<what = #autopar.setup_value<"wt">, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    // expected-error @+1 {{has only one of global_type and sharding}}
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  // expected-error @+1 {{has setup result 0 as persistent tensor 0, where the stage's setup does not leave it}}
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  // expected-error @+1 {{has persistent tensor 0 for #autopar.parameter<"v", "m.onnx", offset = 0, length = 128>, but it is #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>}}
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"v", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
// expected-error @+1 {{persistent tensor 0 of stage 0 is an argument, but @setup writes it 1 times}}
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%w) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = arena, position = 0, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>,
    #autopar.persistent<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>, type = tensor<4x4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.parameter<"w", "m.onnx", offset = 0, length = 128>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 0, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"wt">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %w = autopar.buffer persistent[0] {autopar.value = 0 : i64} : memref<4x4xf32>
    %t = autopar.buffer persistent[1] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%w) outs(%t) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
  // expected-error @+1 {{has a result that is no output in the arena}}
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 64 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.setup_result<0>, sharding = #rows, global_type = tensor<8x4xf32>,
                            type = tensor<4x4xf32>, space = persistent, position = 1, value = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<8x4xf32>,
                          type = tensor<4x4xf32>, space = persistent, position = 1, value = 1>]} {
    %t = autopar.buffer persistent[1] {autopar.value = 0 : i64} : memref<4x4xf32>
    %y = autopar.buffer arena[0] {autopar.value = 1 : i64} : memref<4x4xf32>
    autopar.kernel ins(%t) outs(%y) : (memref<4x4xf32>, memref<4x4xf32>) -> () {
    ^bb0(%0: tensor<4x4xf32>):
      %1 = autopar.unary neg %0 : tensor<4x4xf32> -> tensor<4x4xf32>
      autopar.yield %1 : tensor<4x4xf32>
    }
    return
  }
}

// -----

// expected-error @+1 {{which is no #autopar.persistent attribute with a global type and a sharding}}
module attributes {autopar.persistent = [[#autopar.persistent<what = #autopar.input<"x">, type = tensor<4xf32>>]]} {
  autopar.mesh @mesh <["x"=2]>
  func.func @step_0() attributes {autopar.stage = 0 : i64} {
    return
  }
}

// -----

// expected-error @+1 {{is no parameter, input, state or setup value}}
module attributes {autopar.persistent = [[#autopar.persistent<what = #autopar.output<"y">, type = tensor<4xf32>>]]} {
}

// -----

// expected-error @+1 {{has type 'tensor<4xf32>', which is no block of 'tensor<8x4xf32>'}}
module attributes {autopar.persistent = [[#autopar.persistent<what = #autopar.input<"x">, type = tensor<4xf32>, global_type = tensor<8x4xf32>, sharding = <@mesh, [{}, {}]>>]]} {
}

// -----

// expected-error @+1 {{comes from or goes to "x", which no argument or result does}}
func.func @step_0() attributes {autopar.arguments = [#autopar.port<what = "x", type = tensor<4xf32>, space = arena, position = 0>]} {
  return
}

// -----

// expected-error @+1 {{has position -4}}
func.func @step_0() attributes {autopar.arguments = [#autopar.port<type = tensor<4xf32>, space = arena, position = -4>]} {
  return
}
