// Requests that no plan can answer, beside those of search-plan-errors.mlir.

// RUN: split-file %s %t

// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 strategy=data,spatial" 2>&1 | FileCheck %s --check-prefix=FOLLOW
// FOLLOW: error: no op of this model can follow strategy 'spatial' over 2 devices; those that can be followed: auto, replicated, data, row, column, tensor, layer

// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 mesh=data=zero" 2>&1 | FileCheck %s --check-prefix=FORM -DTEXT=data=zero
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 mesh=data=0" 2>&1 | FileCheck %s --check-prefix=FORM -DTEXT=data=0
// FORM: error: mesh '[[TEXT]]' is not of the form data=2,tensor=2
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 mesh=time=4" 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: error: the mesh axis 'time' is made by --micro-batches, not by --mesh
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 mesh=a.b=4" 2>&1 | FileCheck %s --check-prefix=DOT
// DOT: error: mesh axis 'a.b' has a quote, dot or blank in its name

// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=2 memory-limit=100" 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: no plan found within the memory limit of 100 B per device; the least found is {{[0-9.]+ KiB}}, {{[0-9.]+ KiB}} more: there is a plan with a limit of {{[0-9.]+KiB}}{{$}}
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=2 strategy=layer micro-batches=1 memory-limit=4000" 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: error: no plan found within the memory limit of 3.9 KiB per device; the least found is {{[0-9.]+ [KM]?i?B}}
// RUN: not autopar-opt %t/uneven.mlir --autopar-plan="ranks=2 strategy=layer memory-limit=12000" 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: no plan found within the memory limit of 11.7 KiB per device; the least found is {{[0-9.]+ KiB}}, {{[0-9.]+ KiB}} more: there is a plan with a limit of {{[0-9.]+KiB}}{{$}}
// RUN: not autopar-opt %t/mixed.mlir --autopar-plan="ranks=2 strategy=layer micro-batches=2" 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: error: op {{.*}} needs the whole batch, and so does all before it: the model cannot be cut into 2 micro-batches
// RUN: not autopar-opt %t/squares.mlir --autopar-plan="ranks=6 strategy=layer,data mesh=layer=2,data=3 micro-batches=2" 2>&1 | FileCheck %s --check-prefix=SQUARES
// SQUARES: error: no shardings of the ops fit together on this mesh with 2 micro-batches

// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=-1" 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: error: --ranks must be 1 or more and at most 4096, not -1
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="cluster=absent.json" 2>&1 | FileCheck %s --check-prefix=CLUSTER
// CLUSTER: error: cluster 'absent.json' is no file and not of the form NODESxDEVICES:TYPE[@GBps], for example 2x8:a100-80gb@25
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="cluster=%t/empty.json" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: cluster file {{.*}}empty.json: needs 'nodes', a list such as
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="cluster=%t/mlp.mlir" 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: error: cluster file {{.*}}mlp.mlir is not JSON
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=2 save=%t/absent/plan.json" 2>&1 | FileCheck %s --check-prefix=SAVE
// SAVE: error: plan file: cannot write '{{.*}}absent/plan.json': No such file

// RUN: not autopar-opt %t/main.mlir --autopar-plan 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: planning needs a function @step; import a model first
// RUN: not autopar-opt %t/source.mlir --autopar-plan 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: error: 'func.func' op argument 0 has no autopar.source
// RUN: not autopar-opt %t/result.mlir --autopar-plan 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: error: 'func.func' op argument 0 names setup result 3, which does not exist
// RUN: not autopar-opt %t/call.mlir --autopar-plan 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: error: 'func.call' op has no sharding rule: it cannot be planned
// RUN: not autopar-opt %t/function.mlir --autopar-plan 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: error: 'autopar.function' op has no sharding rule: it cannot be planned; run autopar-drop-functions

//--- mlp.mlir
func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                %w1: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 2048>},
                %w2: tensor<32x16xf32> {autopar.source = #autopar.parameter<"w2", "m.onnx", offset = 2048, length = 2048>})
    -> (tensor<8x16xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w1 : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = autopar.unary relu %0 : tensor<8x32xf32> -> tensor<8x32xf32>
  %2 = autopar.einsum "mk,kn->mn" %1, %w2 : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

//--- uneven.mlir
func.func @step(%x: tensor<1x64xf32> {autopar.source = #autopar.input<"x">},
                %w1: tensor<64x64xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 16384>},
                %w2: tensor<64x1xf32> {autopar.source = #autopar.parameter<"w2", "m.onnx", offset = 16384, length = 256>})
    -> (tensor<1x1xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w1 : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %1 = autopar.einsum "mk,kn->mn" %0, %w2 : (tensor<1x64xf32>, tensor<64x1xf32>) -> tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}

//--- mixed.mlir
func.func @step(%x: tensor<8x4xf32> {autopar.source = #autopar.input<"x">})
    -> (tensor<8x4xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.unary relu %x : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = autopar.softmax %0 dim = 0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

//--- main.mlir
func.func @main() {
  return
}

//--- source.mlir
func.func @step(%x: tensor<2xf32>) {
  return
}

//--- result.mlir
func.func @step(%x: tensor<2xf32> {autopar.source = #autopar.setup_result<3>}) {
  return
}

//--- call.mlir
func.func private @f()
func.func @step() {
  func.call @f() : () -> ()
  return
}

//--- empty.json
{"nodes": []}

//--- squares.mlir
module {
  func.func @step(%x: tensor<4x4x2xf32> {autopar.source = #autopar.input<"x">}, %m: tensor<4x2xf32> {autopar.source = #autopar.input<"m">}) -> (tensor<4x4x2xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.unary exp %m : tensor<4x2xf32> -> tensor<4x2xf32>
    %1 = autopar.broadcast %0 dims = [1, 2] : tensor<4x2xf32> -> tensor<4x4x2xf32>
    %2 = autopar.binary add %x, %1 : tensor<4x4x2xf32>
    return %2 : tensor<4x4x2xf32>
  }
}
//--- function.mlir
func.func @step(%x: tensor<2xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<2xf32> {autopar.result = #autopar.output<"y">}) {
  %v = autopar.unary log %x : tensor<2xf32> -> tensor<2xf32>
  %y = autopar.function %v of(%x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
