// RUN: not autopar-opt %s --autopar-plan="ranks=2 strategy=diagonal" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not autopar-opt %s --autopar-plan="ranks=2 strategy=spatial" 2>&1 | FileCheck %s --check-prefix=FOLLOW
// RUN: not autopar-opt %s --autopar-plan="ranks=2 mesh=data=3" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not autopar-opt %s --autopar-plan="ranks=2 mesh=data" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not autopar-opt %s --autopar-plan="ranks=2 mesh=a=1,a=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not autopar-opt %s --autopar-plan="ranks=2 strategy=data,row mesh=data=2" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not autopar-opt %s --autopar-plan="ranks=3 strategy=data,row" 2>&1 | FileCheck %s --check-prefix=PRIME
// RUN: not autopar-opt %s --autopar-plan="ranks=2 strategy=layer micro-batches=3" 2>&1 | FileCheck %s --check-prefix=MICRO
// RUN: not autopar-opt %s --autopar-plan="ranks=2 mesh=x=2 micro-batches=2" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not autopar-opt %s --autopar-plan="ranks=4 strategy=layer" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not autopar-opt %s --autopar-plan="cluster=2x2:z80" 2>&1 | FileCheck %s --check-prefix=DEVICE

// NAME: error: unknown strategy 'diagonal'; known: auto, replicated, data, row, column, tensor, channel, spatial, layer
// FOLLOW: error: no op of this model can follow strategy 'spatial' over 2 devices; those that can be followed: auto, replicated, data, row, column, tensor, layer
// SIZE: error: the mesh has 3 devices, the cluster 2: make them equal
// FORM: error: mesh 'data' is not of the form data=2,tensor=2
// TWICE: error: mesh 'a=1,a=2' has two axes called 'a'
// AXES: error: --strategy names 2, --mesh has 1 axes: give one name per axis
// PRIME: error: 3 devices are no product of 2 axes of 2 or more
// MICRO: error: the batch of 8 cannot be cut into 3 micro-batches; choose one of 1, 2, 4, 8
// STAGES: error: --micro-batches needs stages: add layer to --strategy or to --mesh
// FEW: error: the model has 1 ops that depend on an input, too few for 4 stages
// DEVICE: error: unknown device type 'z80'; known types: {{.*}}a100-80gb
module {
  func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                  %w: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 2048>})
      -> (tensor<8x32xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    return %0 : tensor<8x32xf32>
  }
}
