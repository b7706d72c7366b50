// What cannot be met ends in one message that says which constraint, why, and what would fit.

// RUN: split-file %s %t
// RUN: %python %t/run.py %t | FileCheck %s

// CHECK-LABEL: == form
// CHECK: must be an object {"constraints": [...]}
// CHECK-LABEL: == top
// CHECK: unknown key 'constraint'; known: 'constraints'
// CHECK-LABEL: == kind
// CHECK: constraint 1 must be an object with one of 'value', 'node' and 'mesh'
// CHECK-LABEL: == key
// CHECK: constraint 1 (value 'w1'): unknown key 'shard'; known: 'value', 'sharding', 'partial', 'forbid'
// CHECK-LABEL: == dimension
// CHECK: constraint 1 (value 'w1'): 'x' is no dimension: write a list of axes, "*" (anyhow) or "..." (all other dimensions, anyhow)
// CHECK-LABEL: == mesh
// CHECK: constraint 1 (mesh): mesh 'data' is not of the form data=2,tensor=2
// CHECK-LABEL: == name
// CHECK: constraint 1 (value 'w3'): no tensor of the model has this name; `autopar plan --json` lists them; nearest: 'w1', 'w2'{{ *$}}
// CHECK-LABEL: == glob
// CHECK: constraint 1 (node '/upp/*'): no node of the model has this name; `autopar plan --json` lists them; nearest: '/up/MatMul', '/up/Relu'
// CHECK-LABEL: == node
// CHECK: constraint 1 (node 'w1'): no node has this name, but a tensor has: write "value"
// CHECK-LABEL: == axis
// CHECK: constraint 1 (value 'w1'): names axis 'tensor'; this mesh has 'x': fix it with --mesh, or write "all"
// CHECK-LABEL: == rank
// CHECK: constraint 1 (value 'w1'): tensor w1 has 2 dimensions (16x32), 'sharding' 1; "..." stands for all others
// CHECK-LABEL: == twice
// CHECK: constraint 1 (value 'w1'): axis 'x' is used twice
// CHECK-LABEL: == partial
// CHECK: constraint 1 (value 'w1'): tensor w1 is read in blocks: it cannot be partial
// CHECK-LABEL: == factor
// CHECK: constraint 1 (node '/up/MatMul'): op /up/MatMul cannot: axis x cannot split 7: the op has 3 factors; over axis x it can: split 0 (dimension 0 of tensor h, 8 elements), split 1 (dimension 1 of tensor h, 32 elements), split 2 (dimension 1 of tensor x, 16 elements, summed up), pass 0 (partial sum of x), pass 1 (partial sum of w1)
// CHECK-LABEL: == uneven
// CHECK: constraint 1 (node '/heads'): op /heads cannot: axis x cannot split 1: dimension 1 of tensor y is made of several factors, of which only the outermost can be cut, and only evenly: it has 3 elements for 4 blocks
// CHECK-LABEL: == follow
// CHECK: constraint 1 (node '/up/*'): op /up/MatMul cannot: none of the 2 ops of this name can follow 'spatial' over 4 devices; over axis x it can: split 0
// CHECK-LABEL: == choice
// CHECK: 'cut 1' is neither 'split N', 'pass N', 'dimension N' nor one of replicated, data, row, column, tensor, channel, spatial
// CHECK-LABEL: == both
// CHECK: constraint 2 (node '/up/MatMul'): op /up/MatMul, axis x.0: excludes what constraint 1 says
// CHECK-LABEL: == values
// CHECK: constraint 1 (value 'w1'): tensor w1 cannot be sharded so and as constraint 2 says
// CHECK-LABEL: == nothing
// CHECK: constraint 1 (value 'w1'): tensor w1 can be sharded in no way that is allowed; its ops give and want [{}, {}], {{.*}}"x"
// CHECK-LABEL: == clash
// CHECK: constraint 2 (node '/up/Relu'): op /up/Relu cannot meet this and other constraints: a tensor would be partial in two ways at once
// CHECK-LABEL: == stageless
// CHECK: constraint 1 (node '/up/Relu'): names stage 1, but the plan has no stages: add layer to --strategy or to --mesh
// CHECK-LABEL: == order
// CHECK: constraint 2 (node '/down/MatMul'): op /down/MatMul cannot be in such a stage: it reads what op /up/Relu makes, which other constraints put later
// CHECK-LABEL: == meshes
// CHECK: no mesh is left: each is forbidden, or --mesh and the constraints differ
// CHECK-LABEL: == two
// CHECK: constraint 2 (mesh): constraint 1 pins another mesh
// CHECK-LABEL: == json
// CHECK: broken.json is not JSON

