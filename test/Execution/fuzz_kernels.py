"""Random chains of movement, reductions, matrix multiplications and convolutions of odd shapes and all types, whole and on
ranks, against onnxruntime.

    python test/Execution/fuzz_kernels.py AUTOPAR WORK_FOLDER [--target emulated] [--count N] [--seed N]

The shapes are large enough for tiles and blocks of columns, and seldom divide them. One line per wrong case; the last counts.
"""

import os
import random
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

from autopar.compare import compare  # noqa: E402
from chains import main_of  # noqa: E402
from programs import reference  # noqa: E402

TYPES = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.int32: TensorProto.INT32, np.float16: TensorProto.FLOAT16}
SIZES = [1, 2, 3, 7, 16, 17, 33, 64, 70, 96, 100, 129, 256, 300]
SMALL_SIZES = [1, 2, 2, 3, 3, 4, 5, 6, 7, 9, 12, 14]
MOST_ELEMENTS = 200000


class Chain:
    """One model: every step takes the last value, some an earlier one too; some values are outputs besides the last."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.rng, self.seed, self.dtype = rng, seed, rng.choice([np.float32, np.float32, *TYPES])
        self.inputs, self.constants, self.nodes = {}, {}, []
        self.value, self.outputs = "x", []
        if rng.random() < 0.1:
            self.long_scan()
            return
        rank = rng.choice([2, 3, 4, 4, 5, 6])
        self.shape = [rng.choice(SIZES if rank < 5 and rng.random() < 0.6 else SMALL_SIZES) for _ in range(rank)]
        while np.prod(self.shape) > MOST_ELEMENTS:
            largest = int(np.argmax(self.shape))
            self.shape[largest] //= 2
        self.inputs["x"] = list(self.shape)
        self.seen = [("x", list(self.shape))]
        for _ in range(rng.choice([1, 2, 3, 4, 6, 8])):
            rng.choice([self.transpose, self.transpose, self.reshape, self.reshape, self.slice, self.reduce, self.combine,
                        self.softmax, self.matmul, self.convolve, self.convolve, self.activate, self.rejoin, self.extend])()
            if self.seen[-1][0] != self.value:
                self.seen.append((self.value, list(self.shape)))
            if self.value != "x" and rng.random() < 0.2:
                self.outputs.append(self.value)
        self.append("Identity")
        self.outputs = list(dict.fromkeys([*self.outputs, self.value]))

    def __str__(self):
        return f"{self.dtype.__name__}{self.inputs['x']}"

    def append(self, op, *others, **attributes):
        result = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.value, *others], [result], **attributes))
        self.value = result

    def transpose(self):
        if not self.shape:
            return
        perm = self.rng.sample(range(len(self.shape)), len(self.shape))
        self.append("Transpose", perm=perm)
        self.shape = [self.shape[dim] for dim in perm]

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.array(values, np.int64)
        return name

    def factorize(self, count):
        """Sizes with that product, some of them 1."""
        shape = []
        while count > 1 and len(shape) < 5:
            shape.append(self.rng.choice([n for n in range(2, count + 1) if count % n == 0]))
            count //= shape[-1]
        shape += [count] * (count > 1)
        self.rng.shuffle(shape)
        if len(shape) < 6 and self.rng.random() < 0.3:
            shape.insert(self.rng.randint(0, len(shape)), 1)
        return shape

    def reshape(self):
        """To other sizes, or to the same ones in another order."""
        shape = self.factorize(int(np.prod(self.shape)))
        if self.rng.random() < 0.3:
            shape = self.rng.sample(self.shape, len(self.shape))
        self.append("Reshape", self.constant(shape))
        self.shape = shape

    def slice(self):
        """Most often the first few of a dimension: its indices stay what they are."""
        wide = [dim for dim, size in enumerate(self.shape) if size > 1]
        if not wide:
            return
        dim = self.rng.choice(wide)
        size = self.shape[dim]
        end = self.rng.randint(1, size)
        start = 0 if self.rng.random() < 0.6 else self.rng.randrange(end)
        step = self.rng.choice([1, 1, 1, 2, 3])
        bounds = [start, end, step]
        if self.rng.random() < 0.1:
            bounds = [end - 1, start - 1 if start else -(2**31), -step]
        self.append("Slice", self.constant(bounds[:1]), self.constant(bounds[1:2]), self.constant([dim]), self.constant(bounds[2:]))
        self.shape[dim] = -(-(end - start) // step)

    def convolve(self):
        """Images that a library keeps with channels last."""
        if self.dtype is not np.float32:
            return
        if len(self.shape) not in (3, 4, 5) or self.rng.random() < 0.3:
            spatial = self.rng.choice([1, 2, 2, 2, 3])
            shape = self.factorize(int(np.prod(self.shape)))[:2 + spatial]
            shape += [1] * (2 + spatial - len(shape))
            shape[-1] *= int(np.prod(self.shape)) // int(np.prod(shape))
            self.append("Reshape", self.constant(shape))
            self.shape = shape
        channels, spatial = self.shape[1], self.shape[2:]
        filters = self.rng.choice([1, 3, 4, 8, 9, 16, channels])
        groups = self.rng.choice([n for n in range(1, channels + 1) if channels % n == filters % n == 0]) if self.rng.random() < 0.2 else 1
        kernel = [self.rng.choice([1, 3]) for _ in spatial]
        strides = [self.rng.choice([1, 1, 2]) for _ in spatial]
        work = np.prod(kernel) * channels // groups * filters * np.prod(spatial) * self.shape[0]
        if work > 100 * MOST_ELEMENTS or filters * np.prod(spatial) * self.shape[0] > MOST_ELEMENTS:
            return
        names = [f"f{len(self.nodes)}", f"b{len(self.nodes)}"]
        self.inputs[names[0]], self.inputs[names[1]] = [filters, channels // groups, *kernel], [filters]
        self.append("Conv", *names[:self.rng.choice([1, 2])], group=groups, strides=strides, pads=[size // 2 for size in kernel] * 2)
        for name in names:
            if not any(name in node.input for node in self.nodes):
                del self.inputs[name]
        self.shape = [self.shape[0], filters, *((n + 2 * (k // 2) - k) // s + 1 for n, k, s in zip(spatial, kernel, strides))]

    def activate(self):
        if self.dtype in (np.float32, np.float64):
            ops = ["Relu", "Sigmoid", "Tanh", "HardSwish"] if self.dtype is np.float32 else ["Relu", "Sigmoid", "Tanh"]
            self.append(self.rng.choice(ops))

    def rejoin(self):
        """With an earlier value of as many elements, in this one's shape."""
        same = [(name, shape) for name, shape in self.seen if np.prod(shape) == np.prod(self.shape)]
        name, shape = self.rng.choice(same or [(None, None)])
        if name is None:
            return
        if shape != self.shape:
            here, there = self.value, self.shape
            self.value = name
            self.append("Reshape", self.constant(there))
            name, self.value = self.value, here
        self.append(self.rng.choice(["Add", "Mul", "Max"] if self.dtype is not np.float16 else ["Add", "Mul"]), name)

    def extend(self):
        """By itself, or by what is around it."""
        if not self.shape or 2 * np.prod(self.shape) > MOST_ELEMENTS:
            return
        dim = self.rng.randrange(len(self.shape))
        if self.rng.random() < 0.5:
            self.append("Concat", self.value, axis=dim)
            self.shape[dim] *= 2
            return
        pads = [0] * (2 * len(self.shape))
        pads[dim], pads[dim + len(self.shape)] = self.rng.choice([0, 1, 3]), self.rng.choice([0, 1, 2])
        if self.dtype is np.float16:
            return
        self.append("Pad", self.constant(pads))
        self.shape[dim] += pads[dim] + pads[dim + len(self.shape)]

    def reduce(self):
        if not self.shape:
            return
        ops = {np.int32: ["ReduceSum", "ReduceMax"], np.float16: ["ReduceMax", "ReduceMin"]}
        op = self.rng.choice(ops.get(self.dtype, ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL2"]))
        dims = sorted(self.rng.sample(range(len(self.shape)), self.rng.randint(1, len(self.shape))))
        keep = self.rng.choice([0, 1])
        self.append(op, self.constant(dims), keepdims=keep)
        self.shape = [1 if i in dims else n for i, n in enumerate(self.shape) if keep or i not in dims]

    def combine(self):
        other = f"u{len(self.nodes)}"
        self.inputs[other] = [n if self.rng.random() < 0.6 else 1 for n in self.shape]
        self.append(self.rng.choice(["Add", "Mul"]), other)

    def softmax(self):
        if not self.shape or self.dtype not in (np.float32, np.float64):
            return
        axis = self.rng.randrange(len(self.shape))
        if self.rng.random() < 0.3:
            self.append("CumSum", self.constant(axis), reverse=self.rng.choice([0, 1]), exclusive=self.rng.choice([0, 1]))
        else:
            self.append(self.rng.choice(["Softmax", "LogSoftmax"]), axis=axis)

    def long_scan(self):
        """Of rows that shared memory does not hold."""
        self.shape = [self.rng.choice([1, 3]), self.rng.choice([5000, 9001, 20003])]
        self.inputs["x"] = list(self.shape)
        if self.dtype is np.float16:
            self.dtype = np.float32
        self.append("CumSum", self.constant(1), reverse=self.rng.choice([0, 1]), exclusive=self.rng.choice([0, 1]))
        self.append("Identity")
        self.outputs = [self.value]

    def matmul(self):
        if len(self.shape) < 2 or self.dtype is np.float16:
            return
        other, columns = f"w{len(self.nodes)}", self.rng.choice([1, 5, 19, 40])
        self.inputs[other] = [self.shape[-1], columns]
        self.append("MatMul", other)
        self.shape = self.shape[:-1] + [columns]

    def model(self):
        kind = TYPES[self.dtype]
        graph = helper.make_graph(
            self.nodes, "chain", [helper.make_tensor_value_info(name, kind, shape) for name, shape in self.inputs.items()],
            [helper.make_tensor_value_info(name, kind, None) for name in self.outputs],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()])
        return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))

    def values(self):
        generator = np.random.default_rng(self.seed)
        draw = (lambda s: generator.integers(-3, 4, s)) if self.dtype is np.int32 else (lambda s: generator.standard_normal(s).clip(-3, 3))
        return {name: np.asarray(draw(shape)).astype(self.dtype) for name, shape in self.inputs.items()}

    def save(self, folder):
        onnx.save(self.model(), os.path.join(folder, "model.onnx"))
        np.savez(os.path.join(folder, "inputs.npz"), **self.values())

    def difference(self, folder):
        """How far beyond the tolerance, or None."""
        expected = reference(folder, self.values())
        with np.load(os.path.join(folder, "out.npz")) as actual:
            known = {name: settled(actual[name], array) for name, array in expected.items()}
        worst = max(compare(known, expected, 2e-2 if self.dtype is np.float16 else 5e-4).values())
        return None if worst <= 1 else f"{worst:.3g} of the tolerance"


def settled(actual, expected):
    """With what onnxruntime has where it is no number, or where the two differ by less than functions near zero are exact to."""
    if expected.dtype.kind != "f" or actual.shape != expected.shape:
        return actual
    with np.errstate(invalid="ignore"):
        open_to_doubt = ~np.isfinite(expected) | (np.abs(actual - expected) < 1e-6)
    return np.where(open_to_doubt, expected, actual)


if __name__ == "__main__":
    sys.exit(main_of(__doc__, Chain))
