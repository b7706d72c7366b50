// One large image is split into halves: there is no batch to split, and what the halves share is less than channels would be.

// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=channel save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=CHANNEL
// RUN: autopar-opt %s --autopar-plan="cluster=1x1:%S/Inputs/round.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=WHOLE

// A round device computes 1 MF a us and writes 0.1 MB a us. A convolution is 16 x 128 x 128 results of 2 x 16 x 9 operations,
// 75.5 MF, and a relu writes 1 MiB, 10.5 us: 172 us in all, split 86.
// - Rows split: each convolution needs a row of 16 x 128 x 4 bytes of the other half. Two messages (of the row above and
//   of that below) take 2 + 8192 / 10000 us, twice 5.6 us.
// - Channels split: conv0 makes half of the channels, conv1 needs all of them: 1 MiB is gathered, 1 + 1048576 / 20000 us.
// CHECK: step 91.6 us
// CHECK: op conv0: x split 3
// CHECK: op conv1: x split 3
// CHECK: tensor relu0: [] [] [x] []
// CHECK: tensor w0: [] [] [] []
// CHECK: tensor w1: [] [] [] []
// CHECK: halo x: 2 of 8192 bytes, 5.64 us
// CHECK-NOT: x:
// CHANNEL: step 139.4 us
// CHANNEL: all_gather channel: 1 of 1048576 bytes, 53.43 us
// WHOLE: step 172.0 us
func.func @step(%x: tensor<1x16x128x128xf32> {autopar.source = #autopar.input<"x">},
                %w0: tensor<16x16x3x3xf32> {autopar.source = #autopar.parameter<"w0", "m.onnx", offset = 0, length = 9216>},
                %w1: tensor<16x16x3x3xf32> {autopar.source = #autopar.parameter<"w1", "m.onnx", offset = 9216, length = 9216>})
    -> (tensor<1x16x128x128xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.convolution %x, %w0 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<1x16x128x128xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x128x128xf32> loc("conv0")
  %1 = autopar.unary relu %0 : tensor<1x16x128x128xf32> -> tensor<1x16x128x128xf32> loc("relu0")
  %2 = autopar.convolution %1, %w1 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<1x16x128x128xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x128x128xf32> loc("conv1")
  %3 = autopar.unary relu %2 : tensor<1x16x128x128xf32> -> tensor<1x16x128x128xf32> loc("relu1")
  return %3 : tensor<1x16x128x128xf32>
}
