// Fewer rows and fewer columns than devices: some of the devices' sub-axes split
// the rows, the others the columns. A prime number leaves devices idle.
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=spatial" --autopar-verify-plan -o %t.four
// RUN: FileCheck %s --check-prefix=FOUR < %t.four
// RUN: autopar-opt %t.four --autopar-localize-pipeline | autopar-opt --autopar-check-equality --autopar-interpret=against=%s -o /dev/null
// RUN: autopar-opt %s --autopar-plan="ranks=5 strategy=spatial" --autopar-verify-plan -o %t.five
// RUN: FileCheck %s --check-prefix=FIVE < %t.five
// RUN: autopar-opt %t.five --autopar-localize-pipeline | autopar-opt --autopar-check-equality --autopar-interpret=against=%s -o /dev/null
func.func @step(%x: tensor<512x64x2x2xf32> {autopar.source = #autopar.input<"x">},
                %w: tensor<64x64x3x3xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 147456>})
    -> (tensor<512x64x2x2xf32> {autopar.result = #autopar.output<"y">}) {
  // FOUR: autopar.convolution {{.*}}[{}, {}, {"spatial.0"}, {"spatial.1"}]
  // FIVE: autopar.convolution {{.*}}[{}, {}, {{.*}}{"spatial"}
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
    : (tensor<512x64x2x2xf32>, tensor<64x64x3x3xf32>) -> tensor<512x64x2x2xf32>
  %1 = autopar.unary relu %0 : tensor<512x64x2x2xf32> -> tensor<512x64x2x2xf32>
  return %1 : tensor<512x64x2x2xf32>
}
