"""Writes models with seeded random weights: `python -m autopar.models gpt2 DIR`.

Each maker writes DIR/model.onnx (weights of a megabyte or more beside it in weights.bin) and DIR/inputs.npz. The contents
depend only on the arguments: weights are drawn by numpy's PCG64, seeded by the tensor's name. The model's metadata list the
weights as parameters, so that a training changes these and no mask or scale. With --no-weights the model names a weights.bin
that is not written: `autopar plan` needs none, however large the model is.
"""

import argparse
import inspect
import json
import math
import os
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .export import TRAINED

OPSET = 20
EXTERNAL = 1 << 20  # bytes from which a weight is stored outside the model file


def require(holds, text):
    """What a maker's sizes must be, as an error for who gave them."""
    if not holds:
        raise ValueError(text)


def draw(name, shape, scale):
    """A float32 array of N(0, scale^2) that depends on name and shape alone."""
    return np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape, dtype=np.float32) * np.float32(scale)


class Builder:
    """Collects nodes and initializers; every method returns the name of the value it makes."""

    draws_weights = True

    def __init__(self):
        self.nodes, self.initializers, self.count, self.absent = [], [], 0, 0
        self.parameters = []  # the names of the initializers that a training changes

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def weight(self, name, *shape, scale=0.02):
        self.parameters.append(name)
        if self.draws_weights:
            return self.constant(name, draw(name, shape, scale))
        tensor = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        size = 4 * math.prod(shape)
        for key, value in {"location": "weights.bin", "offset": self.absent, "length": size}.items():
            tensor.external_data.add(key=key, value=str(value))
        self.absent += size
        self.initializers.append(tensor)
        return name

    def norm_scale(self, name, size):
        self.parameters.append(name)
        return self.constant(name, 1 + draw(name, (size,), 0.02))

    def node(self, op, *inputs, **attributes):
        self.count += 1
        outputs = [f"{op.lower()}_{self.count}"]
        self.nodes.append(helper.make_node(op, list(inputs), outputs, name=f"{op}_{self.count}", **attributes))
        return outputs[0]

    def split3(self, x):
        self.count += 1
        outputs = [f"split_{self.count}_{i}" for i in range(3)]
        self.nodes.append(helper.make_node("Split", [x], outputs, name=f"Split_{self.count}", axis=-1, num_outputs=3))
        return outputs

    def save(self, folder, inputs, outputs, arrays):
        """`inputs`, `outputs`: [(name, type, shape)]; `outputs` name existing values."""
        info = [[helper.make_tensor_value_info(*v) for v in values] for values in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, "model", *info, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        helper.set_model_props(model, {TRAINED: json.dumps(self.parameters)})
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "model.onnx")
        for stale in (path, os.path.join(folder, "weights.bin")):
            if os.path.exists(stale):
                os.remove(stale)
        external = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": EXTERNAL} if self.draws_weights else {}
        onnx.save_model(model, path, **external)
        np.savez(os.path.join(folder, "inputs.npz"), **arrays)


def matmul(folder, rows=8, depth=64, columns=32):
    """One matrix multiplication: x of rows x depth times a weight w of depth x columns."""
    b = Builder()
    y = b.node("MatMul", "x", b.weight("w", depth, columns, scale=depth**-0.5))
    arrays = {"x": draw("x", (rows, depth), 1)}
    b.save(folder, [("x", TensorProto.FLOAT, [rows, depth])], [(y, TensorProto.FLOAT, [rows, columns])], arrays)


def mlp(folder, batch=8, sizes=(784, 256, 256, 10)):
    """Gemm and Relu, a Softmax at the end."""
    b, x = Builder(), "x"
    for i, (n, k) in enumerate(zip(sizes[1:], sizes)):
        x = b.node("Gemm", x, b.weight(f"w{i}", n, k, scale=k**-0.5), b.weight(f"b{i}", n, scale=0.1), transB=1)
        x = b.node("Relu", x) if i < len(sizes) - 2 else b.node("Softmax", x, axis=-1)
    arrays = {"x": draw("x", (batch, sizes[0]), 1)}
    b.save(folder, [("x", TensorProto.FLOAT, [batch, sizes[0]])], [(x, TensorProto.FLOAT, [batch, sizes[-1]])], arrays)


