"""Convolutions, pooling and resizing of images."""

import numpy as np

from .graph import Skip
from .makers import maker
from .types import FLOATS, is_float


def image(g, op, low=3, high=5, parameter="T"):
    """A value with one to three spatial dimensions."""
    return g.pick(g.dtype(op, parameter), low=low, high=high, fits=lambda a: 0 not in a.shape)


def windows(g, size, ceil=False):
    """Attributes of a window of `size`: strides, dilations and one way of padding."""
    dilations = [g.rng.choice([1, 1, 2, 3]) if s > 1 or g.chance(0.2) else 1 for s in size]
    attributes = {"strides": g.maybe([g.rng.choice([1, 1, 2, 3]) for _ in size], 0.6),
                  "dilations": dilations if any(d > 1 for d in dilations) else g.maybe(dilations, 0.3)}
    way = g.rng.random()
    if way < 0.2:
        attributes["auto_pad"] = g.rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif way < 0.8:
        attributes["pads"] = [g.rng.randint(0, max(s - 1, 0)) for s in size] + [g.rng.randint(0, max(s - 1, 0)) for s in size]
        attributes["auto_pad"] = g.maybe("NOTSET", 0.2)
    if ceil:
        attributes["ceil_mode"] = g.maybe(g.rng.choice([0, 1]))
    return attributes


