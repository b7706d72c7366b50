module {
  func.func @step(%x: tensor<1024x1536xf32> {autopar.source = #autopar.input<"x">})
      -> (tensor<1536x1024xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.transpose %x perm = [1, 0] : tensor<1024x1536xf32> -> tensor<1536x1024xf32>
    return %0 : tensor<1536x1024xf32>
  }
}
