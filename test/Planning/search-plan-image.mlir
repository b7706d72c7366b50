// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=spatial" --autopar-verify-plan | FileCheck %s --check-prefix=SPATIAL
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=channel" --autopar-verify-plan | FileCheck %s --check-prefix=CHANNEL
// RUN: autopar-opt %s --autopar-plan="ranks=16 strategy=spatial" --autopar-verify-plan | FileCheck %s --check-prefix=WIDTH
module {
  func.func @step(%x: tensor<1x4x8x32xf32> {autopar.source = #autopar.input<"x">},
                  %w: tensor<6x4x3x3xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 864>})
      -> (tensor<1x6x8x32xf32> {autopar.result = #autopar.output<"y">}) {
    // SPATIAL: autopar.convolution {{.*}}autopar.shardings = [#autopar.sharding<@mesh, [{}, {}, {"spatial"}, {}]>]
    // CHANNEL: autopar.convolution {{.*}}autopar.strategy = #autopar.strategy<@mesh, {"channel": split
    // Eight rows are too few for 16 devices: the width is split.
    // WIDTH: autopar.convolution {{.*}}autopar.shardings = [#autopar.sharding<@mesh, [{}, {}, {}, {"spatial"}]>]
    %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1
      : (tensor<1x4x8x32xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x8x32xf32>
    // SPATIAL: autopar.unary {{.*}}[{}, {}, {"spatial"}, {}]
    // CHANNEL: autopar.unary {{.*}}[{}, {"channel"}, {}, {}]
    // WIDTH: autopar.unary {{.*}}[{}, {}, {}, {"spatial"}]
    %1 = autopar.unary relu %0 : tensor<1x6x8x32xf32> -> tensor<1x6x8x32xf32>
    return %1 : tensor<1x6x8x32xf32>
  }
}