def spans_fit(spatial, size, attributes):
    """Whether a window fits somewhere into the padded image."""
    rank = len(size)
    pads = attributes.get("pads") or [0] * (2 * rank)
    dilations = attributes.get("dilations") or [1] * rank
    if (attributes.get("auto_pad") or "").startswith("SAME"):
        # Where strides pass over the end of an image, onnxruntime cuts its begin off; the standard's shape inference pads nothing.
        strides = attributes.get("strides") or [1] * rank
        return all((-(-n // strides[d]) - 1) * strides[d] + dilations[d] * (size[d] - 1) + 1 - n >= 0 for d, n in enumerate(spatial))
    return all(n + pads[d] + pads[rank + d] >= dilations[d] * (size[d] - 1) + 1 for d, n in enumerate(spatial))


def windows_read(spatial, size, attributes):
    """Whether each window reads some of the image: elsewhere it has no largest element."""
    rank = len(size)
    pads, dilations, strides = (attributes.get(name) or default for name, default in
                                (("pads", [0] * (2 * rank)), ("dilations", [1] * rank), ("strides", [1] * rank)))
    for d, n in enumerate(spatial):
        room = n + pads[d] + pads[rank + d] - dilations[d] * (size[d] - 1) - 1
        for begin in range(-pads[d], room - pads[d] + strides[d], strides[d]):
            if begin < n and not any(0 <= begin + t * dilations[d] < n for t in range(size[d])):
                return False
    return True


@maker("Conv")
def convolution(g, op):
    x = image(g, op)
    dtype, shape = g.of(x).dtype, g.of(x).shape
    divisors = [d for d in range(1, shape[1] + 1) if shape[1] % d == 0]
    group = g.rng.choice([1, 1, g.rng.choice(divisors), shape[1]])
    outputs = group * g.rng.choice([1, 1, 2, 3, 4])
    size = [g.rng.choice([1, 1, 2, 3, 3, 5]) for _ in shape[2:]]
    attributes = windows(g, size)
    if not spans_fit(shape[2:], size, attributes):
        raise Skip("the window is larger than the image")
    scale = max(1, shape[1] // group * int(np.prod(size))) ** -0.5
    filters = g.leaf([outputs, shape[1] // group, *size], dtype, -2 * scale, 2 * scale, data=False)
    inputs = [x, filters] + ([g.leaf([outputs], dtype, data=False)] if g.chance(0.5) else [])
    g.node(op, inputs, kernel_shape=g.maybe(size), group=group if group > 1 else g.maybe(1, 0.3), **attributes)


@maker("ConvTranspose")
def transposed(g, op):
    x = image(g, op)
    dtype, shape = g.of(x).dtype, g.of(x).shape
    divisors = [d for d in range(1, shape[1] + 1) if shape[1] % d == 0]
    group = g.rng.choice([1, 1, g.rng.choice(divisors)])
    each = g.rng.choice([1, 1, 2, 3])
    size = [g.rng.choice([1, 2, 3]) for _ in shape[2:]]
    attributes = windows(g, size)
    strides = attributes["strides"] or [1] * len(size)
    if g.chance(0.3):
        attributes["output_padding"] = [g.rng.randrange(s) for s in strides]
    if g.chance(0.2) and attributes.get("auto_pad") in (None, "NOTSET", "SAME_UPPER", "SAME_LOWER"):
        attributes.pop("pads", None)
        dilations = attributes["dilations"] or [1] * len(size)
        extra = attributes.get("output_padding") or [0] * len(size)
        attributes["output_shape"] = [max(1, strides[d] * (n - 1) + extra[d] + dilations[d] * (size[d] - 1) + 1 - g.rng.choice([0, 0, 1, 2]))
                                      for d, n in enumerate(shape[2:])]
    if (attributes.get("auto_pad") or "").startswith("SAME") and "output_shape" not in attributes:
        dilations = attributes["dilations"] or [1] * len(size)
        if any(d * (s - 1) + 1 < stride for d, s, stride in zip(dilations, size, strides)):
            raise Skip("onnxruntime does not fill size * stride, as the standard says")
    filters = g.leaf([shape[1], each, *size], dtype, -1, 1, data=False)
    inputs = [x, filters] + ([g.leaf([each * group], dtype, data=False)] if g.chance(0.5) else [])
    if not g.of(g.node(op, inputs, kernel_shape=g.maybe(size), group=group if group > 1 else None, **attributes)).size:
        raise Skip("an empty image")


@maker("MaxPool", "AveragePool", "LpPool")
def pool(g, op):
    x = image(g, op)
    spatial = g.of(x).shape[2:]
    size = [g.rng.choice([1, 2, 2, 3, 3, 4, n]) for n in spatial]
    version = g.version(op)
    attributes = windows(g, size, ceil=version >= {"LpPool": 18}.get(op, 10))
    same = (attributes.get("auto_pad") or "").startswith("SAME")
    # onnxruntime pads a dilated window as if it were not; the standard: to ceil(size / stride) results.
    if version < {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op] or same:
        del attributes["dilations"]
    if not spans_fit(spatial, size, attributes):
        raise Skip("the window is larger than the image")
    outputs = [True]
    if op == "MaxPool" and version >= 8 and g.chance(0.4) and (same or windows_read(spatial, size, attributes)):
        outputs = [True, True]
        attributes["storage_order"] = g.maybe(g.rng.choice([0, 1]))
    if op == "AveragePool":
        attributes["count_include_pad"] = g.maybe(g.rng.choice([0, 1]))
    if op == "LpPool":
        attributes["p"] = g.maybe(g.rng.choice([1, 2, 3]))
    g.node(op, [x], outputs=outputs, kernel_shape=size, **attributes)


@maker("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g, op):
    g.node(op, [image(g, op)], **({"p": g.maybe(g.rng.choice([1, 2, 3]))} if op == "GlobalLpPool" else {}))


@maker("LRN")
def response(g, op):
    g.node(op, [image(g, op, 4, 4)], size=g.rng.choice([1, 3, 5]), alpha=g.maybe(0.25), beta=g.maybe(g.rng.choice([0.5, 1.0, 0.75])),
           bias=g.maybe(2.0))


# Resize

COORDINATES = ["half_pixel", "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_crop_and_resize", "half_pixel_symmetric"]


def targets(g, spatial):
    """New sizes of dimensions, and the scales that lead to them."""
    sizes, scales = [], []
    for n in spatial:
        scale = g.rng.choice([1, 2, 2, 3, 0.5, 1.5, 0.7, 2.6])
        size = max(1, int(np.floor(n * scale)))
        sizes.append(size)
        scales.append(scale if size == int(np.floor(n * np.float32(scale))) and n * scale >= 1 else size / n)
    return sizes, scales


@maker("Resize")
def resize(g, op):
    version = g.version(op)
    parameter = "T" if version < 11 else "T1"
    x = g.pick(g.dtype(op, parameter), low=3, high=4, fits=lambda a: 0 not in a.shape)
    rank = g.of(x).ndim
    mode = g.rng.choice(["nearest", "linear", "cubic"] if version >= 11 and rank == 4 else ["nearest", "linear"])
    if not is_float(g.of(x).dtype):
        mode = "nearest"
    axes = list(range(2, rank))
    sizes, scales = targets(g, g.of(x).shape[2:])
    whole = version < 18 or g.chance(0.6)
    if whole:
        axes, sizes, scales = list(range(rank)), list(g.of(x).shape[:2]) + sizes, [1, 1] + scales
    if version < 11:
        g.node(op, [x, g.known(scales, np.float32)], mode=mode)
        return
    attributes = {"mode": mode if mode != "nearest" else g.maybe(mode), "coordinate_transformation_mode": None}
    coordinates = g.rng.choice(COORDINATES if version >= 19 else COORDINATES[:-1])
    attributes["coordinate_transformation_mode"] = coordinates if coordinates != "half_pixel" else g.maybe(coordinates)
    if mode == "nearest":
        attributes["nearest_mode"] = g.maybe(g.rng.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    if mode == "cubic":
        attributes["cubic_coeff_a"] = g.maybe(-0.5)
    if mode == "cubic" or mode == "linear" and version >= 18:
        attributes["exclude_outside"] = g.maybe(g.rng.choice([0, 1]), 0.3)
    roi = ""
    if coordinates == "tf_crop_and_resize":
        # The nearest of nothing is no extrapolation to onnxruntime; fractions of two keep places exact, halves too.
        begin, end = (0.125, 0.875) if mode == "nearest" else (0.1, 1.2)
        roi = g.known([0.0] * len(axes) + [1.0] * len(axes) if g.chance(0.3) else
                      [0.0 if whole and i < 2 else begin for i in range(len(axes))] + [1.0 if whole and i < 2 else end for i in range(len(axes))],
                      np.float32)
        attributes["extrapolation_value"] = g.maybe(3.0)
    elif version < 13:
        roi = g.known([], np.float32)
    if version >= 18:
        attributes["axes"] = None if whole else axes
        attributes["antialias"] = g.maybe(1, 0.2) if mode != "nearest" else None
    if g.chance(0.5) or (version < 13 and g.chance(0.5)):
        inputs = [x, roi, g.known(scales, np.float32)]
    else:
        inputs = [x, roi, "" if version >= 13 else g.known([], np.float32), g.known(sizes)]
        if version >= 18:
            attributes["keep_aspect_ratio_policy"] = g.maybe(g.rng.choice(["stretch", "not_larger", "not_smaller"])) if not whole else None
    g.node(op, inputs, **attributes)


@maker("Upsample")
def upsample(g, op):
    x = g.pick(g.dtype(op), rank=4, fits=lambda a: 0 not in a.shape)
    scales = [1.0, 1.0, float(g.rng.choice([1, 2, 3])), float(g.rng.choice([1, 2, 1.5]))]
    mode = g.rng.choice(["nearest", "linear"]) if is_float(g.of(x).dtype) else "nearest"
    if g.version(op) < 9:
        g.node(op, [x], scales=scales, mode=mode)
    else:
        g.node(op, [x, g.known(scales, np.float32)], mode=mode)
