"""Operators that read or write at indices, and padding."""

import numpy as np

from .graph import Skip
from .makers import maker, negative_or
from .types import I64, is_float

I32 = np.dtype(np.int32)


def indices(g, shape, size, dtype=None, signed=True, array=None):
    """Indices into a dimension of `size`, some counted from its end; often values that are not known while compiling."""
    dtype = dtype or g.rng.choice([I64, I32])
    if array is None:
        array = g.random.integers(-size if signed and g.chance(0.4) else 0, size, shape)
    return g.leaf(shape, dtype, array=np.asarray(array, dtype), data=False)


def non_empty(a):
    return 0 not in a.shape


@maker("Gather")
def gather(g, op):
    x = g.pick(g.dtype(op), low=1, high=5, fits=non_empty)
    rank = g.of(x).ndim
    axis = g.rng.randrange(rank)
    shape = g.shape(high=max(0, min(3, 7 - rank)))
    if np.prod(shape) * g.of(x).size > 4 * g.most:
        raise Skip("too large")
    at = indices(g, shape, g.of(x).shape[axis], signed=g.version(op) >= 11)
    g.node(op, [x, at], axis=negative_or(g, axis, rank) if axis or g.chance(0.5) else None)


@maker("GatherElements")
def gather_elements(g, op):
    x = g.pick(g.dtype(op), low=1, fits=non_empty)
    rank = g.of(x).ndim
    axis = g.rng.randrange(rank)
    shape = [g.rng.choice([n, n, max(1, n - 1)]) for n in g.of(x).shape]
    shape[axis] = g.rng.choice([1, 2, 3, shape[axis]])
    g.node(op, [x, indices(g, shape, g.of(x).shape[axis])], axis=negative_or(g, axis, rank) if axis or g.chance(0.5) else None)


def tuples(g, data_shape, shape, signed=True):
    """Index tuples [shape..., depth] into the first dimensions."""
    columns = [g.random.integers(-n if signed and g.chance(0.3) else 0, n, shape) for n in data_shape]
    return np.stack(columns, -1)


