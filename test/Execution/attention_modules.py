"""nn.MultiheadAttention, TransformerEncoderLayer and TransformerDecoderLayer as PyTorch's two exporters write them, and the same
mathematics written by hand, with batch and heads as dimensions of their own."""

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FORMS = ["hand", "torchscript", "dynamo"]


@dataclass(frozen=True)
class Sizes:
    batch: int
    target: int  # length of the sequence that attends
    source: int  # and of the one that a decoder attends to
    heads: int
    head: int

    @property
    def width(self):
        return self.heads * self.head


@dataclass(frozen=True)
class Case:
    module: str  # attention, encoder or decoder
    batch_first: bool
    weights: bool = False  # attention returns its weights, averaged over heads
    mask: str = ""  # padding or causal

    def __str__(self):
        return " ".join([self.module, "batch first" if self.batch_first else "sequence first"] + ["with weights"] * self.weights
                        + [self.mask + " mask"] * bool(self.mask))


class Module:
    """One model while it is built. Tensors are named as they come."""

    def __init__(self, case, form, sizes, seed=0):
        self.case, self.form, self.sizes = case, form, sizes
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.arrays, self.outputs = [], [], [], {}, []

    def op(self, kind, *operands, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(operands), [name], name=f"{kind}{len(self.nodes)}", **attributes))
        return name

    def constant(self, array):
        self.initializers.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.initializers)}"))
        return self.initializers[-1].name

    def weight(self, *shape):
        return self.constant((self.random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32))

    def input(self, name, array):
        self.arrays[name] = array
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        return name

    def output(self, value, shape):
        name = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def reshape(self, value, *shape):
        return self.op("Reshape", value, self.constant(np.array(shape, np.int64)))

    def permute(self, value, *perm):
        return self.op("Transpose", value, perm=list(perm))

    def take(self, value, index):
        return self.op("Gather", value, self.constant(np.array(index, np.int64)), axis=0)

    def linear(self, value, rows, columns):
        return self.op("Add", self.op("MatMul", value, self.weight(rows, columns)), self.weight(columns))

    def shape(self, length):
        s = self.sizes
        return (s.batch, length, s.width) if self.case.batch_first else (length, s.batch, s.width)

    # ---------------------------------------------------------------- attention, by hand
    def by_hand(self, x, y, target, source, mask):
        s, first = self.sizes, self.case.batch_first

        def heads(value, length, *order):
            return self.permute(self.reshape(self.linear(value, s.width, s.width), *self.shape(length)[:2], s.heads, s.head), *order)

        batch, sequence = (0, 1) if first else (1, 0)
        q, v = heads(x, target, batch, 2, sequence, 3), heads(y, source, batch, 2, sequence, 3)
        k = heads(y, source, batch, 2, 3, sequence)
        scores = self.op("MatMul", self.op("Mul", q, self.constant(np.float32(s.head ** -0.5))), k)
        weights = self.op("Softmax", self.op("Add", scores, mask) if mask else scores, axis=-1)
        joined = self.permute(self.op("MatMul", weights, v), *((0, 2, 1, 3) if first else (2, 0, 1, 3)))
        return self.linear(self.reshape(joined, *self.shape(target)), s.width, s.width), weights

    # ---------------------------------------------------------------- attention, as exported
    def packed(self, value, length, count):
        """Projections by one weight, then apart."""
        s = self.sizes
        value = self.reshape(self.linear(value, s.width, count * s.width), length, s.batch, count, s.width)
        value = self.op("Unsqueeze", value, self.constant(np.array([0], np.int64)))
        value = self.op("Squeeze", self.permute(value, 3, 1, 2, 0, 4), self.constant(np.array([3], np.int64)))
        return [self.take(value, i) for i in range(count)]

    def exported(self, x, y, target, source, mask):
        s = self.sizes
        both = s.batch * s.heads
        if self.case.batch_first:
            x, y = self.permute(x, 1, 0, 2), y if x == y else self.permute(y, 1, 0, 2)
            y = x if target == source else y
        q, k, v = (self.packed(x, target, 3) if target == source else
                   [self.linear(x, s.width, s.width), *self.packed(y, source, 2)])
        q, k, v = (self.permute(self.reshape(value, length, both, s.head), 1, 0, 2)
                   for value, length in ((q, target), (k, source), (v, source)))
        scores = (self.joined_scores if self.case.weights else self.split_scores)(q, k, target, source)
        weights = self.op("Softmax", self.op("Add", scores, mask) if mask else scores, axis=-1)
        if self.case.weights:
            joined = self.permute(self.op("MatMul", weights, v), 1, 0, 2)
            weights = self.reshape(weights, s.batch, s.heads, target, source)
        else:
            joined = self.permute(self.op("MatMul", weights, self.reshape(v, s.batch, s.heads, source, s.head)), 2, 0, 1, 3)
        joined = self.reshape(joined, target * s.batch, s.width)
        result = self.reshape(self.op("Gemm", joined, self.weight(s.width, s.width), self.weight(s.width), transB=1),
                              target, s.batch, s.width)
        return self.permute(result, 1, 0, 2) if self.case.batch_first else result, weights

    def joined_scores(self, q, k, target, source):
        scaled = self.op("Mul", q, self.constant(np.float32(self.sizes.head ** -0.5)))
        return self.op("MatMul", scaled, self.permute(k, 0, 2, 1))

    def split_scores(self, q, k, target, source):
        s = self.sizes
        root = self.constant(np.array([s.head ** -0.25], np.float32))
        q, k = self.reshape(q, s.batch, s.heads, target, s.head), self.reshape(k, s.batch, s.heads, source, s.head)
        if self.form == "torchscript":
            k = self.permute(k, 0, 1, 3, 2)
        else:
            k = self.permute(self.reshape(k, s.batch * s.heads, source, s.head), 0, 2, 1)
            k = self.reshape(k, s.batch, s.heads, s.head, source)
        return self.op("MatMul", self.op("Mul", q, root), self.op("Mul", k, root))

    def mask(self, kind, target, source):
        """Added to scores, where there is one."""
        s = self.sizes
        if kind == "causal":
            return self.constant(np.triu(np.full((target, source), -np.inf, np.float32), 1))
        if kind != "padding":
            return None
        padded = np.zeros((s.batch, source), bool)
        padded[::2, -1:] = True
        added = self.op("Where", self.input("padding", padded), self.constant(np.float32(-np.inf)), self.constant(np.float32(0)))
        added = self.reshape(added, s.batch, 1, 1, source)
        if self.form != "hand":
            added = self.op("Expand", added, self.constant(np.array([s.batch, s.heads, 1, source], np.int64)))
            if self.case.weights:
                added = self.reshape(added, s.batch * s.heads, 1, source)
        return added

    def attention(self, x, y, target, source, mask):
        mask = self.mask(mask, target, source)
        return (self.by_hand if self.form == "hand" else self.exported)(x, y, target, source, mask)

    # ---------------------------------------------------------------- layers
    def normalized(self, x, y):
        width = self.sizes.width
        return self.op("LayerNormalization", self.op("Add", x, y), self.weight(width), self.weight(width), axis=-1)

    def feed_forward(self, x):
        width = self.sizes.width
        return self.linear(self.op("Relu", self.linear(x, width, 4 * width)), 4 * width, width)

    def build(self):
        case, s = self.case, self.sizes
        real = lambda length: self.random.standard_normal(self.shape(length)).astype(np.float32)
        x = self.input("x", real(s.target))
        y, weights = self.attention(x, x, s.target, s.target, case.mask)
        if case.module != "attention":
            y = self.normalized(x, y)
            if case.module == "decoder":
                y = self.normalized(y, self.attention(y, self.input("memory", real(s.source)), s.target, s.source, "")[0])
            y = self.normalized(y, self.feed_forward(y))
        self.output(y, self.shape(s.target))
        if case.weights:
            self.output(self.op("ReduceMean", weights, axes=[1], keepdims=0), [s.batch, s.target, s.target])
        graph = helper.make_graph(self.nodes, "module", self.inputs, self.outputs, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def save_module(path, case, form, sizes):
    """Writes the model; its inputs by name."""
    module = Module(case, form, sizes)
    onnx.save(module.build(), path)
    return module.arrays
