// RUN: autopar-opt %s --autopar-interpret -o /dev/null | FileCheck %s

// Buffers are bytes: y is where x was, z half over y. The setup value stays in
// persistent memory.

// CHECK: ww = dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK: z = dense<{{.*}}[3.000000e+00, 6.000000e+00{{.*}}> : tensor<2xf32>
module attributes {autopar.persistent = [[
    #autopar.persistent<what = #autopar.parameter<"w", "model.onnx", offset = -1, length = 8>, type = tensor<2xf32>,
     global_type = tensor<2xf32>, sharding = #autopar.sharding<@mesh, [{}]>>,
    #autopar.persistent<what = #autopar.setup_value<"ww">, type = tensor<2xf32>, global_type = tensor<2xf32>, sharding = #autopar.sharding<@mesh, [{}]>>]]} {
  autopar.mesh @mesh #autopar.mesh<["x"=2]>
  func.func @setup_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 0 : i64, autopar.arguments = [],
      autopar.results = [#autopar.port<what = #autopar.setup_value<"ww">, type = tensor<2xf32>, global_type = tensor<2xf32>,
                          sharding = #autopar.sharding<@mesh, [{}]>, space = persistent, position = 1>]} {
    %ww = autopar.buffer persistent[1] : memref<2xf32>
    autopar.kernel ins() outs(%ww) : (memref<2xf32>) -> () {
      %0 = autopar.constant dense<[2.0, 4.0]> : tensor<2xf32>
      autopar.yield %0 : tensor<2xf32>
    }
    return
  }
  func.func @step_0() attributes {autopar.stage = 0 : i64, autopar.arena_bytes = 12 : i64,
      autopar.arguments = [#autopar.port<what = #autopar.input<"x">, type = tensor<1xf32>, global_type = tensor<2xf32>,
                            sharding = #autopar.sharding<@mesh, [{"x"}]>, space = arena, position = 0>],
      autopar.results = [#autopar.port<what = #autopar.output<"z">, type = tensor<2xf32>, global_type = tensor<2xf32>,
                          sharding = #autopar.sharding<@mesh, [{}]>, space = arena, position = 4>]} {
    %x = autopar.buffer arena[0] : memref<1xf32>
    %y = autopar.buffer arena[0] : memref<1xf32>
    %ww = autopar.buffer persistent[1] : memref<2xf32>
    %z = autopar.buffer arena[4] : memref<2xf32>
    // Half of ww: what x was is gone.
    autopar.kernel ins(%x, %ww) outs(%y) : (memref<1xf32>, memref<2xf32>, memref<1xf32>) -> () {
    ^bb0(%a: tensor<1xf32>, %b: tensor<2xf32>):
      %0 = autopar.slice_block %b mesh = @mesh axes = ["x"] {dim = 0 : i64} : (tensor<2xf32>) -> tensor<1xf32>
      %half = autopar.constant dense<1.5> : tensor<1xf32>
      %1 = autopar.binary mul %0, %half : tensor<1xf32>
      autopar.yield %1 : tensor<1xf32>
    }
    autopar.all_gather %y outs %z mesh = @mesh axes = ["x"] {dim = 0 : i64} : (memref<1xf32>, memref<2xf32>) -> ()
    return
  }
}
