// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=data save=%t.json" -o /dev/null
// Plan files of earlier programs stay valid: a model's hash does not change.
// RUN: FileCheck %s --input-file=%t.json --check-prefix=SAVED
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.none.json" 2>&1 | FileCheck %s --check-prefix=READ
// RUN: sed 's/"split 0"/"halve 0"/' %t.json > %t.halve.json
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.halve.json" 2>&1 | FileCheck %s --check-prefix=HALVE
// RUN: sed 's/"split 0"/"split 7"/' %t.json > %t.factor.json
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.factor.json" 2>&1 | FileCheck %s --check-prefix=FACTOR
// RUN: sed 's/"fc"/"fd"/' %t.json > %t.name.json
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.name.json" 2>&1 | FileCheck %s --check-prefix=OP
// RUN: sed 's/"model_hash": "/"model_hash": "f/' %t.json > %t.hash.json
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.hash.json" 2>&1 | FileCheck %s --check-prefix=HASH
// RUN: sed 's/"axis": "data"/"axis": "depth"/' %t.json > %t.axis.json
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.axis.json" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: sed 's/"stages": 1/"stages": 0/' %t.json > %t.stages.json
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.stages.json" 2>&1 | FileCheck %s --check-prefix=STAGES

// SAVED: "model_hash": "d694a235879dfb24"

// READ: error: cannot read plan file
// HALVE: error: plan file {{.*}}: op 'fc': 'halve 0' is neither 'split N' nor 'pass N'
// FACTOR: error: plan: op fc cannot run so: axis data cannot split 7: the op has 3 factors; over axis data it can: split 0 (dimension 0 of tensor fc, 8 elements), split 1
// OP: error: the plan says nothing about op fc
// HASH: error: {{.*}}model
// AXIS: error: plan file {{.*}} names axis 'data', which 'mesh' has not
// STAGES: error: plan file {{.*}}: 'stages' must be an integer of 1 or more
module attributes {autopar.model = "mlp.onnx"} {
  func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                  %w: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w", "mlp.onnx", offset = 0, length = 2048>})
      -> (tensor<8x32xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc("fc")
    return %0 : tensor<8x32xf32>
  }
}