def save_classifier(b, folder, x, batch, channels, size, classes):
    """Pools the maps `x` of so many channels and classifies them; the input is `image`, of `size` x `size`."""
    x = b.node("Flatten", b.node("GlobalAveragePool", x))
    x = b.node("Gemm", x, b.weight("head.w", classes, channels, scale=channels**-0.5), b.weight("head.b", classes, scale=0.1), transB=1)
    arrays = {"image": draw("image", (batch, 3, size, size), 1)}
    b.save(folder, [("image", TensorProto.FLOAT, [batch, 3, size, size])], [(x, TensorProto.FLOAT, [batch, classes])], arrays)


def convnet(folder, batch=4, channels=8, size=16, classes=10, layers=2):
    """Convolution, residual blocks (the second with stride 2), pooling, a classifier."""
    b = Builder()

    def conv(x, name, o, c, k, stride=1):
        w = b.weight(f"{name}.w", o, c, k, k, scale=(c * k * k) ** -0.5)
        return b.node("Conv", x, w, b.weight(f"{name}.b", o, scale=0.1), pads=[k // 2] * 4, strides=[stride] * 2)

    x = b.node("Relu", conv("image", "stem", channels, 3, 3))
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for i in range(layers):
        stride = 2 if i == 1 else 1
        out = channels * stride
        y = b.node("Relu", conv(x, f"block{i}.0", out, channels, 3, stride))
        y = conv(y, f"block{i}.1", out, out, 3)
        if stride != 1:
            x = conv(x, f"block{i}.skip", out, channels, 1, stride)
        x, channels = b.node("Relu", b.node("Add", x, y)), out
    save_classifier(b, folder, x, batch, channels, size, classes)


def separable(folder, batch=4, channels=32, size=32, classes=10, layers=4):
    """Blocks of a depthwise and a pointwise convolution, each other one with stride 2 and twice the channels; pooling, a classifier."""
    b = Builder()

    def conv(x, name, o, c, k, stride=1, group=1):
        w = b.weight(f"{name}.w", o, c // group, k, k, scale=(c // group * k * k) ** -0.5)
        y = b.node("Conv", x, w, b.weight(f"{name}.b", o, scale=0.1), pads=[k // 2] * 4, strides=[stride] * 2, group=group)
        return b.node("Relu", y)

    x = conv("image", "stem", channels, 3, 3)
    for i in range(layers):
        out = channels * (1 + i % 2)
        x = conv(x, f"block{i}.depthwise", channels, channels, 3, 1 + i % 2, channels)
        x, channels = conv(x, f"block{i}.pointwise", out, channels, 1), out
    save_classifier(b, folder, x, batch, channels, size, classes)


def gpt2(folder, batch=4, sequence=64, layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024):
    """GPT-2 (Radford et al. 2019); the defaults are the 124M model. Input: token ids; output: logits."""
    require(hidden % heads == 0, f"hidden={hidden} is no multiple of heads={heads}")
    require(sequence <= positions, f"sequence={sequence} is more than positions={positions}")
    b = Builder()
    dtype = TensorProto.FLOAT

    def norm(x, name):
        bias = b.weight(f"{name}.bias", hidden)
        return b.node("LayerNormalization", x, b.norm_scale(f"{name}.weight", hidden), bias, axis=-1, epsilon=1e-5)

    def linear(x, name, n, k):
        return b.node("Add", b.node("MatMul", x, b.weight(f"{name}.weight", k, n)), b.weight(f"{name}.bias", n))

    def heads_of(x, perm):
        return b.node("Transpose", b.node("Reshape", x, "heads_shape"), perm=perm)

    b.constant("heads_shape", np.array([batch, sequence, heads, hidden // heads]))
    b.constant("merged_shape", np.array([batch, sequence, hidden]))
    b.constant("scale", np.float32((hidden // heads) ** -0.5))
    mask = np.triu(np.full((sequence, sequence), np.finfo(np.float32).min, np.float32), 1)
    b.constant("mask", mask[None, None])
    b.constant("position_ids", np.arange(sequence)[None])
    b.weight("wte", vocabulary, hidden)
    x = b.node("Add", b.node("Gather", "wte", "input_ids"), b.node("Gather", b.weight("wpe", positions, hidden), "position_ids"))
    for i in range(layers):
        q, k, v = b.split3(linear(norm(x, f"h{i}.ln_1"), f"h{i}.attn.qkv", 3 * hidden, hidden))
        scores = b.node("MatMul", heads_of(q, [0, 2, 1, 3]), heads_of(k, [0, 2, 3, 1]))
        weights = b.node("Softmax", b.node("Add", b.node("Mul", scores, "scale"), "mask"), axis=-1)
        y = b.node("Transpose", b.node("MatMul", weights, heads_of(v, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
        x = b.node("Add", x, linear(b.node("Reshape", y, "merged_shape"), f"h{i}.attn.proj", hidden, hidden))
        y = b.node("Gelu", linear(norm(x, f"h{i}.ln_2"), f"h{i}.mlp.fc", 4 * hidden, hidden), approximate="tanh")
        x = b.node("Add", x, linear(y, f"h{i}.mlp.proj", hidden, 4 * hidden))
    head = b.node("Transpose", "wte", perm=[1, 0])
    logits = b.node("MatMul", norm(x, "ln_f"), head)
    b.nodes[-1].output[0] = "logits"
    ids = np.random.default_rng(0).integers(0, vocabulary, (batch, sequence))
    b.save(folder, [("input_ids", TensorProto.INT64, [batch, sequence])], [("logits", dtype, [batch, sequence, vocabulary])], {"input_ids": ids})
    return logits


def llama(folder, batch=4, sequence=64, layers=12, hidden=768, heads=12, groups=4, inner=2048, vocabulary=32000):
    """Llama (Touvron et al. 2023) with grouped queries: RMSNormalization, rotary positions, SwiGLU. Token ids to logits."""
    require(hidden % (2 * heads) == 0, f"hidden={hidden} is no multiple of 2 * heads, which is {2 * heads}")
    require(heads % groups == 0, f"heads={heads} is no multiple of groups={groups}")
    b = Builder()
    size = hidden // heads

    def norm(x, name):
        scale = b.node("Reciprocal", b.node("Sqrt", b.node("Add", b.node("ReduceMean", b.node("Mul", x, x), "last", keepdims=1), "epsilon")))
        return b.node("Mul", b.node("Mul", x, scale), b.norm_scale(f"{name}.weight", hidden))

    def linear(x, name, n, k):
        return b.node("MatMul", x, b.weight(f"{name}.weight", k, n))

    def heads_of(x, count):
        shape = b.constant(f"shape_{b.count}", np.array([batch, sequence, count, size]))
        return b.node("Transpose", b.node("Reshape", x, shape), perm=[0, 2, 1, 3])

    def rotate(x):
        low, high = (b.node("Slice", x, f"{half}_start", f"{half}_end", "axis3") for half in ("low", "high"))
        turned = b.node("Concat", b.node("Neg", high), low, axis=-1)
        return b.node("Add", b.node("Mul", x, "cos"), b.node("Mul", turned, "sin"))

    def repeat(x):
        spread = b.node("Expand", b.node("Unsqueeze", x, "axis2"), "spread_shape")
        return b.node("Reshape", spread, "heads_shape")

    angles = np.arange(sequence)[:, None] * 10000.0 ** (-np.arange(size // 2) * 2 / size)[None]
    for name, array in {
        "last": np.array([-1]), "epsilon": np.float32(1e-5), "axis2": np.array([2]), "axis3": np.array([3]),
        "low_start": np.array([0]), "low_end": np.array([size // 2]), "high_start": np.array([size // 2]), "high_end": np.array([size]),
        "cos": np.cos(np.tile(angles, 2)).astype(np.float32), "sin": np.sin(np.tile(angles, 2)).astype(np.float32),
        "spread_shape": np.array([batch, groups, heads // groups, sequence, size]),
        "heads_shape": np.array([batch, heads, sequence, size]), "merged_shape": np.array([batch, sequence, hidden]),
        "scale": np.float32(size**-0.5),
        "mask": np.triu(np.full((sequence, sequence), np.finfo(np.float32).min, np.float32), 1)[None, None],
    }.items():
        b.constant(name, array)
    x = b.node("Gather", b.weight("embedding", vocabulary, hidden), "input_ids")
    for i in range(layers):
        y = norm(x, f"h{i}.attention_norm")
        q = rotate(heads_of(linear(y, f"h{i}.q", hidden, hidden), heads))
        k = repeat(rotate(heads_of(linear(y, f"h{i}.k", groups * size, hidden), groups)))
        v = repeat(heads_of(linear(y, f"h{i}.v", groups * size, hidden), groups))
        scores = b.node("Mul", b.node("MatMul", q, b.node("Transpose", k, perm=[0, 1, 3, 2])), "scale")
        weights = b.node("Softmax", b.node("Add", scores, "mask"), axis=-1)
        y = b.node("Reshape", b.node("Transpose", b.node("MatMul", weights, v), perm=[0, 2, 1, 3]), "merged_shape")
        x = b.node("Add", x, linear(y, f"h{i}.o", hidden, hidden))
        y = norm(x, f"h{i}.mlp_norm")
        gate = linear(y, f"h{i}.gate", inner, hidden)
        y = b.node("Mul", b.node("Mul", gate, b.node("Sigmoid", gate)), linear(y, f"h{i}.up", inner, hidden))
        x = b.node("Add", x, linear(y, f"h{i}.down", hidden, inner))
    linear(norm(x, "norm"), "head", vocabulary, hidden)
    b.nodes[-1].output[0] = "logits"
    ids = np.random.default_rng(0).integers(0, vocabulary, (batch, sequence))
    outputs = [("logits", TensorProto.FLOAT, [batch, sequence, vocabulary])]
    b.save(folder, [("input_ids", TensorProto.INT64, [batch, sequence])], outputs, {"input_ids": ids})


MAKERS = {"matmul": matmul, "mlp": mlp, "convnet": convnet, "separable": separable, "gpt2": gpt2, "llama": llama}


def sizes_of(maker):
    """The maker's sizes and their defaults, in its order: numbers, or a tuple of them."""
    return {name: parameter.default for name, parameter in list(inspect.signature(maker).parameters.items())[1:]}


def size_text(sizes):
    return " ".join(f"{key}={','.join(map(str, size)) if isinstance(size, tuple) else size}" for key, size in sizes.items())


def read_sizes(name, options):
    """The sizes that options such as `layers=4` or `sizes=64,32,10` give; a ValueError says what the maker takes."""
    known, read = sizes_of(MAKERS[name]), {}
    for option in options:
        key, equals, value = option.partition("=")
        require(key in known and equals, f"{name} has no size {key!r}" if equals else f"{option!r} is no KEY=SIZE")
        numbers = value.split(",")
        require(all(number.isdecimal() and int(number) > 0 for number in numbers), f"{option}: a size is a whole number of 1 or more")
        is_list = isinstance(known[key], tuple)
        require(len(numbers) > 1 if is_list else len(numbers) == 1, f"{option}: {key} is {'a list of two numbers or more' if is_list else 'one number'}")
        read[key] = tuple(map(int, numbers)) if is_list else int(value)
    return read


def main():
    lines = [f"  {name:<10} {inspect.getdoc(maker)}\n  {'':<10} {size_text(sizes_of(maker))}" for name, maker in MAKERS.items()]
    arguments = argparse.ArgumentParser(prog="python -m autopar.models", description=__doc__, epilog="models and their sizes, with the defaults:\n" + "\n".join(lines),
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("name", choices=sorted(MAKERS))
    arguments.add_argument("folder")
    arguments.add_argument("options", nargs="*", metavar="KEY=SIZE", help="sizes other than the defaults, such as batch=2 layers=4")
    arguments.add_argument("--no-weights", action="store_true", help="name the weights' file, but do not write it")
    options = arguments.parse_intermixed_args()
    Builder.draws_weights = not options.no_weights
    try:
        MAKERS[options.name](options.folder, **read_sizes(options.name, options.options))
    except ValueError as error:
        arguments.error(f"{error}; the sizes of {options.name}, with their defaults: {size_text(sizes_of(MAKERS[options.name]))}")


if __name__ == "__main__":
    main()
