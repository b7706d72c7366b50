"""Models with dimensions of size 0, whole and partitioned, against onnxruntime and, of reductions of nothing, the standard's text.

    python test/Execution/run_empty_tensors.py AUTOPAR WORK_FOLDER [--only CASE]

A cache without entries, a batch without rows, products over nothing, weights without elements, recurrences without steps; on 1 to 4
ranks and on emulated GPUs. One line per run: ok, FAIL (numbers or shapes differ) or error (compiler or program ended with one); the last
line counts them.
"""

import argparse
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from programs import compile_and_run, reference

TYPES = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int64"): TensorProto.INT64, np.dtype("int32"): TensorProto.INT32,
         np.dtype("bool"): TensorProto.BOOL}
WAYS = [["--ranks", str(ranks)] for ranks in (1, 2, 3, 4)] + [["--ranks", str(ranks), "--target", "emulated"] for ranks in (1, 2)]
RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.standard_normal(shape).astype("float32")


class Graph:
    """Nodes on inputs and weights; each output is of the type that it is given."""

    def __init__(self):
        self.nodes, self.inputs, self.dims, self.weights, self.outputs, self.count = [], {}, {}, [], {}, 0
        self.expected = {}  # what the standard says, where onnxruntime is not asked

    def input(self, name, array, dims=None):
        self.inputs[name], self.dims[name] = array, dims or array.shape
        return name

    def weight(self, array):
        self.count += 1
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"w{self.count}"))
        return f"w{self.count}"

    def node(self, op, *inputs, results=1, **attributes):
        names = []
        for _ in range(results):
            self.count += 1
            names.append(f"v{self.count}")
        inputs = [name if isinstance(name, str) else self.weight(name) for name in inputs]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if results == 1 else names

    def output(self, name, value, dtype="float32", expected=None):
        if expected is not None:
            self.expected[name] = np.asarray(expected, dtype)
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs[name] = TYPES[np.dtype(dtype)]

    def save(self, folder):
        os.makedirs(folder, exist_ok=True)
        inputs = [helper.make_tensor_value_info(name, TYPES[array.dtype], self.dims[name]) for name, array in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(name, dtype, None) for name, dtype in self.outputs.items()]
        graph = helper.make_graph(self.nodes, "empty", inputs, outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), os.path.join(folder, "model.onnx"))
        np.savez(os.path.join(folder, "inputs.npz"), **self.inputs)


def attention(g, past):
    """A decoder's step: keys and values joined to what came before."""
    x = g.input("x", floats(2, 3, 8))
    key, value = (g.input(name, floats(2, past, 8), [2, "past", 8]) for name in ("key", "value"))
    q, k, v = (g.node("MatMul", x, floats(8, 8)) for _ in range(3))
    k, v = g.node("Concat", key, k, axis=1), g.node("Concat", value, v, axis=1)
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 2, 1]))
    g.output("y", g.node("MatMul", g.node("Softmax", scores, axis=-1), v))
    g.output("present_key", k)
    g.output("present_value", v)


def first_step(g):
    attention(g, 0)
    return ["--bind", "past=0"]


def two_entries(g):
    attention(g, 0)
    return ["--entry", "past=4", "--entry", "past=0"]


def no_rows(g):
    """A batch of nothing through a small network."""
    x = g.input("x", floats(0, 6))
    h = g.node("Relu", g.node("Gemm", x, floats(6, 8), floats(8)))
    h = g.node("LayerNormalization", h, floats(8), floats(8))
    y = g.node("MatMul", h, floats(8, 5))
    g.output("y", g.node("Softmax", y, axis=-1))
    g.output("best", g.node("ArgMax", y, axis=1, keepdims=0), "int64")
    g.output("total", g.node("ReduceSum", y, np.array([0]), keepdims=0))


def products_over_nothing(g):
    """They are 0, to which biases are added. (onnxruntime's Gemm does not scale its bias then.)"""
    x, bias = floats(3, 5), floats(5)
    a, b = g.input("a", floats(3, 0)), g.input("b", floats(0, 5))
    y = g.node("Add", g.node("MatMul", a, b), bias)
    g.output("y", y, expected=np.tile(bias, (3, 1)))
    g.output("z", g.node("Mul", g.node("Tanh", y), g.input("x", x)), expected=np.tanh(bias) * x)
    g.output("gemm", g.node("Gemm", a, np.zeros((0, 5), "float32"), bias, alpha=2.0, beta=0.5), expected=np.tile(bias / 2, (3, 1)))
    g.output("batched", g.node("MatMul", g.input("c", floats(2, 4, 0)), g.input("d", floats(2, 0, 3))), expected=np.zeros((2, 4, 3)))
    g.output("einsum", g.node("Einsum", a, b, equation="ik,kj->ji"), expected=np.zeros((5, 3)))


def reductions(g):
    """The sum of nothing is 0, the product 1, the largest the smallest number of the type, the mean no number."""
    x, n = g.input("x", floats(3, 0)), g.input("n", np.zeros((0, 4), "int64"))
    least = np.iinfo("int64").min
    for op, of_x, of_n in (("Sum", 0, 0), ("Prod", 1, 1), ("Max", -np.inf, least), ("Min", np.inf, -1 - least), ("L2", 0, None),
                           ("L1", 0, None), ("SumSquare", 0, 0), ("Mean", np.nan, None), ("LogSum", -np.inf, None)):
        g.output(f"{op}_x", g.node(f"Reduce{op}", x, np.array([1]), keepdims=0), expected=np.full(3, of_x))
        if of_n is not None:
            g.output(f"{op}_n", g.node(f"Reduce{op}", n, np.array([0])), "int64", expected=np.full((1, 4), of_n))


