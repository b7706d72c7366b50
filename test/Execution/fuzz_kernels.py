"""Random chains of movement, reductions and products of odd shapes and all types, whole and on ranks, against onnxruntime.

    python test/Execution/fuzz_kernels.py AUTOPAR WORK_FOLDER [--target emulated] [--count N] [--seed N]

The shapes are large enough for tiles and blocks of columns, and seldom divide them. One line per wrong case; the last counts.
"""

import argparse
import os
import random
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

from autopar.compare import compare  # noqa: E402

TYPES = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.int32: TensorProto.INT32, np.float16: TensorProto.FLOAT16}
SIZES = [1, 2, 3, 7, 16, 17, 33, 64, 70, 96, 100, 129, 256, 300]
MOST_ELEMENTS = 200000


class Chain:
    """One model: every step takes the last value."""

    def __init__(self, rng):
        self.rng, self.dtype = rng, rng.choice(list(TYPES))
        self.shape = [rng.choice(SIZES) for _ in range(rng.choice([2, 3, 4]))]
        while np.prod(self.shape) > MOST_ELEMENTS:
            largest = int(np.argmax(self.shape))
            self.shape[largest] //= 2
        self.inputs, self.constants, self.nodes = {"x": list(self.shape)}, {}, []
        self.value = "x"
        if rng.random() < 0.1:
            self.long_scan()
            return
        for _ in range(rng.choice([1, 2, 2, 3])):
            rng.choice([self.transpose, self.transpose, self.reduce, self.reduce, self.combine, self.softmax, self.product])()
        self.append("Identity")

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

    def reduce(self):
        if not self.shape:
            return
        ops = {np.int32: ["ReduceSum", "ReduceMax"], np.float16: ["ReduceMax", "ReduceMin"]}
        op = self.rng.choice(ops.get(self.dtype, ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL2"]))
        dims = sorted(self.rng.sample(range(len(self.shape)), self.rng.randint(1, len(self.shape))))
        keep = self.rng.choice([0, 1])
        axes = f"axes{len(self.nodes)}"
        self.constants[axes] = np.array(dims, np.int64)
        self.append(op, axes, keepdims=keep)
        self.shape = [1 if i in dims else n for i, n in enumerate(self.shape) if keep or i not in dims]

    def combine(self):
        other = f"u{len(self.nodes)}"
        self.inputs[other] = [n if self.rng.random() < 0.6 else 1 for n in self.shape]
        self.append(self.rng.choice(["Add", "Mul"]), other)

    def softmax(self):
        if self.shape and self.dtype in (np.float32, np.float64):
            self.append("Softmax", axis=self.rng.randrange(len(self.shape)))

    def long_scan(self):
        """Of rows that shared memory does not hold."""
        self.shape = [self.rng.choice([1, 3]), self.rng.choice([5000, 9001, 20003])]
        self.inputs["x"] = list(self.shape)
        if self.dtype is np.float16:
            self.dtype = np.float32
        self.constants["axis"] = np.array(1, np.int64)
        self.append("CumSum", "axis", reverse=self.rng.choice([0, 1]), exclusive=self.rng.choice([0, 1]))
        self.append("Identity")

    def product(self):
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
            [helper.make_tensor_value_info(self.value, kind, None)],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()])
        return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))

    def values(self, seed):
        generator = np.random.default_rng(seed)
        draw = (lambda s: generator.integers(-3, 4, s)) if self.dtype is np.int32 else (lambda s: generator.standard_normal(s).clip(-3, 3))
        return {name: np.asarray(draw(shape)).astype(self.dtype) for name, shape in self.inputs.items()}


def attempt(tool, folder, chain, seed, ranks, target):
    """What went wrong, or None."""
    path = {name: os.path.join(folder, name) for name in ("model.onnx", "program", "in.npz", "out.npz")}
    onnx.save(chain.model(), path["model.onnx"])
    inputs = chain.values(seed)
    np.savez(path["in.npz"], **inputs)
    session = onnxruntime.InferenceSession(path["model.onnx"], providers=["CPUExecutionProvider"])
    expected = {chain.value: session.run(None, inputs)[0]}
    for command in ([tool, "compile", path["model.onnx"], "-o", path["program"], "--ranks", str(ranks), "--target", target],
                    [path["program"], "--inputs", path["in.npz"], "--outputs", path["out.npz"]]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return done.stderr.strip()[-300:]
    with np.load(path["out.npz"]) as actual:
        worst = max(compare(dict(actual), expected, 2e-2 if chain.dtype is np.float16 else 5e-4).values())
    return None if worst <= 1 else f"{worst:.3g} of the tolerance"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--target", default="cpu")
    arguments.add_argument("--count", type=int, default=12)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    wrong = 0
    for number in range(options.count):
        seed = options.seed * 100000 + number
        chain = Chain(random.Random(seed))
        ranks = (1, 1, 2, 3)[number % 4]
        trouble = attempt(options.tool, options.folder, chain, seed, ranks, options.target)
        if trouble:
            wrong += 1
            steps = ", ".join(node.op_type for node in chain.nodes)
            print(f"wrong: seed {seed}, {ranks} ranks, {chain.dtype.__name__}{chain.inputs['x']}: {steps}: {trouble}", flush=True)
    print(f"{options.count - wrong} right, {wrong} WRONG")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
