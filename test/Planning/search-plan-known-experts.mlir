// Expert parallelism is found: each device has half of the experts, and what it adds to the tokens is summed.

// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=data save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=DATA
// RUN: echo '{"constraints": [{"value": "w_up", "sharding": [[], [], ["all"]]}, {"value": "w_down", "sharding": [[], ["all"], []]}]}' > %t.json
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json constraints=%t.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=INSIDE

// A round device reads 0.1 MB a us and computes 1 MF a us; of n bytes a reduce-scatter of two takes 1 + n / 20000 us. The weights
// of 8 experts are 8 MiB, 84 us to read; their hidden units are 256 KiB and their results 128 KiB, 2.6 and 1.3 us to
// read or write. All products are 68 MF, less than the weights take.
// - Tokens split (data): the weights are read whole, 84 us.
// - Experts split: 42 us; hidden units and results are halved too, and 16 x 256 sums are reduce-scattered, 1.8 us.
// - Inside each expert, columns then rows: the same weights, hidden units and sums, but each device makes sums for all 8 experts:
//   64 KiB more to write and to read, 1.3 us.
// CHECK: step 48.3 us
// CHECK: op down: x split 0
// CHECK: op gelu: x split 0
// CHECK: op up: x split 0
// CHECK: tensor w_down: [x] [] []
// CHECK: tensor w_up: [x] [] []
// CHECK: reduce_scatter x: 1 of 16384 bytes, 1.82 us
// CHECK-NOT: x:
// DATA: step 88.2 us
// INSIDE: step 49.6 us
// INSIDE: tensor w_down: [] [x] []
// INSIDE: tensor w_up: [] [] [x]
// INSIDE: reduce_scatter x: 1 of 16384 bytes, 1.82 us
func.func @step(%x: tensor<16x256xf32> {autopar.source = #autopar.input<"x">},
                %gate: tensor<256x8xf32> {autopar.source = #autopar.parameter<"w_gate", "m.onnx", offset = 0, length = 8192>},
                %up: tensor<8x256x512xf32> {autopar.source = #autopar.parameter<"w_up", "m.onnx", offset = 8192, length = 4194304>},
                %down: tensor<8x512x256xf32> {autopar.source = #autopar.parameter<"w_down", "m.onnx", offset = 4202496, length = 4194304>})
    -> (tensor<16x256xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "td,de->te" %x, %gate : (tensor<16x256xf32>, tensor<256x8xf32>) -> tensor<16x8xf32> loc("gate")
  %1 = autopar.softmax %0 dim = 1 : tensor<16x8xf32> loc("route")
  %2 = autopar.einsum "td,edf->etf" %x, %up : (tensor<16x256xf32>, tensor<8x256x512xf32>) -> tensor<8x16x512xf32> loc("up")
  %3 = autopar.unary gelu_tanh %2 : tensor<8x16x512xf32> -> tensor<8x16x512xf32> loc("gelu")
  %4 = autopar.einsum "etf,efd->etd" %3, %down : (tensor<8x16x512xf32>, tensor<8x512x256xf32>) -> tensor<8x16x256xf32> loc("down")
  %5 = autopar.einsum "te,etd->td" %1, %4 : (tensor<16x8xf32>, tensor<8x16x256xf32>) -> tensor<16x256xf32> loc("combine")
  return %5 : tensor<16x256xf32>
}
