// Two weights of 1 MiB: whole on each device without a limit, split with one.
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:a100-80gb strategy=data" | FileCheck %s --check-prefix=WIDE
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:a100-80gb strategy=data memory-limit=2500000" | FileCheck %s --check-prefix=NARROW
// RUN: not autopar-opt %s --autopar-plan="cluster=1x2:a100-80gb strategy=data memory-limit=1000" 2>&1 | FileCheck %s --check-prefix=NONE
module {
  // WIDE: [{}, {}]>, autopar.source = #autopar.parameter<"w1"
  // WIDE-SAME: [{}, {}]>, autopar.source = #autopar.parameter<"w2"
  // NARROW: {"data"}{{.*}}]>, autopar.source = #autopar.parameter<"w
  // NONE: error: no plan found within the memory limit of 1000 B per device; the least found is {{[0-9.]+ [KM]?i?B}}
  func.func @step(%x: tensor<8x512xf32> {autopar.source = #autopar.input<"x">},
                  %w1: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 1048576>},
                  %w2: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w2", "m.onnx", offset = 1048576, length = 1048576>})
      -> (tensor<8x512xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.einsum "mk,kn->mn" %x, %w1 : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32>
    %1 = autopar.einsum "mk,kn->mn" %0, %w2 : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32>
    return %1 : tensor<8x512xf32>
  }
}
