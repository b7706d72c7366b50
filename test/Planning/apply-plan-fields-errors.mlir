// Every key of a plan file that is wrong is named.

// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=data,row save=%t.json" -o /dev/null
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=layer micro-batches=2 save=%t.layer.json" -o /dev/null

// RUN: echo '[' > %t.bad.json
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.bad.json" 2>&1 | FileCheck %s --check-prefix=NOJSON
// NOJSON: error: plan file {{.*}}bad.json is not JSON:
// RUN: echo '[]' > %t.bad.json
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.bad.json" 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: error: plan file {{.*}}bad.json: must be a JSON object

// DEFINE: %{prefix} =
// DEFINE: %{changes} =
// DEFINE: %{plan} = %t.json
// DEFINE: %{check} = %python %S/Inputs/edit_plan.py %{plan} %t.edited.json %{changes} && not autopar-opt %s --autopar-apply-plan="file=%t.edited.json" 2>&1 | FileCheck %s --check-prefix=%{prefix}

// REDEFINE: %{prefix} = FORMAT
// REDEFINE: %{changes} = format=3
// RUN: %{check}
// FORMAT: error: plan file {{.*}}: 'format' must be 1 to 2: plan again with this version of autopar

// REDEFINE: %{prefix} = HASH
// REDEFINE: %{changes} = model_hash='"z"'
// RUN: %{check}
// HASH: error: plan file {{.*}}: needs 'model_hash', 16 hexadecimal digits

// REDEFINE: %{prefix} = OTHER
// REDEFINE: %{changes} = model_hash='"12"'
// RUN: %{check}
// OTHER: error: the plan was made for another model (m.onnx, hash 0000000000000012; this is m.onnx, hash {{[0-9a-f]+}}): make it anew

// REDEFINE: %{prefix} = CLUSTER
// REDEFINE: %{changes} = -cluster
// RUN: %{check}
// CLUSTER: error: plan file {{.*}}: needs 'cluster'

// REDEFINE: %{prefix} = DEVICE
// REDEFINE: %{changes} = cluster.nodes.0.type='"z80"'
// RUN: %{check}
// DEVICE: error: cluster file {{.*}}: unknown device type 'z80'; known types: 

// REDEFINE: %{prefix} = MESH
// REDEFINE: %{changes} = -mesh
// RUN: %{check}
// MESH: error: plan file {{.*}}: needs 'mesh', a list such as 

// REDEFINE: %{prefix} = AXIS
// REDEFINE: %{changes} = mesh.0='{}'
// RUN: %{check}
// AXIS: error: plan file {{.*}}: each of 'mesh' needs an 'axis' and a 'size'

// REDEFINE: %{prefix} = SIZE
// REDEFINE: %{changes} = mesh.0.size=0
// RUN: %{check}
// SIZE: error: plan file {{.*}}: 'size' must be an integer of 1 or more

// REDEFINE: %{prefix} = TIME
// REDEFINE: %{changes} = mesh.1.axis='"time"'
// RUN: %{check}
// TIME: error: plan file {{.*}}: the axis 'time' must be the first of 'mesh'

// REDEFINE: %{prefix} = TWICE
// REDEFINE: %{changes} = mesh.1.axis='"data"'
// RUN: %{check}
// TWICE: error: plan file {{.*}}: two axes of 'mesh' are called 'data'

// REDEFINE: %{prefix} = STAGES
// REDEFINE: %{changes} = stages=0
// RUN: %{check}
// STAGES: error: plan file {{.*}}: 'stages' must be an integer of 1 or more

// REDEFINE: %{prefix} = SCHEDULE
// REDEFINE: %{changes} = schedule='"gpipe"'
// RUN: %{check}
// SCHEDULE: error: plan file {{.*}}: 'schedule' of one stage is 'none', not 'gpipe'

// REDEFINE: %{prefix} = MICRO
// REDEFINE: %{changes} = -micro_batches
// RUN: %{check}
// MICRO: error: plan file {{.*}}: 'micro_batches' must be an integer of 1 or more

// REDEFINE: %{prefix} = BATCHES
// REDEFINE: %{changes} = micro_batches=2
// RUN: %{check}
// BATCHES: error: plan: micro_batches must be the size of the mesh's time axis

// REDEFINE: %{prefix} = KIND
// REDEFINE: %{changes} = collectives='[{}]'
// RUN: %{check}
// KIND: error: plan file {{.*}}: each of 'collectives' needs a 'kind' and an 'axis'

// REDEFINE: %{prefix} = WHERE
// REDEFINE: %{changes} = collectives='[{"kind":"halo","axis":["z"]}]'
// RUN: %{check}
// WHERE: error: plan file {{.*}}: 'collectives' names axis 'z', which 'mesh' has not

// REDEFINE: %{prefix} = TENSORS
// REDEFINE: %{changes} = -tensors
// RUN: %{check}
// TENSORS: error: plan file {{.*}}: needs an object 'tensors'

// REDEFINE: %{prefix} = OPS
// REDEFINE: %{changes} = -ops
// RUN: %{check}
// OPS: error: plan file {{.*}}: needs an object 'ops'

// REDEFINE: %{prefix} = DIMS
// REDEFINE: %{changes} = tensors.h='{}'
// RUN: %{check}
// DIMS: error: plan file {{.*}}: tensor 'h' needs 'dims', one list of axes per dimension

