// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=layer" --autopar-verify-plan | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=layer,data mesh=layer=2,data=2 micro-batches=4" --autopar-verify-plan | FileCheck %s --check-prefix=FOUR

// Two stages of one device; the batch of 1024 in micro-batches.
// CHECK: autopar.stages = 2
// CHECK: autopar.mesh @mesh <["time"={{[0-9]+}}, "x"=1]>
// FOUR: kind = "send"
// FOUR-SAME: autopar.stages = 2
// FOUR: autopar.mesh @mesh <["time"=4, "data"=2]>
module {
  // FOUR: %{{.*}}: tensor<1024x512xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"time", "data"}, {}]>
  func.func @step(%x: tensor<1024x512xf32> {autopar.source = #autopar.input<"x">},
                  %w1: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 0, length = 1048576>},
                  %w2: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w2", "m.onnx", offset = 1048576, length = 1048576>})
      -> (tensor<1024x512xf32> {autopar.result = #autopar.output<"y">}) {
    // CHECK: autopar.einsum {{.*}}autopar.stage = 0
    // CHECK-SAME: {"time": split 0}
    // FOUR: autopar.einsum {{.*}}autopar.stage = 0
    // FOUR-SAME: {"time": split 0, "data": split 0}
    %0 = autopar.einsum "mk,kn->mn" %x, %w1 : (tensor<1024x512xf32>, tensor<512x512xf32>) -> tensor<1024x512xf32>
    // CHECK: autopar.einsum {{.*}}autopar.stage = 1
    %1 = autopar.einsum "mk,kn->mn" %0, %w2 : (tensor<1024x512xf32>, tensor<512x512xf32>) -> tensor<1024x512xf32>
    return %1 : tensor<1024x512xf32>
  }
}
