"""Reductions, norms, scans and searches along axes."""

import numpy as np

from .graph import Skip
from .makers import maker, negative_or
from .types import FLOATS, I64, ONNX, is_float


def some_axes(g, rank):
    axes = g.rng.sample(range(rank), g.rng.randint(1, rank))
    return [negative_or(g, a, rank) for a in axes] if g.chance(0.5) else axes


# Integers whose results surely fit: what overflow gives the standard does not say.
NO_OVERFLOW = {"ReduceSumSquare": (-100, 100), "ReduceL2": (-100, 100), "ReduceProd": (-2, 1), "ReduceMean": (-500, 500),
               "ReduceL1": (-500, 500)}


@maker("ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
       "ReduceLogSumExp")
def reduction(g, op):
    dtype = g.dtype(op)
    positive = {"domain": (0.1, 1e3) if is_float(dtype) else (1, 100)} if op == "ReduceLogSum" else {}
    if op == "ReduceLogSumExp" and not is_float(dtype):
        raise Skip("the whole part of what often is nearly a whole number")
    if op in NO_OVERFLOW and not is_float(dtype):
        positive = {"domain": NO_OVERFLOW[op]}
    x = g.pick(dtype, fits=lambda a: 0 not in a.shape, **positive)
    if op == "ReduceLogSumExp" and np.isnan(g.of(x)).any():
        raise Skip("of a long row with NaN and infinity onnxruntime makes infinity")
    rank = g.of(x).ndim
    axes = some_axes(g, rank) if rank and g.chance(0.85) else None
    if g.version(op) < 11 and axes:
        axes = [a % rank for a in axes]
    keep = g.maybe(g.rng.choice([0, 1]), 0.7)
    if g.version(op) < (13 if op == "ReduceSum" else 18):
        g.node(op, [x], axes=axes, keepdims=keep)
        return
    noop = g.maybe(g.rng.choice([0, 1]), 0.3)
    if axes is None and g.chance(0.3):
        axes = []
    g.node(op, [x] + ([g.known(axes)] if axes is not None else []), keepdims=keep, noop_with_empty_axes=noop)


@maker("CumSum", "CumProd")
def cumulative(g, op):
    x = g.pick(g.dtype(op), low=1)
    rank = g.of(x).ndim
    axis = g.known(negative_or(g, g.rng.randrange(rank), rank), g.rng.choice([I64, np.dtype(np.int32)]))
    g.node(op, [x, axis], exclusive=g.maybe(g.rng.choice([0, 1])), reverse=g.maybe(g.rng.choice([0, 1])))


@maker("Softmax", "LogSoftmax", "Hardmax")
def softmax(g, op):
    x = g.pick(g.dtype(op), low=1, fits=lambda a: 0 not in a.shape)
    rank = g.of(x).ndim
    axis = g.rng.randrange(rank)
    if g.version(op) >= 11:
        axis = negative_or(g, axis, rank)
    if rank < 2 and g.version(op) < 13:
        axis = 0
        g.node(op, [x], axis=axis)
        return
    g.node(op, [x], axis=g.maybe(axis, 0.8))


@maker("LayerNormalization", "RMSNormalization")
def layer_norm(g, op):
    x = g.pick(g.dtype(op, "T"), low=1, fits=lambda a: 0 not in a.shape)
    shape, dtype, rank = g.of(x).shape, g.of(x).dtype, g.of(x).ndim
    axis = g.rng.randrange(rank)
    inputs = [x, g.leaf(shape[axis:], dtype, data=False)]
    outputs = [True]
    attributes = {"axis": negative_or(g, axis, rank), "epsilon": g.maybe(1e-3), "stash_type": g.maybe(1, 0.2)}
    if axis == rank - 1 and g.chance(0.4):
        attributes["axis"] = None
    if op == "LayerNormalization":
        if g.chance(0.6):
            inputs.append(g.leaf(shape[axis:], dtype, data=False))
        outputs = g.rng.choice([[True], [True], [True, True], [True, True, True], [True, False, True]])
    g.node(op, inputs, outputs=outputs, **attributes)


@maker("InstanceNormalization")
def instance_norm(g, op):
    x = g.pick(g.dtype(op), low=3, high=5, fits=lambda a: 0 not in a.shape)
    c = g.of(x).shape[1]
    g.node(op, [x] + [g.leaf([c], g.of(x).dtype, data=False) for _ in range(2)], epsilon=g.maybe(1e-2))


