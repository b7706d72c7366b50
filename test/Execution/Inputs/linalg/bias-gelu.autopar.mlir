module {
  func.func @step(%x: tensor<512x3072xf32> {autopar.source = #autopar.input<"x">},
                  %b: tensor<3072xf32> {autopar.source = #autopar.input<"b">})
      -> (tensor<512x3072xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.broadcast %b dims = [1] : tensor<3072xf32> -> tensor<512x3072xf32>
    %1 = autopar.binary add %x, %0 : tensor<512x3072xf32>
    %2 = autopar.unary gelu_erf %1 : tensor<512x3072xf32> -> tensor<512x3072xf32>
    return %2 : tensor<512x3072xf32>
  }
}
