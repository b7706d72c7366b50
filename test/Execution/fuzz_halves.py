"""Random chains on floats of 16 bits, equal to numpy in each bit: a result does not depend on what is fused with it.

    python test/Execution/fuzz_halves.py AUTOPAR WORK_FOLDER [--target emulated] [--count N] [--seed N]

The ops are those that IEEE 754 defines to the last digit, computed in fp32 and rounded after each, and movement; the values
are of all sizes, denormal and infinite too. One line per wrong case; the last counts.
"""

import os
import random
import sys

import numpy as np
import onnx
from onnx import helper

from chains import main_of
from random_models.types import BF16, ONNX, info, load_arrays, save_arrays

F16, F32 = np.dtype(np.float16), np.dtype(np.float32)
UNARY = {"Neg": np.negative, "Abs": np.abs, "Relu": lambda x: np.maximum(x, 0), "Floor": np.floor, "Ceil": np.ceil,
         "Sqrt": np.sqrt}
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum, "Min": np.minimum}


class Chain:
    """`values`: what numpy has for each name; some of them are outputs."""

    @np.errstate(all="ignore")
    def __init__(self, seed):
        self.random, generator = random.Random(seed), np.random.default_rng(seed)
        self.dtype = self.random.choice([F16, BF16])
        self.nodes, self.values, self.inputs = [], {}, []
        shape = [self.random.choice([1, 3, 8, 17, 64, 100]) for _ in range(self.random.choice([1, 2, 3]))]
        for number in range(3):
            sizes = shape if number == 0 else [n if self.random.random() < 0.7 else 1 for n in shape]
            self.inputs.append(f"x{number}")
            self.values[f"x{number}"] = self.draw(generator, sizes)
        self.live = list(self.inputs)
        for _ in range(self.random.choice([3, 6, 10, 16])):
            self.random.choice([self.unary, self.binary, self.binary, self.binary, self.there_and_back, self.inverse, self.turn])()
        self.outputs = [name for name in self.live[len(self.inputs):-1] if self.random.random() < 0.1] + [self.live[-1]]

    def __str__(self):
        return str(self.dtype)

    def draw(self, generator, shape):
        """Many of ordinary size, some at the ends of what the type holds."""
        exponents = np.where(generator.random(shape) < 0.7, generator.integers(-3, 4, shape), generator.integers(-24, 16, shape))
        values = generator.standard_normal(shape) * 2.0**exponents
        return np.where(generator.random(shape) < 0.01, np.inf, values).astype(self.dtype)

    def append(self, op, operands, value, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, operands, [name], **attributes))
        self.values[name] = value
        return name

    def compute(self, op, function, *operands):
        """Appends an op that rounds to the type."""
        wide = [self.values[name].astype(np.float32) for name in operands]
        return self.append(op, operands, function(*wide).astype(self.dtype))

    def pick(self):
        return self.random.choice(self.live[-4:])

    def unary(self):
        op = self.random.choice(list(UNARY))
        self.live.append(self.compute(op, UNARY[op], self.pick()))

    def binary(self):
        """A divisor has no sign, for that of zero is open."""
        op, x, y = self.random.choice(list(BINARY)), self.live[-1], self.random.choice(self.live)
        if op == "Div":
            y = self.compute("Abs", np.abs, y)
        try:
            np.broadcast_shapes(self.values[x].shape, self.values[y].shape)
        except ValueError:
            return
        self.live.append(self.compute(op, BINARY[op], x, y))

    def inverse(self):
        self.live.append(self.compute("Reciprocal", lambda x: np.float32(1) / x, self.compute("Abs", np.abs, self.pick())))

    def there_and_back(self):
        """Through another float type, with a product there."""
        other = self.random.choice([F32, BF16 if self.dtype == F16 else F16])
        name = self.pick()
        value = self.values[name].astype(np.float32).astype(other)
        name = self.append("Cast", [name], value, to=ONNX[other])
        value = (value.astype(np.float32) * value.astype(np.float32)).astype(other)
        name = self.append("Mul", [name, name], value)
        self.live.append(self.append("Cast", [name], value.astype(np.float32).astype(self.dtype), to=ONNX[self.dtype]))

    def turn(self):
        name = self.live[-1]
        perm = self.random.sample(range(self.values[name].ndim), self.values[name].ndim)
        turned = self.append("Transpose", [name], np.ascontiguousarray(self.values[name].transpose(perm)), perm=perm)
        self.live.append(turned)

    def model(self):
        arrays = self.values
        graph = helper.make_graph(self.nodes, "chain", [info(name, self.dtype, arrays[name].shape) for name in self.inputs],
                                  [info(name, arrays[name].dtype, arrays[name].shape) for name in self.outputs])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)

    def save(self, folder):
        onnx.save(self.model(), os.path.join(folder, "model.onnx"))
        save_arrays(os.path.join(folder, "inputs.npz"), {name: self.values[name] for name in self.inputs})

    def difference(self, folder):
        """The first output that differs in a bit, NaN aside, or None."""
        actual = load_arrays(os.path.join(folder, "out.npz"))
        for name in self.outputs:
            got, expected = (array.astype(np.float32) for array in (actual[name], self.values[name]))
            wrong = (got != expected) & ~(np.isnan(got) & np.isnan(expected))
            if wrong.any():
                return f"{name}: {wrong.sum()} of {wrong.size} elements differ, {got[wrong][0]} for {expected[wrong][0]}"
        return None


if __name__ == "__main__":
    sys.exit(main_of(__doc__, Chain))
