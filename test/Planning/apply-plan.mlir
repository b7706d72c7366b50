// A plan that was kept gives the same attributes; the same search the same bytes.
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=data,tensor save=%t.json" -o %t.searched.mlir
// RUN: autopar-opt %s --autopar-apply-plan="file=%t.json" --autopar-verify-plan -o %t.applied.mlir
// RUN: diff %t.searched.mlir %t.applied.mlir
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=data,tensor save=%t.again.json" -o %t.searched.mlir
// RUN: diff %t.json %t.again.json
// RUN: FileCheck %s < %t.json
// CHECK: "collectives"
// CHECK: "gap"
// CHECK: "lower_bound_seconds"
// CHECK: "mesh"
// CHECK: "axis": "data"
// CHECK: "micro_batches": 1
// CHECK: "predicted_peak_memory_bytes"
// CHECK: "predicted_step_seconds"
// CHECK: "schedule": "none"
// CHECK: "stages": 1
// CHECK: "tensors"
module attributes {autopar.model = "mlp.onnx"} {
  func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                  %w: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w", "mlp.onnx", offset = 0, length = 2048>})
      -> (tensor<8x32xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc("fc")
    %1 = autopar.unary relu %0 : tensor<8x32xf32> -> tensor<8x32xf32> loc("relu")
    return %1 : tensor<8x32xf32>
  }
}
