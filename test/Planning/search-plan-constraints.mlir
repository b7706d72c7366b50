// What a constraints file says holds; the search fills in the rest.

// RUN: split-file %s %t

// A weight and an activation by name, all dimensions said.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 mesh=data=2,tensor=2 constraints=%t/exact.json" --autopar-verify-plan | FileCheck %s --check-prefix=EXACT
// EXACT: @step(
// EXACT-SAME: [{}, {"tensor"}]>, autopar.source = #autopar.parameter<"w1"
// EXACT: relu {{.*}}autopar.shardings = [#autopar.sharding<@mesh, [{"data"}, {"tensor"}]>]

// A glob and a dimension that is left open; the mesh is searched.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=2 constraints=%t/open.json" --autopar-verify-plan | FileCheck %s --check-prefix=OPEN
// OPEN: @step(
// OPEN-SAME: [{"x"}, {}]>, autopar.source = #autopar.parameter<"w1"
// OPEN-SAME: [{"x"}, {}]>, autopar.source = #autopar.parameter<"w2"

// What nobody would choose: a partial value, a forbidden batch split.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=2 mesh=t=2 constraints=%t/partial.json" --autopar-verify-plan | FileCheck %s --check-prefix=PARTIAL
// PARTIAL: @step(
// PARTIAL-SAME: {autopar.sharding = #autopar.sharding<@mesh, [{}, {{.*}}]>, autopar.source = #autopar.input<"x">}
// PARTIAL: einsum "mk,kn->mn" {{.*}}autopar.shardings = [#autopar.sharding<@mesh, [{}, {}], partial = {"t": sum}>]

// An op by its node's name: by a strategy's name, by a dimension, by a factor.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 mesh=a=2,b=2 constraints=%t/nodes.json" --autopar-verify-plan | FileCheck %s --check-prefix=NODES
// NODES: einsum {{.*}}autopar.strategy = #autopar.strategy<@mesh, {"a": split 1, "b": split 2}>
// NODES: relu {{.*}}autopar.strategy = #autopar.strategy<@mesh, {"a": split 1{{.*}}}>
// NODES: einsum {{.*}}autopar.strategy = #autopar.strategy<@mesh, {"a": split 0{{.*}}}>

// A constraint wins over --strategy where both speak of an op.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=2 strategy=data constraints=%t/row.json" --autopar-verify-plan | FileCheck %s --check-prefix=ROW
// ROW: einsum {{.*}}autopar.strategy = #autopar.strategy<@mesh, {"data": split 2}>
// ROW: einsum {{.*}}autopar.strategy = #autopar.strategy<@mesh, {"data": split 0}>

// Half an axis.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 mesh=t=4 constraints=%t/half.json" --autopar-verify-plan | FileCheck %s --check-prefix=HALF
// HALF: einsum {{.*}}autopar.strategy = #autopar.strategy<@mesh, {"t.0": split 0, "t.1": split 2}>

// Stages, and a mesh.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 constraints=%t/stages.json" --autopar-verify-plan | FileCheck %s --check-prefix=STAGES
// STAGES: autopar.stages = 2 : i64
// STAGES: einsum {{.*}}autopar.stage = 0
// STAGES: relu {{.*}}autopar.stage = 1
// STAGES: einsum {{.*}}autopar.stage = 1

// All but one mesh.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 constraints=%t/mesh.json" --autopar-verify-plan | FileCheck %s --check-prefix=MESH
// MESH: autopar.mesh @mesh <["x"=2, "y"=2]>

// A forbidden mesh whose axes no searched mesh has would forbid nothing.
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 constraints=%t/unknown.json" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 mesh=x=4 constraints=%t/unknown.json" | FileCheck %s --check-prefix=GIVEN
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=4 strategy=tensor constraints=%t/mesh.json" 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not autopar-opt %t/mlp.mlir --autopar-plan="ranks=2 strategy=layer constraints=%t/mesh.json" 2>&1 | FileCheck %s --check-prefix=STAGES-ALONE
// UNKNOWN: constraint 1 forbids a mesh with an axis 'tensor', which no mesh of this search has; its meshes have axes data, replicated, x, y
// GIVEN: autopar.mesh @mesh <["x"=4]>
// TENSOR: constraint 1 forbids a mesh with an axis 'x', which no mesh of this search has; its meshes have axes tensor
// STAGES-ALONE: constraint 1 forbids a mesh with an axis 'x', which no mesh of this search has; its meshes have stages alone

// A plan from a file is checked, not changed.
// RUN: autopar-opt %t/mlp.mlir --autopar-plan="ranks=2 constraints=%t/row2.json save=%t/plan.json" -o /dev/null

//--- mlp.mlir
func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                %w1: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 2048>},
                %w2: tensor<32x16xf32> {autopar.source = #autopar.parameter<"w2", "m.onnx", offset = 2048, length = 2048>})
    -> (tensor<8x16xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w1 {autopar.names = ["h"]} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc("/up/MatMul")
  %1 = autopar.unary relu %0 {autopar.names = ["r"]} : tensor<8x32xf32> -> tensor<8x32xf32> loc("/up/Relu")
  %2 = autopar.einsum "mk,kn->mn" %1, %w2 {autopar.names = ["y"]} : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32> loc("/down/MatMul")
  return %2 : tensor<8x16xf32>
}

//--- exact.json
{"constraints": [{"value": "w1", "sharding": [[], ["tensor"]]}, {"value": "r", "sharding": [["data"], ["tensor"]]}]}

//--- open.json
{"constraints": [{"value": "w?", "sharding": [["all"], "..."]}]}

//--- partial.json
{"constraints": [{"value": "h", "sharding": [[], []], "partial": {"t": "sum"}},
                 {"value": "x", "sharding": [["t"], "*"], "forbid": true}]}

//--- nodes.json
{"constraints": [{"node": "/up/MatMul", "strategy": {"a": "column", "b": "row"}},
                 {"node": "/up/Relu", "strategy": {"a": "dimension 1"}},
                 {"node": "/down/*", "strategy": {"a": "split 0"}}]}

//--- row.json
{"constraints": [{"node": "/up/MatMul", "strategy": {"data": "row"}}]}

//--- half.json
{"constraints": [{"node": "/up/MatMul", "strategy": {"t.0": "split 0", "t.1": "split 2"}}]}

//--- stages.json
{"constraints": [{"mesh": "layer=2,a=2"}, {"node": "/up/Relu", "stage": 1}, {"node": "/up/MatMul", "stage": 1, "forbid": true}]}

//--- mesh.json
{"constraints": [{"mesh": "x=4", "forbid": true}]}

//--- unknown.json
{"constraints": [{"mesh": "data=2,tensor=2", "forbid": true}]}

//--- row2.json
{"constraints": [{"node": "/up/MatMul", "strategy": {"all": "row"}}]}
