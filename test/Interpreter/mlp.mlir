// RUN: autopar-opt %s --autopar-interpret -o /dev/null | FileCheck %s

// The step of a small perceptron: x * w + b, relu, softmax.
//   [1 2] * [1 0] + [0 -4] = [3 -2]  relu [3 0]
//           [1 1]

// CHECK: logits = dense<{{\[}}[3.000000e+00, 0.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT: y = dense<{{\[}}[0.95257{{[0-9]*}}, 0.04742{{[0-9]*}}]]> : tensor<1x2xf32>
func.func @step(
    %x: tensor<1x2xf32> {autopar.source = #autopar.input<"x">,
                         autopar.given = dense<[[1.0, 2.0]]> : tensor<1x2xf32>},
    %w: tensor<2x2xf32> {autopar.given = dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>},
    %b: tensor<2xf32> {autopar.given = dense<[0.0, -4.0]> : tensor<2xf32>})
    -> (tensor<1x2xf32> {autopar.result = #autopar.output<"logits">},
        tensor<1x2xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = autopar.broadcast %b dims = [1] : tensor<2xf32> -> tensor<1x2xf32>
  %2 = autopar.binary add %0, %1 : tensor<1x2xf32>
  %3 = autopar.unary relu %2 : tensor<1x2xf32> -> tensor<1x2xf32>
  %4 = autopar.softmax %3 dim = 1 : tensor<1x2xf32>
  return %3, %4 : tensor<1x2xf32>, tensor<1x2xf32>
}
