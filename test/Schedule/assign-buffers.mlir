// RUN: autopar-opt %s --autopar-schedule-pipeline --split-input-file | FileCheck %s

// Parameters, setup values and inputs by index, a reshaped parameter under its own index.
// CHECK: module attributes {autopar.persistent = [
// CHECK-SAME: #autopar.persistent<what = #autopar.parameter<"w", "m", offset = 0, length = 48>, type = tensor<4x3xf32>>
// CHECK-SAME: #autopar.persistent<what = #autopar.parameter<"b", "m", offset = 48, length = 12>, type = tensor<3xf32>>
// CHECK-SAME: #autopar.persistent<what = #autopar.setup_value<"e">, type = tensor<3xf32>>
// CHECK-SAME: #autopar.persistent<what = #autopar.input<"x">, type = tensor<12xf32>>
// CHECK-LABEL: func.func @setup()
// CHECK-SAME: autopar.results = [#autopar.port<what = #autopar.setup_value<"v">, {{.*}}space = persistent, position = 0,
// CHECK-SAME: #autopar.port<what = #autopar.setup_value<"e">, {{.*}}space = persistent, position = 2,
// CHECK: %[[B:.*]] = autopar.buffer persistent[1]
// CHECK: %[[E:.*]] = autopar.buffer persistent[2]
// CHECK: autopar.kernel ins(%[[B]]) outs(%[[E]])
func.func @setup(%w: tensor<4x3xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 48>},
                 %b: tensor<3xf32> {autopar.source = #autopar.parameter<"b", "m", offset = 48, length = 12>})
    -> (tensor<12xf32> {autopar.result = #autopar.setup_value<"v">}, tensor<3xf32> {autopar.result = #autopar.setup_value<"e">}) {
  %0 = autopar.reshape %w : tensor<4x3xf32> -> tensor<12xf32>
  %1 = autopar.unary exp %b : tensor<3xf32> -> tensor<3xf32>
  return %0, %1 : tensor<12xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @step()
// CHECK: %[[V:.*]] = autopar.buffer persistent[0] {{.*}} : memref<12xf32>
// CHECK: autopar.buffer persistent[2]
// CHECK-NOT: tensor<2x3xf32> ->
func.func @step(%x: tensor<12xf32> {autopar.source = #autopar.input<"x">},
                %v: tensor<12xf32> {autopar.source = #autopar.setup_result<0>},
                %e: tensor<3xf32> {autopar.source = #autopar.setup_result<1>})
    -> (tensor<4x3xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.binary add %x, %v : tensor<12xf32>
  %1 = autopar.reshape %0 : tensor<12xf32> -> tensor<4x3xf32>
  %2 = autopar.softmax %1 dim = 1 : tensor<4x3xf32>
  %3 = autopar.broadcast %e dims = [1] : tensor<3xf32> -> tensor<4x3xf32>
  %4 = autopar.binary mul %2, %3 : tensor<4x3xf32>
  return %4 : tensor<4x3xf32>
}

// -----

// Three einsums in a row need two places, and softmax works in place. The input is
// read where the host holds it, and nothing is stored over it.
// CHECK: autopar.persistent = {{\[}}[#autopar.persistent<what = #autopar.input<"x">, type = tensor<32x32xf32>>, #autopar.persistent<what = #autopar.parameter<"w"
// CHECK-LABEL: func.func @step()
// CHECK-SAME: autopar.arena_bytes = 8192 : i64
// CHECK-SAME: autopar.arguments = [#autopar.port<{{.*}}space = persistent, position = 0,
// CHECK: autopar.buffer persistent[0] {autopar.value = 0 : i64}
// CHECK: autopar.buffer arena[[[A:[0-9]+]]]
// CHECK: autopar.buffer arena[[[B:[0-9]+]]]
// CHECK: autopar.buffer arena[[[A]]]
// CHECK: autopar.buffer arena[[[A]]]
func.func @step(%x: tensor<32x32xf32> {autopar.source = #autopar.input<"x">}, %w: tensor<32x32xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 4096>})
    -> (tensor<32x32xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = autopar.einsum "mk,kn->mn" %1, %w : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %3 = autopar.softmax %2 dim = 1 : tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}

// -----

// An all-reduce works in place, a gather of blocks does not; stages have tables of
// their own.
// CHECK: autopar.persistent = {{\[}}[#autopar.persistent<what = #autopar.input<"x">, type = tensor<4x4xf32>>], [#autopar.persistent<what = #autopar.parameter<"b"
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @step_0()
// CHECK: autopar.kernel ins(%{{.*}}) outs(%[[K:[0-9]+]])
// CHECK: %[[R:.*]] = autopar.buffer arena
// CHECK: autopar.all_reduce %[[K]] outs %[[R]] mesh = @mesh axes = ["data"]
// CHECK: %[[G:.*]] = autopar.buffer arena
// CHECK: autopar.all_gather %[[R]] outs %[[G]]
// CHECK: autopar.send %[[G]] channel = 0 to 1
func.func @step_0(%x: tensor<4x4xf32> {autopar.source = #autopar.input<"x">}) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.unary exp %x : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = autopar.all_reduce %0 mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = autopar.all_gather %1 mesh = @mesh axes = ["data"] {dim = 0 : i64} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  autopar.send %2 channel = 0 to 1 : tensor<8x4xf32>
  return
}
// CHECK-LABEL: func.func @step_1()
// CHECK: %[[I:.*]] = autopar.buffer arena
// CHECK: autopar.recv outs %[[I]] channel = 0 from 0
func.func @step_1(%b: tensor<4xf32> {autopar.source = #autopar.parameter<"b", "m", offset = 0, length = 16>})
    -> (tensor<8x4xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.stage = 1 : i64} {
  %0 = autopar.recv channel = 0 from 0 : () -> tensor<8x4xf32>
  %1 = autopar.broadcast %b dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %2 = autopar.binary add %0, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Rows of equal blocks are one piece of the whole input; columns are not, nor is a
// last block that is not full: steps copy these to the arena.
// CHECK: autopar.persistent = {{\[}}[#autopar.persistent<what = #autopar.input<"rows">, type = tensor<2x4xf32>, global_type = tensor<4x4xf32>, sharding = {{.*}}>]]
// CHECK-LABEL: func.func @step()
// CHECK-SAME: [#autopar.port<what = #autopar.input<"rows">, {{[^#]*}}space = persistent, position = 0,
// CHECK-SAME: #autopar.port<what = #autopar.input<"columns">, {{[^#]*}}space = arena,
// CHECK-SAME: #autopar.port<what = #autopar.input<"uneven">, {{[^#]*}}space = arena,
#rows = #autopar.sharding<@mesh, [{"data"}, {}]>
#columns = #autopar.sharding<@mesh, [{}, {"data"}]>
autopar.mesh @mesh #autopar.mesh<["data"=2]>
func.func @step(%x: tensor<2x4xf32> {autopar.source = #autopar.input<"rows">, autopar.sharding = #rows, autopar.global_type = tensor<4x4xf32>},
                %y: tensor<2x4xf32> {autopar.source = #autopar.input<"columns">, autopar.sharding = #columns, autopar.global_type = tensor<2x8xf32>},
                %z: tensor<2x4xf32> {autopar.source = #autopar.input<"uneven">, autopar.sharding = #rows, autopar.global_type = tensor<3x4xf32>})
    -> (tensor<2x4xf32> {autopar.result = #autopar.output<"r">}) {
  %0 = autopar.binary add %x, %y : tensor<2x4xf32>
  %1 = autopar.binary add %0, %z : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// A GPU has its inputs in the arena.
// CHECK: autopar.persistent = []
// CHECK-LABEL: func.func @step()
// CHECK-SAME: [#autopar.port<{{.*}}space = arena
module attributes {autopar.target = "cuda"} {
  func.func @step(%x: tensor<4xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<4xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.unary exp %x : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
