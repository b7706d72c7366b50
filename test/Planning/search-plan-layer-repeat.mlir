// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=layer" --autopar-verify-plan | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=layer" --autopar-verify-plan --autopar-partition-pipeline | FileCheck %s --check-prefix=LOCAL

// Both stages add the mask, which depends on no input: the plan sends one value
// per micro-batch, and each stage makes the mask of its parameter.
// CHECK: autopar.plan = {{.*}}collectives = [{axis = [], bytes = {{[0-9]+}} : i64, count = {{[0-9]+}} : i64, kind = "send"
// CHECK-NOT: kind = "send"
// CHECK-SAME: autopar.stages = 2

// LOCAL-LABEL: func.func @step_0(
// LOCAL-SAME: "mask"
// LOCAL: autopar.broadcast
// LOCAL: autopar.send
// LOCAL-NOT: autopar.send
// LOCAL-LABEL: func.func @step_1(
// LOCAL-SAME: "mask"
// LOCAL: autopar.broadcast
module {
  func.func @step(%x: tensor<1024x512xf32> {autopar.source = #autopar.input<"x">},
                  %w1: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 1048576>},
                  %w2: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w2", "m.onnx", offset = 1048576, length = 1048576>},
                  %mask: tensor<512xf32> {autopar.source = #autopar.parameter<"mask", "m.onnx", offset = 2097152, length = 2048>})
      -> (tensor<1024x512xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.broadcast %mask dims = [1] : tensor<512xf32> -> tensor<1024x512xf32>
    %1 = autopar.einsum "mk,kn->mn" %x, %w1 : (tensor<1024x512xf32>, tensor<512x512xf32>) -> tensor<1024x512xf32>
    %2 = autopar.binary add %1, %0 : tensor<1024x512xf32>
    %3 = autopar.einsum "mk,kn->mn" %2, %w2 : (tensor<1024x512xf32>, tensor<512x512xf32>) -> tensor<1024x512xf32>
    %4 = autopar.binary add %3, %0 : tensor<1024x512xf32>
    return %4 : tensor<1024x512xf32>
  }
}
