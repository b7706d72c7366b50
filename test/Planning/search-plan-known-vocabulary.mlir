// A vocabulary-parallel embedding and logits, which share their table, are found.

// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=data save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=DATA
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=row save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=ROW

// A round device reads 0.1 MB a us; of n bytes an all-reduce of two takes 1 + n / 10000 us. The table of 4096 words is 8 MiB,
// 84 us to read for the logits; the embedding reads 8 rows of it. All that is made of 8 tokens is 0.2 MB, 2 us.
// - Tokens split (data): each device reads the whole table, 84 us.
// - Hidden units split (row): 42 us, but the logits are sums, 8 x 4096 x 4 bytes: 1 + 13.1 us.
// - Words split: 42 us. The logits stay split; the embedding is a sum of 8 x 512 x 4 bytes: 1 + 1.6 us.
// CHECK: step 45.7 us
// CHECK-NEXT: op embedding: x split 2
// CHECK-NEXT: op logits: x split 1
// CHECK: tensor logits: [] [x]
// CHECK: tensor table: [x] []
// CHECK-NEXT: all_reduce x: 1 of 16384 bytes, 2.64 us
// CHECK-NOT: x:
// DATA: step 84.8 us
// ROW: step 59.6 us
// ROW: all_reduce row: 1 of 131072 bytes, 14.11 us
func.func @step(%ids: tensor<8xi64> {autopar.source = #autopar.input<"ids">},
                %table: tensor<4096x512xf32> {autopar.source = #autopar.parameter<"table", "m.onnx", offset = 0, length = 8388608>})
    -> (tensor<8x4096xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.gather %table, %ids dim = 0 : (tensor<4096x512xf32>, tensor<8xi64>) -> tensor<8x512xf32> loc("embedding")
  %1 = autopar.normalize layer %0 dims = [1] epsilon = 1.0E-5 : tensor<8x512xf32> loc("norm")
  %2 = autopar.einsum "mk,nk->mn" %1, %table : (tensor<8x512xf32>, tensor<4096x512xf32>) -> tensor<8x4096xf32> loc("logits")
  return %2 : tensor<8x4096xf32>
}