// REDEFINE: %{prefix} = DIM
// REDEFINE: %{changes} = tensors.h.dims='[1,2]'
// RUN: %{check}
// DIM: error: plan file {{.*}}: tensor 'h': each of 'dims' must be a list of axes

// REDEFINE: %{prefix} = NAME
// REDEFINE: %{changes} = tensors.h.dims='[["z"],[]]'
// RUN: %{check}
// NAME: error: plan file {{.*}}: tensor 'h' names axis 'z', which 'mesh' has not

// REDEFINE: %{prefix} = REDUCE
// REDEFINE: %{changes} = tensors.h.partial='{"row":"mean"}'
// RUN: %{check}
// REDUCE: error: plan file {{.*}}: tensor 'h': 'partial' takes sum, prod, max or min

// REDEFINE: %{prefix} = RANK
// REDEFINE: %{changes} = tensors.h.dims='[[]]'
// RUN: %{check}
// RANK: error: plan: tensor h has 2 dimensions, not 1

// REDEFINE: %{prefix} = DOUBLE
// REDEFINE: %{changes} = tensors.h.dims='[["data"],["data"]]'
// RUN: %{check}
// DOUBLE: error: plan: tensor h uses a mesh axis twice

// REDEFINE: %{prefix} = PARTLY
// REDEFINE: %{changes} = tensors.h='{"dims":[["data"],[]],"partial":{"data":"sum"}}'
// RUN: %{check}
// PARTLY: error: plan: tensor h uses a mesh axis twice

// REDEFINE: %{prefix} = MISSING
// REDEFINE: %{changes} = -tensors.h
// RUN: %{check}
// MISSING: error: the plan says nothing about tensor h

// REDEFINE: %{prefix} = EXTRA
// REDEFINE: %{changes} = tensors.hh='{"dims":[]}'
// RUN: %{check}
// EXTRA: error: the plan names tensor hh, which the model has not

// REDEFINE: %{prefix} = NOOP
// REDEFINE: %{changes} = -ops.up
// RUN: %{check}
// NOOP: error: the plan says nothing about op up

// REDEFINE: %{prefix} = EXTRAOP
// REDEFINE: %{changes} = ops.upper='{"strategy":{}}'
// RUN: %{check}
// EXTRAOP: error: the plan names op upper, which the model has not

// REDEFINE: %{prefix} = STRATEGY
// REDEFINE: %{changes} = ops.up='{}'
// RUN: %{check}
// STRATEGY: error: plan file {{.*}}: op 'up' needs an object 'strategy'

// REDEFINE: %{prefix} = OPAXIS
// REDEFINE: %{changes} = ops.up.strategy='{"z":"split 0"}'
// RUN: %{check}
// OPAXIS: error: plan file {{.*}}: op 'up' names axis 'z', which 'mesh' has not

// REDEFINE: %{prefix} = CHOICE
// REDEFINE: %{changes} = ops.up.strategy='{"row":"cut 0"}'
// RUN: %{check}
// CHOICE: error: plan file {{.*}}: op 'up': 'cut 0' is neither 'split N' nor 'pass N'

// REDEFINE: %{prefix} = FACTOR
// REDEFINE: %{changes} = ops.up.strategy='{"row":"split 9"}'
// RUN: %{check}
// FACTOR: error: plan: op up cannot run so: axis row cannot split 9: the op has 3 factors; over axis data it can: split 0

// REDEFINE: %{prefix} = STAGE
// REDEFINE: %{changes} = ops.up.stage=1
// RUN: %{check}
// STAGE: error: plan: op up is in stage 1, but there are 1

// REDEFINE: %{prefix} = NEGATIVE
// REDEFINE: %{changes} = ops.up.stage=-1
// RUN: %{check}
// NEGATIVE: error: plan file {{.*}}: 'stage' must be an integer of 0 or more

// REDEFINE: %{prefix} = REGATHERS
// REDEFINE: %{changes} = ops.up.regathers='["w1"]'
// RUN: %{check}
// REGATHERS: error: plan file {{.*}}: op 'up': 'regathers' takes numbers of operands such as [1]

// REDEFINE: %{prefix} = OPERAND
// REDEFINE: %{changes} = ops.up.regathers='[2]'
// RUN: %{check}
// OPERAND: error: plan: op up: 'regathers' must be numbers of its 2 operands, ascending

// REDEFINE: %{plan} = %t.layer.json
// REDEFINE: %{prefix} = PIPELINE
// REDEFINE: %{changes} = schedule='"none"'
// RUN: %{check}
// PIPELINE: error: plan file {{.*}}: 'schedule' of 2 stages is 'gpipe', not 'none'

// REDEFINE: %{prefix} = LATER
// REDEFINE: %{changes} = ops.up.stage=1 ops.act.stage=0
// RUN: %{check}
// LATER: error: plan: op act reads from a later stage

module attributes {autopar.model = "m.onnx"} {
func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                %w1: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 2048>})
    -> (tensor<8x32xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w1 {autopar.names = ["h"]} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc("up")
  %1 = autopar.unary relu %0 {autopar.names = ["y"]} : tensor<8x32xf32> -> tensor<8x32xf32> loc("act")
  return %1 : tensor<8x32xf32>
}
}
