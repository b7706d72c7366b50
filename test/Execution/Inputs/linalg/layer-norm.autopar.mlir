module {
  func.func @step(%x: tensor<512x768xf32> {autopar.source = #autopar.input<"x">},
                  %w: tensor<768xf32> {autopar.source = #autopar.input<"w">},
                  %b: tensor<768xf32> {autopar.source = #autopar.input<"b">})
      -> (tensor<512x768xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.normalize layer %x dims = [1] epsilon = 1.000000e-05 : tensor<512x768xf32>
    %1 = autopar.broadcast %w dims = [1] : tensor<768xf32> -> tensor<512x768xf32>
    %2 = autopar.binary mul %0, %1 : tensor<512x768xf32>
    %3 = autopar.broadcast %b dims = [1] : tensor<768xf32> -> tensor<512x768xf32>
    %4 = autopar.binary add %2, %3 : tensor<512x768xf32>
    return %4 : tensor<512x768xf32>
  }
}
