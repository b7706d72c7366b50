func.func @step(%a: tensor<3xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<3xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.binary add %a, %a : tensor<3xf32>
  return %0 : tensor<3xf32>
}
