// RUN: autopar-opt %s --autopar-interpret='against=%S/Inputs/negated.mlir' -o /dev/null | FileCheck %s
// RUN: not autopar-opt %s --autopar-interpret='against=%S/Inputs/doubled.mlir' -o /dev/null 2>&1 | FileCheck %s --check-prefix=DIFFERS
// RUN: not autopar-opt %s --autopar-interpret='against=%S/Inputs/missing.mlir' -o /dev/null 2>&1 | FileCheck %s --check-prefix=READ

// The same function written otherwise.

// CHECK: 1 results equal
// DIFFERS: error: differs from {{.*}}doubled.mlir: y: element
// READ: cannot read {{.*}}missing.mlir
func.func @step(%a: tensor<3xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.unary neg %a : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
