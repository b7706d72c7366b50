// A plan file that reduces a gradient before it is converted is refused.
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=data save=%t.json" -o /dev/null
// RUN: %python %S/Inputs/edit_plan.py %t.json %t.edited.json ops.wide.strategy='{}' tensors.g.dims='[[],[]]' -tensors.g.partial
// RUN: not autopar-opt %s --autopar-apply-plan="file=%t.edited.json" 2>&1 | FileCheck %s
// CHECK: plan: tensor g is sharded {{.*}}, but op product gives {{.*}}: a gradient is reduced in its own type, wider than this; the recipe's "gradient_communication" may allow less
func.func @step(%x: tensor<64x256xbf16> {autopar.source = #autopar.input<"x">}, %y: tensor<64x128xbf16> {autopar.source = #autopar.input<"y">})
    -> (tensor<256x128xf32> {autopar.result = #autopar.gradient<"w">}) {
  %0 = autopar.einsum "bi,bo->io" %x, %y {autopar.names = ["g"]} : (tensor<64x256xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16> loc("product")
  %1 = autopar.convert %0 {autopar.names = ["f"]} : tensor<256x128xbf16> -> tensor<256x128xf32> loc("wide")
  return %1 : tensor<256x128xf32>
}
