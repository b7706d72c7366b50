"""Products of 8-bit integers whose sums an f32 does not hold, compared with sums in int64: equal, or wrong.

    python test/Execution/run_quantized.py [--target cpu|emulated] [--ranks 1,2,3] [--precision bf16]

One model holds them all: the largest and the smallest factors there are, in vectors, matrices, batches, groups and large windows.
The last line counts: "N passed, N failed".
"""

import argparse
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from programs import compile_and_run  # noqa: E402

MATRICES = [((3000,), (3000, 4)), ((4, 3000), (3000,)), ((4, 1031), (1031, 6)), ((2, 3, 600), (600, 5)), ((2, 3, 600), (2, 600, 5))]
# image, filter, groups, pad
IMAGES = [((2, 130, 6, 6), (6, 130, 3, 3), 1, 1), ((2, 64, 5, 5), (8, 32, 3, 3), 2, 1), ((1, 515, 3), (4, 515, 1), 1, 0),
          ((1, 2, 24, 24), (2, 2, 19, 19), 1, 2)]
ZEROS = [(np.uint8, 0, np.int8, 127), (np.uint8, 255, np.int8, 0), (np.int8, -128, np.uint8, 9)]


def extreme(random, shape, dtype):
    """Mostly the number at one end of the type's range."""
    limits = np.iinfo(dtype)
    return np.where(random.random(shape) < 0.05, random.integers(limits.min, limits.max, shape), limits.max).astype(dtype)


def convolved(x, w, groups, pad):
    """By a loop over the window, in int64."""
    spatial = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * spatial)
    out = [n - k + 1 for n, k in zip(x.shape[2:], w.shape[2:])]
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    filters = w.reshape(groups, -1, *w.shape[1:])
    sums = 0
    for at in np.ndindex(*w.shape[2:]):
        part = x[(..., *(slice(i, i + n) for i, n in zip(at, out)))]
        sums = sums + np.einsum("ngc...,goc->ngo...", part, filters[(..., *at)])
    return sums.reshape(x.shape[0], -1, *out)


class Products:
    """Nodes, their operands and what they must give."""

    def __init__(self, random):
        self.random, self.nodes, self.weights, self.inputs, self.expected = random, [], [], {}, {}

    def add(self, op, shape, other, kinds, compute, **attributes):
        number = len(self.nodes)
        x, y, name = f"x{number}", f"w{number}", f"y{number}"
        of_x, zero, of_y, other_zero = kinds
        left, right = extreme(self.random, shape, of_x), extreme(self.random, other, of_y)
        self.inputs[x] = left
        self.weights += [numpy_helper.from_array(right, y), numpy_helper.from_array(np.array(zero, of_x), x + "_zero"),
                         numpy_helper.from_array(np.array(other_zero, of_y), y + "_zero")]
        self.nodes.append(helper.make_node(op, [x, y, x + "_zero", y + "_zero"], [name], **attributes))
        self.expected[name] = compute(left.astype(np.int64) - zero, right.astype(np.int64) - other_zero).astype(np.int32)

    def save(self, path):
        inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(n, onnx.TensorProto.INT32, a.shape) for n, a in self.expected.items()]
        graph = helper.make_graph(self.nodes, "quantized", inputs, outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def make_products(random):
    products = Products(random)
    for kinds in ZEROS:
        for shape, other in MATRICES:
            products.add("MatMulInteger", shape, other, kinds, np.matmul)
        for shape, filters, groups, pad in IMAGES:
            products.add("ConvInteger", shape, filters, kinds, lambda x, w: convolved(x, w, groups, pad), group=groups,
                         pads=[pad] * 2 * (len(shape) - 2))
    return products


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cpu", choices=["cpu", "emulated", "cuda"])
    parser.add_argument("--ranks", default="1,2,3")
    parser.add_argument("--precision", default="fp32")
    options = parser.parse_args()
    passed = failed = 0
    products = make_products(np.random.default_rng(3))
    with tempfile.TemporaryDirectory() as folder:
        products.save(os.path.join(folder, "model.onnx"))
        np.savez(os.path.join(folder, "inputs.npz"), **products.inputs)
        for ranks in options.ranks.split(","):
            error = compile_and_run(find_tool("autopar"), folder, "--target", options.target, "--ranks", ranks, "--precision", options.precision,
                                    timeout=300)
            wrong = []
            if not error:
                with np.load(os.path.join(folder, "out.npz")) as actual:
                    wrong = [name for name, array in products.expected.items() if not np.array_equal(actual[name], array)]
            if error or wrong:
                print(f"FAIL: {ranks} ranks: {error or 'wrong: ' + ', '.join(wrong)}")
            failed += bool(error or wrong)
            passed += not (error or wrong)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
