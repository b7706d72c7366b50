module {
  func.func @step(%x: tensor<512x512xf32> {autopar.source = #autopar.input<"x">})
      -> (tensor<512x512xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.softmax %x dim = 1 : tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
}