//--- run.py
import json, subprocess, sys
up = {"node": "/up/MatMul"}
cases = {
    "form": [], "top": {"constraint": []}, "kind": [{"valu": "w1"}], "key": [{"value": "w1", "shard": []}],
    "dimension": [{"value": "w1", "sharding": ["x"]}], "mesh": [{"mesh": "data"}],
    "name": [{"value": "w3", "sharding": ["..."]}], "glob": [{"node": "/upp/*", "stage": 0}], "node": [{"node": "w1", "stage": 0}],
    "axis": [{"value": "w1", "sharding": [["tensor"], []]}], "rank": [{"value": "w1", "sharding": [["x"]]}],
    "twice": [{"value": "w1", "sharding": [["x"], ["x"]]}],
    "partial": [{"value": "w1", "sharding": ["..."], "partial": {"x": "sum"}}],
    "factor": [{**up, "strategy": {"x": "split 7"}}], "uneven": [{"node": "/heads", "strategy": {"x": "dimension 1"}}],
    "follow": [{"node": "/up/*", "strategy": {"x": "spatial"}}], "choice": [{**up, "strategy": {"x": "cut 1"}}],
    "both": [{**up, "strategy": {"x": "row"}}, {**up, "strategy": {"x": "column"}}],
    "values": [{"value": "w1", "sharding": [["x"], []]}, {"value": "w?", "sharding": [[], "*"]}],
    "nothing": [{"value": "w1", "sharding": ["..."], "forbid": True}],
    "clash": [{"node": "/up/Relu", "strategy": {"x.0": "pass 0"}}, {"node": "/up/Relu", "strategy": {"x.1": "pass 1"}}],
    "stageless": [{"node": "/up/Relu", "stage": 1}],
    "order": [{"node": "/up/Relu", "stage": 1}, {"node": "/down/MatMul", "stage": 0}],
    "meshes": [{"mesh": "x=4", "forbid": True}],
    "two": [{"mesh": "x=4"}, {"mesh": "x=2,y=2"}], "json": None}
folder = sys.argv[1]
for name, case in cases.items():
    path = f"{folder}/{'broken' if case is None else name}.json"
    with open(path, "w") as file:
        file.write("{" if case is None else json.dumps({"constraints": case} if case and isinstance(case, list) else case))
    mesh = "" if name == "two" else "strategy=layer,auto" if name == "order" else "mesh=x=4"
    done = subprocess.run(["autopar-opt", f"{folder}/model.mlir", f"--autopar-plan=ranks=4 {mesh} constraints={path}"],
                          capture_output=True, text=True)
    print("== " + name + "\n" + done.stderr.splitlines()[0], "" if done.returncode == 1 else f"ended with {done.returncode}")

//--- model.mlir
func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                %w1: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 2048>},
                %w2: tensor<32x30xf32> {autopar.source = #autopar.parameter<"w2", "m.onnx", offset = 2048, length = 3840>})
    -> (tensor<8x30xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w1 {autopar.names = ["h"]} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc("/up/MatMul")
  %1 = autopar.unary relu %0 : tensor<8x32xf32> -> tensor<8x32xf32> loc("/up/Relu")
  %2 = autopar.einsum "mk,kn->mn" %1, %w2 : (tensor<8x32xf32>, tensor<32x30xf32>) -> tensor<8x30xf32> loc("/down/MatMul")
  %3 = autopar.reshape %2 : tensor<8x30xf32> -> tensor<8x3x10xf32> loc("/split")
  %4 = autopar.unary relu %3 : tensor<8x3x10xf32> -> tensor<8x3x10xf32>
  %5 = autopar.reshape %4 {autopar.names = ["y"]} : tensor<8x3x10xf32> -> tensor<8x30xf32> loc("/heads")
  return %5 : tensor<8x30xf32>
}