def movement(g):
    x, e, i = g.input("x", floats(4, 6)), g.input("e", floats(0, 6)), g.input("i", np.zeros(0, "int64"))
    g.output("joined", g.node("Concat", e, x, e, axis=0))
    g.output("none", g.node("Concat", e, e, axis=0))
    g.output("gathered", g.node("Gather", x, i, axis=1))
    g.output("cut", g.node("Slice", x, np.array([2]), np.array([2]), np.array([0])))
    g.output("turned", g.node("Transpose", g.node("Reshape", e, np.array([0, 2, 3]), allowzero=1), perm=[2, 0, 1]))
    g.output("padded", g.node("Pad", e, np.array([1, 0, 2, 0]), np.float32(7)))
    g.output("tiled", g.node("Tile", x, np.array([0, 2])))
    first, second = g.node("Split", x, np.array([4, 0]), axis=0, results=2)
    g.output("all", g.node("Neg", first))
    g.output("rest", second)
    g.output("scattered", g.node("ScatterElements", x, np.zeros((0, 6), "int64"), e, axis=0))
    g.output("written", g.node("ScatterND", x, np.zeros((0, 1), "int64"), e))
    g.output("chosen", g.node("Where", g.node("Greater", e, np.float32(0)), e, g.node("Neg", e)))
    g.output("summed", g.node("CumSum", e, np.array(0)))
    g.output("small", g.node("Cast", e, to=TensorProto.INT32), "int32")
    g.output("hot", g.node("OneHot", i, np.array(3), np.array([0, 1], "float32")))
    values, places = g.node("TopK", x, np.array([0]), axis=1, results=2)
    g.output("top", values)
    g.output("places", places, "int64")
    g.output("size", g.node("Shape", e), "int64")


def images(g):
    x, y = g.input("x", floats(0, 4, 6, 6)), g.input("y", floats(2, 4, 6, 6))
    h = g.node("Relu", g.node("Conv", x, floats(8, 4, 3, 3), floats(8), pads=[1, 1, 1, 1]))
    g.output("convolved", h)
    g.output("pooled", g.node("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2]))
    g.output("mean", g.node("GlobalAveragePool", h))
    both = g.node("Concat", x, y, axis=0)
    g.output("both", g.node("Conv", both, floats(8, 4, 3, 3)))
    g.output("normal", g.node("BatchNormalization", x, floats(4), floats(4), floats(4), np.abs(floats(4))))
    g.output("large", g.node("ConvTranspose", x, floats(4, 2, 3, 3)))


def pass_through(g):
    """Inputs, weights and results that nobody computes on."""
    x, e = g.input("x", floats(3, 4)), g.input("e", floats(5, 0))
    g.input("unused", np.zeros((0, 0, 2), "float32"))
    g.output("same", e)
    g.output("weight", g.node("Identity", np.zeros((0, 3), "float32")))
    g.output("y", g.node("Exp", x))


def recurrences(g):
    """Without rows, and without steps: the states stay what they were."""
    w, r = floats(1, 4 * 5, 4), floats(1, 4 * 5, 5)
    start = np.ones((1, 2, 5), "float32")
    for name, shape in (("rows", (3, 0, 4)), ("steps", (0, 2, 4))):
        x = g.input(name, floats(*shape))
        states = [start, 2 * start] if name == "steps" else []
        outputs = g.node("LSTM", x, w, r, *(["", "", *states] if states else []), results=3, hidden_size=5)
        for kind, value, expected in zip(("y", "hidden", "cell"), outputs, [np.zeros((shape[0], 1, shape[1], 5)), *(states or [np.zeros((1, 0, 5))] * 2)]):
            g.output(f"{name}_{kind}", value, expected=expected)


def broadcasts(g):
    e, x = g.input("e", floats(0, 1)), g.input("x", floats(1, 6))
    g.output("expanded", g.node("Expand", x, np.array([0, 6])), expected=np.zeros((0, 6)))
    g.output("sum", g.node("Add", e, x), expected=np.zeros((0, 6)))
    g.output("resized", g.node("Resize", g.input("i", floats(0, 1, 4, 4)), "", np.array([1, 1, 2, 2], "float32"), mode="linear"),
             expected=np.zeros((0, 1, 8, 8)))


CASES = [first_step, two_entries, no_rows, products_over_nothing, reductions, movement, images, pass_through, recurrences, broadcasts]


def expected_of(folder, graph):
    return graph.expected or reference(folder, graph.inputs)


def compare(folder, expected):
    with np.load(os.path.join(folder, "out.npz")) as actual:
        wrong = [name for name, value in expected.items()
                 if actual[name].shape != value.shape or actual[name].dtype != value.dtype or
                 not np.allclose(actual[name], value, rtol=1e-4, atol=1e-5, equal_nan=True)]
    return ("FAIL" if wrong else "ok"), ", ".join(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("work")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    counts = {"ok": 0, "FAIL": 0, "error": 0}
    for make in CASES:
        if args.only not in make.__name__:
            continue
        graph, folder = Graph(), os.path.join(args.work, make.__name__)
        options = make(graph) or []
        graph.save(folder)
        expected = expected_of(folder, graph)
        for way in WAYS:
            error = compile_and_run(args.tool, folder, *options, *way)
            kind, why = ("error", error) if error else compare(folder, expected)
            counts[kind] += 1
            print(f"{kind}: {make.__name__} {' '.join(way)} {why}".rstrip(), flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return counts["FAIL"] + counts["error"] > 0


if __name__ == "__main__":
    sys.exit(main())
