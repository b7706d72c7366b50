"""Prints a step of layers as in a transformer, without attention: x + gelu(norm(x) up) down.

    python mlp_layers.py TOKENS HIDDEN INNER LAYERS
"""

import sys

tokens, hidden, inner, layers = map(int, sys.argv[1:])
X, H = f"tensor<{tokens}x{hidden}xf32>", f"tensor<{tokens}x{inner}xf32>"
UP, DOWN = f"tensor<{hidden}x{inner}xf32>", f"tensor<{inner}x{hidden}xf32>"
LENGTH = 4 * hidden * inner


def weight(name, index, type):
    place = f"offset = {index * LENGTH}, length = {LENGTH}"
    return f'%w_{name}: {type} {{autopar.source = #autopar.parameter<"w_{name}", "m.onnx", {place}>}}'


weights = [weight(f"{kind}{i}", 2 * i + (kind == "down"), type) for i in range(layers) for kind, type in (("up", UP), ("down", DOWN))]
print("func.func @step(", end="")
print(",\n    ".join([f'%x: {X} {{autopar.source = #autopar.input<"x">}}', *weights]), end=")\n")
print(f'    -> ({X} {{autopar.result = #autopar.output<"y">}}) {{')
before = "%x"
for i in range(layers):
    print(f"""  %norm{i} = autopar.normalize layer {before} dims = [1] epsilon = 1.0E-5 : {X} loc("norm{i}")
  %up{i} = autopar.einsum "mk,kn->mn" %norm{i}, %w_up{i} : ({X}, {UP}) -> {H} loc("up{i}")
  %gelu{i} = autopar.unary gelu_tanh %up{i} : {H} -> {H} loc("gelu{i}")
  %down{i} = autopar.einsum "mk,kn->mn" %gelu{i}, %w_down{i} : ({H}, {DOWN}) -> {X} loc("down{i}")
  %add{i} = autopar.binary add {before}, %down{i} : {X} loc("add{i}")""")
    before = f"%add{i}"
print(f"  return {before} : {X}\n}}")
