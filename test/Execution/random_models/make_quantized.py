"""Numbers of few bits, and operators that read images between their elements."""

import numpy as np

from .graph import Skip
from .make_matmul import batches, pick_shape
from .make_window import image, spans_fit, windows
from .makers import maker, negative_or
from .types import FLOATS, I64

BYTES = [np.dtype(np.int8), np.dtype(np.uint8)]


def zero_point(g, dtype, shape=()):
    """Of a quantized operand: mostly the middle of its range, or anything."""
    limits = np.iinfo(dtype)
    return g.leaf(shape, dtype, limits.min, limits.max, data=False)


@maker("MatMulInteger")
def matmul_integer(g, op):
    x = g.pick(g.dtype(op, "T1"), low=1, high=4)
    a, columns = g.of(x).shape, g.rng.choice(g.sizes)
    if a[-1] == 0:
        raise Skip("onnxruntime leaves sums of nothing as the memory was")
    other = [a[-1]] if g.chance(0.15) else ([] if len(a) < 2 else batches(g, a[:-2])) + [a[-1], columns]
    y = pick_shape(g, g.rng.choice(BYTES), other)
    inputs = [x, y]
    if g.chance(0.6):
        rows = [a[-2], 1] if len(a) == 2 and g.chance(0.4) else []  # of [a[-2]] onnx.reference makes columns
        inputs.append(zero_point(g, g.of(x).dtype, rows) if g.chance(0.8) else "")
        if g.chance(0.6):
            inputs.append(zero_point(g, g.of(y).dtype, [other[-1]] if len(other) == 2 and g.chance(0.4) else []))
    g.node(op, inputs)


@maker("ConvInteger")
def convolution_integer(g, op):
    x = image(g, op, parameter="T1", high=4)
    shape = g.of(x).shape
    divisors = [d for d in range(1, shape[1] + 1) if shape[1] % d == 0]
    group = g.rng.choice([1, 1, g.rng.choice(divisors)])
    size = [g.rng.choice([1, 1, 2, 3, 3]) for _ in shape[2:]]
    attributes = windows(g, size)
    if not spans_fit(shape[2:], size, attributes):
        raise Skip("the window is larger than the image")
    filters = g.leaf([group * g.rng.choice([1, 2, 3]), shape[1] // group, *size], g.rng.choice(BYTES), -100, 100, data=False)
    inputs = [x, filters] + ([zero_point(g, g.of(x).dtype)] if g.chance(0.6) else [])
    if len(inputs) == 3 and g.chance(0.5):
        inputs.append(zero_point(g, g.of(filters).dtype))
    g.node(op, inputs, group=group if group > 1 else g.maybe(1, 0.3), kernel_shape=g.maybe(size), **attributes)


@maker("DequantizeLinear")
def dequantize(g, op):
    x = g.pick(g.rng.choice(BYTES), low=1)
    shape, rank, version = g.of(x).shape, g.of(x).ndim, g.version(op)
    axis, scales, attributes = g.rng.randrange(rank), [], {}
    if version >= 13 and g.chance(0.6):
        attributes["axis"] = negative_or(g, axis, rank)
        scales = [shape[axis]]
        if version >= 21 and g.chance(0.5) and shape[axis]:
            block = g.rng.randint(1, shape[axis])
            attributes["block_size"] = block
            scales = [-(-n // block) if d == axis else n for d, n in enumerate(shape)]
    dtype = g.rng.choice([d for d in FLOATS.values() if d.itemsize == 4])
    inputs = [x, g.leaf(scales, dtype, 0.01, 0.5, data=False)]
    if g.chance(0.7):
        inputs.append(zero_point(g, g.of(x).dtype, scales))
    g.node(op, inputs, **attributes)


@maker("SwiGLU")
def swi_glu(g, op):
    x = g.pick(g.dtype(op))
    g.node(op, [x, pick_shape(g, g.of(x).dtype, g.of(x).shape)], alpha=g.maybe(1.5))


@maker("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(g, op):
    x = g.pick(g.dtype(op), low=2, high=4, fits=lambda a: 0 not in a.shape)
    n, c, *rest = g.of(x).shape
    labels = g.random.integers(0, c, (n, *rest))
    ignored = g.maybe(g.rng.choice([-1, 0, c, 255]), 0.4)
    if ignored is not None:
        labels = np.where(g.random.random(labels.shape) < 0.3, ignored, labels)
        labels.flat[0] = 1 % c if ignored == 0 else 0  # not all
        if labels.flat[0] == ignored:
            raise Skip("all are ignored")
    inputs = [x, g.leaf(labels.shape, I64, array=labels, data=False)]
    if g.chance(0.4):
        inputs.append(g.leaf([c], g.of(x).dtype, 0.1, 2, data=False))
    both = op == "SoftmaxCrossEntropyLoss" and g.chance(0.5)
    g.node(op, inputs, outputs=2 if both else 1, ignore_index=ignored, reduction=g.maybe(g.rng.choice(["none", "sum", "mean"]), 0.8))


@maker("GridSample")
def grid_sample(g, op):
    dtype = g.dtype(op, "T1", among=list(FLOATS.values()))
    x = g.pick(dtype, low=4, high=5 if g.version(op) >= 20 else 4, fits=lambda a: 0 not in a.shape)
    shape = g.of(x).shape
    rank = len(shape) - 2
    points = [g.rng.choice([1, 2, 3, 5]) for _ in range(rank)]
    places = g.leaf([shape[0], *points, rank], FLOATS["fp32"], -1.4, 1.4, data=False)
    linear = "linear" if g.version(op) >= 20 else "bilinear"
    g.node(op, [x, places], mode=linear, padding_mode=g.maybe(g.rng.choice(["zeros", "border", "reflection"]), 0.8),
           align_corners=g.maybe(g.rng.choice([0, 1])) if 1 not in shape[2:] else None)


@maker("Col2Im")
def col2im(g, op):
    dtype = g.dtype(op)
    rank = 2  # of others onnxruntime mixes the dimensions up
    block = [g.rng.choice([1, 2, 2, 3]) for _ in range(rank)]
    picture = [g.rng.choice([3, 4, 5, 6]) for _ in range(rank)]
    attributes = {key: value for key, value in windows(g, block).items() if key != "auto_pad"}
    if not spans_fit(picture, block, attributes):
        raise Skip("the block is larger than the image")
    pads, dilations, strides = (attributes.get(name) or default for name, default in
                                (("pads", [0] * (2 * rank)), ("dilations", [1] * rank), ("strides", [1] * rank)))
    blocks = [(picture[d] + pads[d] + pads[rank + d] - dilations[d] * (block[d] - 1) - 1) // strides[d] + 1 for d in range(rank)]
    x = pick_shape(g, dtype, [g.rng.choice([1, 2]), g.rng.choice([1, 2, 3]) * int(np.prod(block)), int(np.prod(blocks))])
    g.node(op, [x, g.known(picture), g.known(block)], **attributes)


@maker("Det")
def determinant(g, op):
    dtype = g.dtype(op)
    g.node(op, [pick_shape(g, dtype, g.shape(high=2) + 2 * [g.rng.choice([1, 2, 3, 4])])])
