// What a name asks for holds; what it leaves open is searched.

// The output dimension of each weight, factor 1.
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=column" --autopar-verify-plan | FileCheck %s --check-prefix=COLUMN
// COLUMN: @step
// COLUMN-SAME: [{}, {"column"}]>, autopar.source = #autopar.parameter<"up.w"
// COLUMN-SAME: [{}, {"column"}]>, autopar.source = #autopar.parameter<"down.w"
// COLUMN: einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"column": split 1}>
// COLUMN: einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"column": split 1}>

// Column, then row: what is between stays split.
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=tensor" --autopar-verify-plan | FileCheck %s --check-prefix=TENSOR
// TENSOR: einsum {{.*}}[{}, {"tensor"}]>], autopar.strategy = #autopar.strategy<@mesh, {"tensor": split 1}>
// TENSOR: relu {{.*}}[{}, {"tensor"}]>], autopar.strategy = #autopar.strategy<@mesh, {"tensor": split 1}>
// TENSOR: einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"tensor": split 2}>

// One name per axis, in order; where the axes are called like the names, by name.
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=data,tensor" --autopar-verify-plan | FileCheck %s --check-prefix=BOTH
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=tensor,data mesh=data=2,tensor=2" --autopar-verify-plan | FileCheck %s --check-prefix=BOTH
// BOTH: autopar.mesh @mesh <["data"=2, "tensor"=2]>
// BOTH: einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor": split 1}>
// BOTH: relu {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor": split 1}>
// BOTH: einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor": split 2}>
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=data,row mesh=a=2,b=2" --autopar-verify-plan | FileCheck %s --check-prefix=ORDER
// ORDER: einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"a": split 0, "b": split 2}>
// A name given twice makes two axes.
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=data,data" --autopar-verify-plan | FileCheck %s --check-prefix=TWICE
// TWICE: autopar.mesh @mesh <["data"=2, "data2"=2]>
// TWICE-COUNT-3: autopar.strategy<@mesh, {"data": split 0, "data2": split 0}>
// An axis called layer is stages whatever the strategy.
// RUN: autopar-opt %s --autopar-plan="ranks=4 mesh=layer=2,a=2" --autopar-verify-plan | FileCheck %s --check-prefix=STAGES
// STAGES: autopar.stages = 2 : i64
// STAGES: autopar.mesh @mesh <[{{.*}}"a"=2]>
// STAGES: einsum {{.*}}autopar.stage = 0
// STAGES: einsum {{.*}}autopar.stage = 1

// The same plan byte for byte, whenever it is made; what an earlier plan wrote leaves no trace.
// RUN: autopar-opt %s --autopar-plan="cluster=1x4:a100-80gb save=%t.1.json" -o %t.1.mlir
// RUN: autopar-opt %s --autopar-plan="cluster=1x4:a100-80gb save=%t.2.json" -o %t.2.mlir
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=layer" --autopar-plan="cluster=1x4:a100-80gb save=%t.3.json" -o %t.3.mlir
// RUN: diff %t.1.json %t.2.json
// RUN: diff %t.1.mlir %t.2.mlir
// RUN: diff %t.1.json %t.3.json
// RUN: diff %t.1.mlir %t.3.mlir

func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                %w1: tensor<16x32xf32> {autopar.source = #autopar.parameter<"up.w", "m.onnx", offset = 0, length = 2048>},
                %w2: tensor<32x16xf32> {autopar.source = #autopar.parameter<"down.w", "m.onnx", offset = 2048, length = 2048>})
    -> (tensor<8x16xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w1 : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = autopar.unary relu %0 : tensor<8x32xf32> -> tensor<8x32xf32>
  %2 = autopar.einsum "mk,kn->mn" %1, %w2 : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
