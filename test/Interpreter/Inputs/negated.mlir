func.func @step(%a: tensor<3xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.constant dense<0.0> : tensor<3xf32>
  %1 = autopar.binary sub %0, %a : tensor<3xf32>
  return %1 : tensor<3xf32>
}
