// A plan that a person edited does what it says now.

// The weight of "up" by its output dimension instead of its contracted one: the first half of axis x.
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=replicated mesh=x=4 save=%t.json" -o /dev/null
// RUN: %python %S/Inputs/edit_plan.py %t.json %t.edited.json ops.up.strategy='{"x.0":"split 1"}' tensors.h.dims='[[],["x.0"]]' tensors.w1.dims='[[],["x.0"]]'
// RUN: autopar-opt %s --autopar-apply-plan="file=%t.edited.json" --autopar-verify-plan | FileCheck %s --check-prefix=HALF
// HALF: [{}, {"x.0"}]>, autopar.source = #autopar.parameter<"w1"
// HALF: einsum {{.*}}[{}, {"x.0"}]>], autopar.strategy = #autopar.strategy<@mesh, {"x.0": split 1}>

// A whole axis by its name, partial sums kept until the next op lets them pass.
// RUN: %python %S/Inputs/edit_plan.py %t.json %t.partial.json ops.up.strategy='{"x":"split 2"}' tensors.h='{"dims":[[],[]],"partial":{"x":"sum"}}'
// RUN: autopar-opt %s --autopar-apply-plan="file=%t.partial.json" --autopar-verify-plan | FileCheck %s --check-prefix=PARTIAL
// PARTIAL: einsum {{.*}}partial = {"x": sum}>], autopar.strategy = #autopar.strategy<@mesh, {"x": split 2}>

// What a plan foretells may be left out.
// RUN: %python %S/Inputs/edit_plan.py %t.json %t.short.json -collectives -gap -lower_bound_seconds -predicted_step_seconds -predicted_peak_memory_bytes -strategy -schedule -model
// RUN: autopar-opt %s --autopar-apply-plan="file=%t.short.json" --autopar-verify-plan | FileCheck %s --check-prefix=SHORT
// SHORT: autopar.mesh @mesh <["x"=4]>

// A pipeline's stages and time axis come from the file too.
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=layer micro-batches=2 save=%t.layer.json" -o %t.layer.mlir
// RUN: autopar-opt %s --autopar-apply-plan="file=%t.layer.json" --autopar-verify-plan | diff - %t.layer.mlir

func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                %w1: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 2048>})
    -> (tensor<8x32xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w1 {autopar.names = ["h"]} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc("up")
  %1 = autopar.unary relu %0 {autopar.names = ["y"]} : tensor<8x32xf32> -> tensor<8x32xf32> loc("act")
  return %1 : tensor<8x32xf32>
}