@maker("GatherND")
def gather_nd(g, op):
    x = g.pick(g.dtype(op), low=1, fits=non_empty)
    shape = g.of(x).shape
    batch = g.rng.choice([0, 0, 1]) if g.version(op) >= 12 and len(shape) > 1 else 0
    depth = g.rng.randint(1, len(shape) - batch)
    outer = list(shape[:batch]) + [g.rng.choice([1, 2, 3, 5]) for _ in range(g.rng.choice([0, 1, 1, 2]))]
    at = tuples(g, shape[batch:batch + depth], outer)
    if not (at.size // depth) * np.prod(shape[batch + depth:]) <= g.most:
        raise Skip("too large")
    g.node(op, [x, indices(g, at.shape, 0, I64, array=at)], **({"batch_dims": batch if batch else g.maybe(0, 0.3)} if g.version(op) >= 12 else {}))


def reductions(g, op):
    """Of a scatter's version."""
    version = g.version(op)
    if version < 16:
        return {}
    return {"reduction": g.maybe(g.rng.choice(["none", "add", "mul"] + ["max", "min"] * (version >= 18)))}


@maker("ScatterElements", "Scatter")
def scatter_elements(g, op):
    x = g.pick(g.dtype(op), low=1, fits=non_empty)
    data = g.of(x)
    axis = g.rng.randrange(data.ndim)
    shape = [g.rng.choice([n, n, max(1, n - 1)]) for n in data.shape]
    shape[axis] = g.rng.randint(1, min(data.shape[axis], 5))
    attributes = reductions(g, op) if op == "ScatterElements" else {}
    n = data.shape[axis]
    if attributes.get("reduction") in (None, "none"):  # which of equal indices wins is not said
        at = np.argsort(g.random.random([n if d == axis else m for d, m in enumerate(shape)]), axis)
        at = np.take(at, range(shape[axis]), axis)
        at = np.where(g.random.random(at.shape) < 0.2, at - n, at) if g.version(op) >= 11 else at
    else:
        at = g.random.integers(-n, n, shape)
    updates = g.pick(data.dtype, shape=shape)
    signed = negative_or(g, axis, data.ndim)
    g.node(op, [x, indices(g, shape, n, array=at), updates], axis=signed if axis or g.chance(0.5) else None, **attributes)


@maker("ScatterND")
def scatter_nd(g, op):
    x = g.pick(g.dtype(op), low=1, fits=non_empty)
    shape = g.of(x).shape
    depth = g.rng.randint(1, len(shape))
    attributes = reductions(g, op)
    places = int(np.prod(shape[:depth]))
    rows = g.rng.randint(1, min(places, 6))
    if g.chance(0.4):  # a block, as exporters write x[:, 1::2] = y
        ranges = [np.arange(size)[g.rng.randrange(size)::g.rng.choice([1, 1, 2])] for size in shape[:depth]]
        at = np.stack(np.meshgrid(*ranges, indexing="ij"), -1)
        updates = g.leaf(list(at.shape[:-1]) + list(shape[depth:]), g.of(x).dtype)
        g.node(op, [x, g.leaf(at.shape, I64, array=at.astype(np.int64), kind=g.rng.choice(["weight", "constant"]), data=False), updates], **attributes)
        return
    if attributes.get("reduction") in (None, "none"):
        flat = g.random.choice(places, rows, replace=False)
    else:
        flat = g.random.integers(0, places, rows)
    at = np.stack(np.unravel_index(flat, shape[:depth]), -1)
    at = np.where(g.random.random(at.shape) < 0.2, at - np.array(shape[:depth]), at) if g.version(op) >= 13 else at
    if rows % 2 == 0 and g.chance(0.3):
        at = at.reshape(2, rows // 2, depth)
    updates = g.leaf(list(at.shape[:-1]) + list(shape[depth:]), g.of(x).dtype)
    g.node(op, [x, indices(g, at.shape, 0, I64, array=at), updates], **attributes)


@maker("TensorScatter")
def tensor_scatter(g, op):
    x = g.pick(g.dtype(op), low=2, high=5, fits=non_empty)
    shape = list(g.of(x).shape)
    axis = g.rng.randrange(1, len(shape))
    update = list(shape)
    update[axis] = g.rng.randint(1, shape[axis])
    circular = g.chance(0.4)
    inputs = [x, g.leaf(update, g.of(x).dtype)]
    if g.chance(0.7):
        inputs.append(g.leaf([shape[0]], I64, 0, shape[axis] - (1 if circular else update[axis]), data=False))
    signed = negative_or(g, axis, len(shape))
    g.node(op, inputs, axis=None if axis == len(shape) - 2 and g.chance(0.5) else signed,
           mode="circular" if circular else g.maybe("linear", 0.3))


@maker("Pad")
def pad(g, op):
    version = g.version(op)
    x = g.pick(g.dtype(op), low=1, fits=non_empty)
    shape = g.of(x).shape
    mode = g.rng.choice(["constant", "constant", "edge", "reflect"] + ["wrap"] * (version >= 19))
    axes = sorted(g.rng.sample(range(len(shape)), g.rng.randint(1, len(shape)))) if version >= 18 and g.chance(0.4) else None
    pads = [[], []]
    for d in axes or range(len(shape)):
        most = shape[d] - 1 if mode == "reflect" else 3
        for side in pads:
            side.append(g.rng.choice([0, 0, 1, 2, 3]) if most >= 3 else g.rng.randint(0, max(most, 0)))
            if mode == "constant" and g.chance(0.1) and shape[d] > 2:
                side[-1] = -1
    flat = pads[0] + pads[1]
    if version < 11:
        g.node(op, [x], pads=flat, mode=g.maybe(mode) if mode == "constant" else mode, value=g.maybe(1.5))
        return
    inputs = [x, g.known(flat)]
    value = g.known(g.numbers((), g.of(x).dtype), g.of(x).dtype) if mode == "constant" and g.chance(0.5) else ""
    if value or axes:
        inputs.append(value)
    if axes:
        inputs.append(g.known([negative_or(g, a, len(shape)) for a in axes], g.rng.choice([I64, I32])))
    g.node(op, inputs, mode=g.maybe(mode) if mode == "constant" else mode)
