// Where communication is free the search splits; where it is dear it may not.
// RUN: echo '{"nodes":[{"type":"cpu","devices":2}],"links":[{"within":"node","kind":"free"}]}' > %t.json
// RUN: autopar-opt %s --autopar-plan="cluster=%t.json" --autopar-verify-plan | FileCheck %s
// RUN: echo '{"nodes":[{"type":"cpu","devices":2}],"links":[{"within":"node","latency_us":100000}]}' > %t.slow.json
// RUN: autopar-opt %s --autopar-plan="cluster=%t.slow.json" --autopar-verify-plan | FileCheck %s --check-prefix=SLOW

// Running sums along both dimensions: what one can split, the other cannot.
module {
  func.func @step(%x: tensor<256x256xf32> {autopar.source = #autopar.input<"x">},
                  %w: tensor<256x256xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 262144>})
      -> (tensor<256x256xf32> {autopar.result = #autopar.output<"y">}) {
    // CHECK: autopar.einsum {{.*}}{"x": split
    // SLOW: autopar.einsum {{.*}}autopar.strategy<@mesh, {}>
    %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    // CHECK: autopar.scan {{.*}}{"x": split
    // SLOW: autopar.scan {{.*}}autopar.strategy<@mesh, {}>
    %1 = autopar.scan sum %0 dim = 0 : tensor<256x256xf32>
    // CHECK: autopar.scan {{.*}}{"x": split
    // SLOW: autopar.scan {{.*}}autopar.strategy<@mesh, {}>
    %2 = autopar.scan sum %1 dim = 1 : tensor<256x256xf32>
    return %2 : tensor<256x256xf32>
  }
}
