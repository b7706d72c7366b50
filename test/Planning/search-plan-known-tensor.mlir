// Megatron's layer is found: columns then rows in attention and in the MLP, an all-reduce after each, and columns of the head.

// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=data save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=DATA
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=column save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=COLUMN

// A round device reads 0.1 MB a us and computes 1 MF a us; of n bytes an all-reduce of two takes 1 + n / 10000 us, an all-gather or
// a reduce-scatter 1 + n / 20000 us. The seven weights are 20 MiB, 210 us to read; what else the 8 tokens read and write
// is 0.5 MB at most, 5 us; all products are 84 MF, 84 us beside the 210.
// - Tokens split (data): no device reads less of the weights, 210 us and more.
// - Weights split: 105 us. Columns then rows: 8 x 512 sums of 4 bytes are reduced twice, 2 x 2.64 = 5.3 us.
// - As reduce-scatter and all-gather they take 2 x 1.82 = 3.6 us each, 1 us more, and the norms that this would split
//   do not exist here.
// - Columns everywhere: attention, hidden units and both results are gathered: 3 x 1.82 + 4.28 (of 64 KiB) = 9.7 us.
// CHECK: mesh x=2
// CHECK: step 113.6 us
// CHECK: op add0: nothing
// CHECK: op add1: nothing
// CHECK: op context: x split 1
// CHECK: op down: x split 2
// CHECK: op gelu: x split 1
// CHECK: op head: x split 1
// CHECK: op key: x split 1
// CHECK: op out: x split 2
// CHECK: op query: x split 1
// CHECK: op up: x split 1
// CHECK: op value: x split 1
// CHECK: tensor w_down: [x] []
// CHECK: tensor w_head: [] [x]
// CHECK: tensor w_key: [] [x]
// CHECK: tensor w_out: [x] []
// CHECK: tensor w_query: [] [x]
// CHECK: tensor w_up: [] [x]
// CHECK: tensor w_value: [] [x]
// CHECK-NEXT: tensor x: [] []
// CHECK-NEXT: all_reduce x: 2 of 16384 bytes, 5.28 us
// CHECK-NOT: x:
// DATA: step 216.3 us
// COLUMN: step 118.3 us
// COLUMN: all_gather column: 3 of 16384 bytes, 5.46 us
// COLUMN: all_gather column: 1 of 65536 bytes, 4.28 us
func.func @step(%x: tensor<8x512xf32> {autopar.source = #autopar.input<"x">},
                %wq: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w_query", "m.onnx", offset = 0, length = 1048576>},
                %wk: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w_key", "m.onnx", offset = 1048576, length = 1048576>},
                %wv: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w_value", "m.onnx", offset = 2097152, length = 1048576>},
                %wo: tensor<512x512xf32> {autopar.source = #autopar.parameter<"w_out", "m.onnx", offset = 3145728, length = 1048576>},
                %up: tensor<512x2048xf32> {autopar.source = #autopar.parameter<"w_up", "m.onnx", offset = 4194304, length = 4194304>},
                %down: tensor<2048x512xf32> {autopar.source = #autopar.parameter<"w_down", "m.onnx", offset = 8388608, length = 4194304>},
                %head: tensor<512x4096xf32> {autopar.source = #autopar.parameter<"w_head", "m.onnx", offset = 12582912, length = 8388608>})
    -> (tensor<8x4096xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %wq : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32> loc("query")
  %1 = autopar.einsum "mk,kn->mn" %x, %wk : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32> loc("key")
  %2 = autopar.einsum "mk,kn->mn" %x, %wv : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32> loc("value")
  %3 = autopar.reshape %0 : tensor<8x512xf32> -> tensor<8x8x64xf32> loc("heads")
  %4 = autopar.reshape %1 : tensor<8x512xf32> -> tensor<8x8x64xf32> loc("heads")
  %5 = autopar.reshape %2 : tensor<8x512xf32> -> tensor<8x8x64xf32> loc("heads")
  %6 = autopar.einsum "mhk,nhk->hmn" %3, %4 : (tensor<8x8x64xf32>, tensor<8x8x64xf32>) -> tensor<8x8x8xf32> loc("scores")
  %7 = autopar.softmax %6 dim = 2 : tensor<8x8x8xf32> loc("softmax")
  %8 = autopar.einsum "hmn,nhk->mhk" %7, %5 : (tensor<8x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x8x64xf32> loc("context")
  %9 = autopar.reshape %8 : tensor<8x8x64xf32> -> tensor<8x512xf32> loc("joined")
  %10 = autopar.einsum "mk,kn->mn" %9, %wo : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32> loc("out")
  %11 = autopar.binary add %x, %10 : tensor<8x512xf32> loc("add0")
  %12 = autopar.einsum "mk,kn->mn" %11, %up : (tensor<8x512xf32>, tensor<512x2048xf32>) -> tensor<8x2048xf32> loc("up")
  %13 = autopar.unary gelu_tanh %12 : tensor<8x2048xf32> -> tensor<8x2048xf32> loc("gelu")
  %14 = autopar.einsum "mk,kn->mn" %13, %down : (tensor<8x2048xf32>, tensor<2048x512xf32>) -> tensor<8x512xf32> loc("down")
  %15 = autopar.binary add %11, %14 : tensor<8x512xf32> loc("add1")
  %16 = autopar.einsum "mk,kn->mn" %15, %head : (tensor<8x512xf32>, tensor<512x4096xf32>) -> tensor<8x4096xf32> loc("head")
  return %16 : tensor<8x4096xf32>
}
