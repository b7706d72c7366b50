// Of two axes that both communicate the one that does so most is inside the nodes. So it is inside pairs of devices of one node that have a faster link, and in pairs of
// nodes: with the same rates the plan is the same.

// RUN: autopar-opt %s --autopar-plan="cluster=2x2:%S/Inputs/round.json@1 save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="cluster=%S/Inputs/pairs.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="cluster=%S/Inputs/racks.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s
// RUN: echo '{"constraints": [{"mesh": "x=2,y=2"}, {"node": "up", "strategy": {"x": "split 1", "y": "split 0"}}, {"node": "down", "strategy": {"x": "split 2", "y": "split 0"}}]}' > %t.json
// RUN: autopar-opt %s --autopar-plan="cluster=2x2:%S/Inputs/round.json@1 constraints=%t.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=SWAPPED
// RUN: autopar-opt %s --autopar-plan="cluster=2x2:%S/Inputs/round.json@1 mesh=x=4 save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=ONE
// RUN: autopar-opt %s --autopar-plan="cluster=2x2:%S/Inputs/round.json@1 strategy=tensor save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=TENSOR

// Two nodes of two round devices, which compute 1 MF and read 0.1 MB a us. Of n bytes a reduce-scatter of two takes 1 + n / 20000 us
// inside a node; between nodes, where the two devices of a node send at once at 1 GB/s each, 10 + n / 2000. The
// products are 268 MF, 67 us on four devices; the two weights are 8 MiB, 84 us to read, split by two 42. What is made
// of the tokens in the end, like a gradient, is a sum over them.
// - Tokens over y, columns then rows over x (swapped): 32 tokens' sums, 64 KiB, cross the nodes: 10 + 32.8 us.
// - Tokens over x, columns then rows over y: that is 1 + 3.3 us. The last product sums over x, of each device's
//   256 x 32 results: 10 + 16.4 us. The norm combines its statistics inside the node.
// - Tokens over all (x=4): 84 us of weights instead of 67, and what the last product needs crosses the nodes.
// - Columns then rows over all: 128 KiB of sums for 64 tokens cross the nodes.
// CHECK: mesh x=2 y=2
// CHECK: step 103.8 us
// CHECK: op down: x split 0, y split 2
// CHECK: op gradient: x split 2, y split 0
// CHECK: op up: x split 0, y split 1
// CHECK: tensor w_down: [y] []
// CHECK: tensor w_up: [] [y]
// CHECK: reduce_scatter y: 1 of 65536 bytes, 4.28 us
// CHECK-NEXT: reduce_scatter x: 1 of 32768 bytes, 26.38 us
// SWAPPED: step 136.6 us
// SWAPPED: reduce_scatter x: 1 of 65536 bytes, 42.77 us
// ONE: step 117.7 us
// ONE: all_to_all x: 1 of 32768 bytes, 29.02 us
// TENSOR: step 145.6 us
// TENSOR: reduce_scatter tensor: 1 of 131072 bytes, 50.32 us
func.func @step(%x: tensor<64x512xf32> {autopar.source = #autopar.input<"x">},
                %t: tensor<64x32xf32> {autopar.source = #autopar.input<"t">},
                %up: tensor<512x2048xf32> {autopar.source = #autopar.parameter<"w_up", "m.onnx", offset = 0, length = 4194304>},
                %down: tensor<2048x512xf32> {autopar.source = #autopar.parameter<"w_down", "m.onnx", offset = 4194304, length = 4194304>})
    -> (tensor<512x32xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %up : (tensor<64x512xf32>, tensor<512x2048xf32>) -> tensor<64x2048xf32> loc("up")
  %1 = autopar.unary gelu_tanh %0 : tensor<64x2048xf32> -> tensor<64x2048xf32> loc("gelu")
  %2 = autopar.einsum "mk,kn->mn" %1, %down : (tensor<64x2048xf32>, tensor<2048x512xf32>) -> tensor<64x512xf32> loc("down")
  %3 = autopar.binary add %x, %2 : tensor<64x512xf32> loc("add")
  %4 = autopar.normalize layer %3 dims = [1] epsilon = 1.0E-5 : tensor<64x512xf32> loc("norm")
  %5 = autopar.einsum "mk,mn->kn" %4, %t : (tensor<64x512xf32>, tensor<64x32xf32>) -> tensor<512x32xf32> loc("gradient")
  return %5 : tensor<512x32xf32>
}