@maker("GroupNormalization")
def group_norm(g, op):
    x = g.pick(g.dtype(op), low=2, high=5, fits=lambda a: 0 not in a.shape)
    c = g.of(x).shape[1]
    groups = g.rng.choice([d for d in range(1, c + 1) if c % d == 0])
    count = groups if g.version(op) < 21 else c
    g.node(op, [x] + [g.leaf([count], g.of(x).dtype, data=False) for _ in range(2)], num_groups=groups, epsilon=g.maybe(1e-2),
           **({"stash_type": g.maybe(1, 0.3)} if g.version(op) >= 21 else {}))


@maker("BatchNormalization")
def batch_norm(g, op):
    kinds = g.dtype(op)
    x = g.pick(kinds, low=2, high=5, fits=lambda a: 0 not in a.shape)
    c, dtype = g.of(x).shape[1], g.of(x).dtype
    inputs = [x] + [g.leaf([c], dtype, data=False) for _ in range(3)] + [g.leaf([c], dtype, 0.2, 3, data=False)]
    if g.version(op) < 9 and g.chance(0.3):
        attributes = {"spatial": 1}
    else:
        attributes = {"training_mode": g.maybe(0, 0.2)} if g.version(op) >= 14 else {}
    g.node(op, inputs, epsilon=g.maybe(1e-3), momentum=g.maybe(0.8), **attributes)


@maker("LpNormalization")
def lp_norm(g, op):
    x = g.pick(g.dtype(op), low=1, fits=lambda a: 0 not in a.shape)
    g.node(op, [x], axis=g.maybe(negative_or(g, g.rng.randrange(g.of(x).ndim), g.of(x).ndim)), p=g.maybe(g.rng.choice([1, 2])))


@maker("MeanVarianceNormalization")
def mean_variance(g, op):
    rank = None if g.chance(0.6) else 4
    x = g.pick(g.dtype(op), rank=rank, low=1, fits=lambda a: a.size > 1 and 0 not in a.shape)
    axes = None if g.of(x).ndim == 4 and g.chance(0.5) else some_axes(g, g.of(x).ndim)
    g.node(op, [x], axes=axes and sorted(a % g.of(x).ndim for a in axes))


@maker("ArgMax", "ArgMin")
def best(g, op):
    x = g.pick(g.dtype(op), low=1, fits=lambda a: 0 not in a.shape)
    rank = g.of(x).ndim
    axis = g.rng.randrange(rank)
    axis = negative_or(g, axis, rank) if g.version(op) >= 11 else axis
    last = {"select_last_index": g.maybe(g.rng.choice([0, 1]))} if g.version(op) >= 12 else {}
    g.node(op, [x], axis=g.maybe(axis, 0.8), keepdims=g.maybe(g.rng.choice([0, 1])), **last)


@maker("TopK")
def top(g, op):
    x = g.pick(g.dtype(op), low=1, fits=lambda a: 0 not in a.shape)
    rank = g.of(x).ndim
    axis = g.rng.randrange(rank)
    k = g.rng.randint(1, g.of(x).shape[axis])
    axis = negative_or(g, axis, rank) if g.version(op) >= 11 else axis
    if g.version(op) < 10:
        g.node(op, [x], outputs=[True, True], axis=axis, k=k)
        return
    more = {"largest": g.maybe(g.rng.choice([0, 1])), "sorted": g.maybe(1, 0.3)} if g.version(op) >= 11 else {}
    g.node(op, [x, g.known([k])], outputs=[True, True], axis=axis if axis not in (-1, rank - 1) else g.maybe(axis), **more)


@maker("NonZero")
def non_zero(g, op):
    x = g.leaf(g.shape(low=1, high=4), g.dtype(op), -1, 1, kind="constant", data=False)
    if not g.of(x).any():
        raise Skip("an empty result")
    g.node(op, [x])


@maker("Compress")
def compress(g, op):
    x = g.pick(g.dtype(op), low=1)
    rank = g.of(x).ndim
    axis = g.maybe(g.rng.randrange(rank), 0.7)
    size = g.of(x).size if axis is None else g.of(x).shape[axis]
    if not 1 <= size <= 64:
        raise Skip("too long a condition")
    condition = g.random.integers(0, 2, g.rng.randint(1, size)).astype(bool)
    condition[0] = True
    if axis is not None and g.version(op) >= 11:
        axis = negative_or(g, axis, rank)
    g.node(op, [x, g.known(condition, bool)], axis=axis)
