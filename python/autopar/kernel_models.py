"""Models of one operator each, whose speed shows how well single kernels run: see autopar.bench_kernels."""

from dataclasses import dataclass
from typing import Callable

from onnx import TensorProto

from autopar.models import Builder, draw


@dataclass
class Case:
    """`make(builder)` adds the nodes and returns (inputs: {name: array}, name of the output, its shape)."""

    group: str
    name: str
    make: Callable


def shape_text(*shape):
    return "x".join(str(size) for size in shape)


def matmul(group, a, b, *, weight=None, transposed=False):
    """a @ b (or a @ b with its last two dimensions exchanged, `b` as it is); `weight`: "a" or "b" is a parameter of the model."""
    def make(builder):
        inputs = {}

        def operand(name, shape):
            if weight == name:
                return builder.weight(name, *shape, scale=shape[-1] ** -0.5)
            inputs[name] = draw(name, shape, 1)
            return name

        left, right = operand("a", a), operand("b", b)
        if transposed:
            order = list(range(len(b) - 2)) + [len(b) - 1, len(b) - 2]
            right = builder.node("Transpose", right, perm=order)
        columns = b[-2] if transposed else b[-1]
        return inputs, builder.node("MatMul", left, right), [*a[:-1], columns]

    kinds = {None: "", "a": ", weight left", "b": ", weight right"}
    return Case(group, f"{shape_text(*a)} @ {shape_text(*b)}{'^T' if transposed else ''}{kinds[weight]}", make)


def convolution(group, x, out, window, *, stride=1, dilation=1, depthwise=False, activation=None, note=""):
    """A convolution of [n, c, spatial...] to `out` channels, padded to keep the image's size at stride 1."""
    spatial = len(window)

    def make(builder):
        groups = x[1] if depthwise else 1
        each = x[1] // groups
        scale = (each * max(1, window[0] ** spatial)) ** -0.5
        pads = [dilation * (w - 1) // 2 for w in window]
        high = [dilation * (w - 1) - low for w, low in zip(window, pads)]
        y = builder.node("Conv", "x", builder.weight("w", out, each, *window, scale=scale), builder.weight("bias", out, scale=0.1),
                         pads=pads + high, strides=[stride] * spatial, dilations=[dilation] * spatial, group=groups)
        if activation:
            y = builder.node(activation, y)
        size = [(s - 1) // stride + 1 for s in x[2:]]
        return {"x": draw("x", x, 1)}, y, [x[0], out, *size]

    name = f"{shape_text(*x)} by {shape_text(*window)} to {out}"
    name += f", stride {stride}" if stride > 1 else ""
    name += f", dilation {dilation}" if dilation > 1 else ""
    name += f", {activation}" if activation else ""
    return Case(group, name + note, make)


def vector_cases():
    group = "matrix times vector"
    yield matmul(group, (4096, 4096), (4096, 1), weight="a")
    yield matmul(group, (768, 3072), (3072, 1), weight="a")
    yield matmul(group, (3072, 768), (768, 1), weight="a")
    yield matmul(group, (1001, 333), (333, 1), weight="a")
    yield matmul(group, (8, 128, 768), (768, 1), weight="b")
    yield matmul(group, (1, 4096), (4096, 4096), weight="b")
    yield matmul(group, (1, 768), (768, 3072), weight="b")
    yield matmul(group, (1, 3072), (768, 3072), weight="b", transposed=True)
    yield matmul(group, (1, 768), (768, 50257), weight="b")
    yield matmul(group, (1, 768), (50257, 768), weight="b", transposed=True)
    yield matmul(group, (4, 768), (768, 3072), weight="b")
    yield matmul(group, (512, 512), (512, 1))
    yield matmul(group, (1, 512), (512, 512))


def decode_cases():
    group = "decoding"
    yield matmul(group, (8, 12, 1, 64), (8, 12, 64, 512))
    yield matmul(group, (8, 12, 1, 64), (8, 12, 512, 64), transposed=True)
    yield matmul(group, (8, 12, 1, 512), (8, 12, 512, 64))
    yield matmul(group, (8, 12, 1, 512), (8, 12, 64, 512), transposed=True)
    yield matmul(group, (1, 12, 1, 64), (1, 12, 64, 128))
    yield matmul(group, (1, 32, 1, 128), (1, 32, 1024, 128), transposed=True)
    yield matmul(group, (8, 12, 512, 64), (8, 12, 64, 1))
    yield matmul(group, (64, 16, 16), (64, 16, 16))


def line_cases():
    group = "convolution of a line"
    yield convolution(group, (1, 64, 1024), 64, (3,))
    yield convolution(group, (8, 256, 200), 256, (3,))
    yield convolution(group, (1, 80, 3000), 384, (3,))
    yield convolution(group, (1, 512, 1600), 512, (3,), stride=2)
    yield convolution(group, (1, 256, 500), 512, (1,))
    yield convolution(group, (4, 16, 2000), 16, (9,), dilation=4)
    yield convolution(group, (1, 1, 16000), 64, (10,), stride=5)
    yield convolution(group, (4, 64, 128, 1), 64, (3, 1))
    yield convolution(group, (4, 64, 1, 128), 64, (1, 3))
    yield convolution(group, (1, 3, 2048, 1), 32, (7, 1))


def depthwise_cases():
    group = "depthwise"
    yield convolution(group, (1, 512, 1000), 512, (31,), depthwise=True)
    yield convolution(group, (1, 1536, 64), 1536, (4,), depthwise=True)
    yield convolution(group, (8, 256, 200), 256, (3,), depthwise=True)
    yield convolution(group, (1, 144, 56, 56), 144, (3, 3), depthwise=True)
    yield convolution(group, (8, 144, 56, 56), 144, (3, 3), depthwise=True)
    yield convolution(group, (1, 480, 14, 14), 480, (5, 5), depthwise=True)
    yield convolution(group, (1, 960, 7, 7), 960, (5, 5), depthwise=True)
    yield convolution(group, (1, 96, 56, 56), 96, (7, 7), depthwise=True)
    yield convolution(group, (1, 96, 112, 112), 96, (3, 3), stride=2, depthwise=True)


def point_cases():
    group = "1x1 on small images"
    yield convolution(group, (1, 256, 14, 14), 512, (1, 1))
    yield convolution(group, (1, 960, 7, 7), 160, (1, 1))
    yield convolution(group, (8, 512, 7, 7), 2048, (1, 1))
    yield convolution(group, (1, 1280, 1, 1), 1000, (1, 1))
    yield convolution(group, (8, 96, 1, 1), 4, (1, 1), activation="Relu")
    yield convolution(group, (1, 320, 7, 7), 1280, (1, 1), activation="Relu")
    yield convolution(group, (1, 32, 3, 3), 32, (1, 1))


def all_cases():
    for cases in (vector_cases, decode_cases, line_cases, depthwise_cases, point_cases):
        yield from cases()


def write(case, folder):
    """Writes folder/model.onnx, weights.bin if there are large ones, and inputs.npz; returns the inputs."""
    builder = Builder()
    inputs, output, shape = case.make(builder)
    ports = [(name, TensorProto.FLOAT, list(array.shape)) for name, array in inputs.items()]
    builder.save(folder, ports, [(output, TensorProto.FLOAT, list(shape))], inputs)
    return inputs
