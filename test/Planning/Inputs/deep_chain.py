"""Prints a step of two stages whose mask is a chain of so many ops that depend on no input."""

import sys

count = int(sys.argv[1])
print("""func.func @step(%x: tensor<64x8xf32> {autopar.source = #autopar.input<"x">},
    %w: tensor<8x8xf32> {autopar.source = #autopar.parameter<"w", "m.onnx", offset = 0, length = 256>},
    %m: tensor<8xf32> {autopar.source = #autopar.parameter<"m", "m.onnx", offset = 256, length = 32>})
    -> (tensor<64x8xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.broadcast %m dims = [1] : tensor<8xf32> -> tensor<64x8xf32>""")
for i in range(count):
    print(f"  %{i + 1} = autopar.unary neg %{i} : tensor<64x8xf32> -> tensor<64x8xf32>")
print(f"""  %a = autopar.einsum "mk,kn->mn" %x, %w : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
  %b = autopar.binary add %a, %{count} : tensor<64x8xf32>
  %c = autopar.einsum "mk,kn->mn" %b, %w : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
  %d = autopar.binary add %c, %{count} : tensor<64x8xf32>
  return %d : tensor<64x8xf32>
}}""")
