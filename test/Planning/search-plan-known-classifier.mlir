// What Krizhevsky found by hand is found: images split over convolutions (data), weights over the classifier (tensor).

// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=data save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=DATA
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=channel save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=CHANNEL
// RUN: autopar-opt %s --autopar-plan="cluster=1x2:%S/Inputs/round.json strategy=tensor save=%t" -o /dev/null
// RUN: %python %S/Inputs/show_plan.py %t | FileCheck %s --check-prefix=TENSOR

// A round device computes 1 MF a us and reads 0.1 MB a us; of n bytes a reduce-scatter or an all-gather of two takes 1 + n / 20000 us,
// an all-reduce 1 + n / 10000. conv0 is 8 x 32 x 32 x 32 results of 2 x 16 x 9 operations, 75.5 MF; conv1 8 x 32 x 16 x 16
// of 2 x 32 x 9, 37.7 MF: 113 us, however split 57. The weights of the classifier are 36 MiB, 377 us to read, split 189.
// - Images split everywhere (data): 57 + 377 us, and no communication.
// - Images, then rows of fc0 and columns of fc1: 57 + 189 us. Between them 128 KiB of each device's features are
//   exchanged, half of which stays: 1 + 6.6 us; and 8 x 1024 sums are reduced: 1 + 3.3 us.
// - Columns of fc0 and rows of fc1 would gather all 256 KiB of features, 14.1 us instead of 7.6.
// - Channels split from the start: conv0 makes channels, conv1 sums over them: 256 KiB of sums are reduce-scattered, 14.1 us.
// CHECK: mesh x=2
// CHECK: step 265.9 us
// CHECK: op conv0: x split 0
// CHECK: op conv1: x split 0
// CHECK: op fc0: x split 2
// CHECK: op fc1: x split 1
// CHECK: tensor conv0: [x] [] [] []
// CHECK: tensor w_conv0: [] [] [] []
// CHECK: tensor w_conv1: [] [] [] []
// CHECK: tensor w_fc0: [x] []
// CHECK: tensor w_fc1: [] [x]
// CHECK: all_to_all x: 1 of 131072 bytes, 7.55 us
// CHECK-NEXT: all_reduce x: 1 of 32768 bytes, 4.28 us
// CHECK-NOT: x:
// DATA: step 442.5 us
// DATA: tensor x: [data] [] [] []
// DATA-NOT: data:
// CHANNEL: step 272.4 us
// CHANNEL: reduce_scatter channel: 1 of 262144 bytes, 14.11 us
// TENSOR: step 287.7 us
// TENSOR: reduce_scatter tensor: 1 of 262144 bytes, 14.11 us
// TENSOR-NEXT: all_gather tensor: 1 of 262144 bytes, 14.11 us
func.func @step(%x: tensor<8x16x32x32xf32> {autopar.source = #autopar.input<"x">},
                %w0: tensor<32x16x3x3xf32> {autopar.source = #autopar.parameter<"w_conv0", "m.onnx", offset = 0, length = 18432>},
                %w1: tensor<32x32x3x3xf32> {autopar.source = #autopar.parameter<"w_conv1", "m.onnx", offset = 18432, length = 36864>},
                %fc0: tensor<8192x1024xf32> {autopar.source = #autopar.parameter<"w_fc0", "m.onnx", offset = 55296, length = 33554432>},
                %fc1: tensor<1024x1024xf32> {autopar.source = #autopar.parameter<"w_fc1", "m.onnx", offset = 33609728, length = 4194304>})
    -> (tensor<8x1024xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.convolution %x, %w0 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<8x16x32x32xf32>, tensor<32x16x3x3xf32>) -> tensor<8x32x32x32xf32> loc("conv0")
  %1 = autopar.unary relu %0 : tensor<8x32x32x32xf32> -> tensor<8x32x32x32xf32> loc("relu0")
  %2 = autopar.convolution %1, %w1 strides = [2, 2] dilations = [1, 1] low = [1, 1] high = [0, 0] groups = 1
    : (tensor<8x32x32x32xf32>, tensor<32x32x3x3xf32>) -> tensor<8x32x16x16xf32> loc("conv1")
  %3 = autopar.unary relu %2 : tensor<8x32x16x16xf32> -> tensor<8x32x16x16xf32> loc("relu1")
  %4 = autopar.reshape %3 : tensor<8x32x16x16xf32> -> tensor<8x8192xf32> loc("flatten")
  %5 = autopar.einsum "mk,kn->mn" %4, %fc0 : (tensor<8x8192xf32>, tensor<8192x1024xf32>) -> tensor<8x1024xf32> loc("fc0")
  %6 = autopar.unary relu %5 : tensor<8x1024xf32> -> tensor<8x1024xf32> loc("relu2")
  %7 = autopar.einsum "mk,kn->mn" %6, %fc1 : (tensor<8x1024xf32>, tensor<1024x1024xf32>) -> tensor<8x1024xf32> loc("fc1")
  return %7 : tensor<8x1024xf32>
}
