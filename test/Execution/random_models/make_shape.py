"""Operators that move, repeat, cut and join, and that make values of nothing."""

import numpy as np

from .graph import Skip
from .makers import maker, negative_or
from .types import BOOL, I64, INTEGERS, ONNX, is_float, tensor


def any_value(g, op, parameter="T", **which):
    return g.pick(g.dtype(op, parameter), **which)


def known_or_attribute(g, op, since, inputs, **attributes):
    """A node whose int lists are operands from version `since` on and attributes before."""
    if g.version(op) >= since:
        return g.node(op, inputs + [g.known(value) for value in attributes.values()])
    return g.node(op, inputs, **attributes)


def factored(g, count, rank):
    """`count` as a product of `rank` sizes."""
    shape = [1] * rank
    while count > 1:
        prime = next(p for p in range(2, count + 1) if count % p == 0)
        shape[g.rng.randrange(rank)] *= prime
        count //= prime
    return shape


@maker("Reshape")
def reshape(g, op):
    x = any_value(g, op)
    shape = list(g.of(x).shape)
    kind = g.rng.random()
    if not shape or kind < 0.4:
        rank = g.rng.randint(0 if g.of(x).size == 1 else 1, 6)
        wanted = factored(g, max(g.of(x).size, 1), rank) if rank else []
    elif kind < 0.7 and len(shape) > 1:  # two dimensions merge
        at = g.rng.randrange(len(shape) - 1)
        wanted = shape[:at] + [shape[at] * shape[at + 1]] + shape[at + 2:]
    else:  # one splits
        at = g.rng.randrange(len(shape))
        wanted = shape[:at] + factored(g, shape[at], 2) + shape[at + 1:]
    if g.of(x).size == 0:
        raise Skip("empty")
    if wanted and g.chance(0.3):
        wanted[g.rng.randrange(len(wanted))] = -1
    allow = {"allowzero": g.maybe(1, 0.2)} if g.version(op) >= 14 else {}
    if not allow.get("allowzero"):
        for d in range(min(len(wanted), len(shape))):
            if wanted[d] == shape[d] and g.chance(0.3):
                wanted[d] = 0
    g.node(op, [x, g.known(wanted)], **allow)


@maker("Flatten")
def flatten(g, op):
    x = any_value(g, op)
    rank = g.of(x).ndim
    low = -rank if g.version(op) >= 11 else 0
    g.node(op, [x], axis=g.maybe(g.rng.randint(low, rank), 0.8) if rank else 0)


@maker("Squeeze")
def squeeze(g, op):
    x = any_value(g, op)
    ones = [d for d, n in enumerate(g.of(x).shape) if n == 1]
    if not ones or g.chance(0.2):
        g.node(op, [x])
        return
    axes = g.rng.sample(ones, g.rng.randint(1, len(ones)))
    rank = g.of(x).ndim
    known_or_attribute(g, op, 13, [x], axes=[negative_or(g, a, rank) if g.version(op) >= 11 else a for a in axes])


@maker("Unsqueeze")
def unsqueeze(g, op):
    x = any_value(g, op, high=5)
    more = g.rng.randint(1, min(2, 6 - g.of(x).ndim))
    rank = g.of(x).ndim + more
    axes = g.rng.sample(range(rank), more)
    known_or_attribute(g, op, 13, [x], axes=[negative_or(g, a, rank) if g.version(op) >= 11 else a for a in axes])


@maker("Transpose")
def transpose(g, op):
    x = any_value(g, op)
    rank = g.of(x).ndim
    g.node(op, [x], perm=g.maybe(g.rng.sample(range(rank), rank), 0.9) if rank else None)


@maker("DepthToSpace", "SpaceToDepth")
def blocks(g, op):
    b = g.rng.choice([1, 2, 2, 3])
    shape = [g.rng.choice([1, 2, 3]), g.rng.choice([1, 2, 3]), g.rng.choice([1, 2, 3, 4]), g.rng.choice([1, 2, 3, 5])]
    scaled = [1] if op == "DepthToSpace" else [2, 3]
    for d in scaled:
        shape[d] *= b * b if d == 1 else b
    dtype = g.dtype(op)
    def divides(a):
        return a.shape[1] % (b * b) == 0 if op == "DepthToSpace" else a.shape[2] % b == 0 and a.shape[3] % b == 0
    found = [n for n in g.data if g.of(n).ndim == 4 and g.of(n).dtype == dtype and divides(g.of(n))]
    x = g.rng.choice(found) if found and g.chance(0.7) else g.leaf(shape, dtype)
    modes = g.version(op) >= (11 if op == "DepthToSpace" else 28)
    g.node(op, [x], blocksize=b, **({"mode": g.maybe(g.rng.choice(["DCR", "CRD"]))} if modes else {}))


@maker("Expand")
def expand(g, op):
    x = any_value(g, op, high=5)
    shape = [g.rng.choice(g.sizes) if n == 1 and g.chance(0.6) else g.rng.choice([1, n]) for n in g.of(x).shape]
    shape = [g.rng.choice(g.sizes[:3]) for _ in range(g.rng.choice([0, 0, 1]))] + shape if g.chance(0.7) else shape[g.rng.randint(0, len(shape)):]
    if np.prod(np.broadcast_shapes(tuple(shape), g.of(x).shape)) > g.most:
        raise Skip("too large")
    g.node(op, [x, g.known(shape)])


@maker("Tile")
def tile(g, op):
    x = any_value(g, op)
    repeats = [g.rng.choice([1, 1, 2, 3]) for _ in g.of(x).shape]
    if np.prod(repeats) * g.of(x).size > g.most:
        raise Skip("too large")
    g.node(op, [x, g.known(repeats)])


@maker("Concat")
def concat(g, op):
    x = any_value(g, op, low=1)
    shape, dtype = g.of(x).shape, g.of(x).dtype
    axis = g.rng.randrange(len(shape))
    def other():
        found = [n for n in g.data if g.of(n).dtype == dtype and g.of(n).ndim == len(shape)
                 and all(d == axis or a == b for d, (a, b) in enumerate(zip(g.of(n).shape, shape)))]
        if found and g.chance(0.6):
            return g.rng.choice(found)
        return g.leaf([g.rng.choice([1, 2, 3, n]) if d == axis else n for d, n in enumerate(shape)], dtype)
    operands = [x] + [other() for _ in range(g.rng.choice([0, 1, 1, 1, 2, 3]))]
    g.rng.shuffle(operands)
    g.node(op, operands, axis=negative_or(g, axis, len(shape)) if g.version(op) >= 11 else axis)


@maker("Split")
def split(g, op):
    x = any_value(g, op, low=1)
    axis = g.rng.randrange(g.of(x).ndim)
    size = g.of(x).shape[axis]
    axis_attribute = negative_or(g, axis, g.of(x).ndim) if g.version(op) >= 11 else axis
    count = g.rng.randint(1, min(size, 4)) if size else 1
    if g.version(op) >= 18 and g.chance(0.4):
        block = -(-size // count)
        if block * (count - 1) >= size:  # onnxruntime wants each to have something
            raise Skip("an empty part")
        g.node(op, [x], outputs=[True] * count, axis=axis_attribute, num_outputs=count)
    elif size % count == 0 and g.chance(0.4) and g.version(op) < 18:
        g.node(op, [x], outputs=[True] * count, axis=axis_attribute)
    else:
        cuts = sorted(g.rng.randint(0, size) for _ in range(count - 1)) if g.chance(0.1) else sorted(g.rng.sample(range(1, size), count - 1))
        sizes = [b - a for a, b in zip([0] + cuts, cuts + [size])]
        if g.version(op) >= 13:
            g.node(op, [x, g.known(sizes)], outputs=[True] * count, axis=axis_attribute)
        else:
            g.node(op, [x], outputs=[True] * count, axis=axis_attribute, split=sizes)


@maker("Slice")
def slice_(g, op):
    x = any_value(g, op, low=1)
    rank = g.of(x).ndim
    axes = sorted(g.rng.sample(range(rank), g.rng.randint(1, rank))) if g.chance(0.5) else [g.rng.randrange(rank)]
    starts, ends, steps = [], [], []
    for axis in axes:
        n = g.of(x).shape[axis]
        first, last = sorted((g.rng.randint(0, n), g.rng.randint(0, n)))
        last = first + 1 if first == last and g.chance(0.9) else last
        step = 1 if g.version(op) < 10 or g.chance(0.6) else g.rng.choice([2, 3, -1, -1, -2])
        if step < 0:
            first, last = last - 1, first - 1
            last = last if last >= 0 else -n - 1
        elif g.chance(0.3):
            last = g.rng.choice([2**31 - 1, last, 2**63 - 1 if g.version(op) >= 10 else last])
        starts.append(first - n if g.chance(0.3) and n and first < n else first)
        ends.append(last)
        steps.append(step)
    if g.version(op) < 10:
        g.node(op, [x], starts=starts, ends=ends, axes=axes)
        return
    dtype = g.rng.choice([I64, np.dtype(np.int32)]) if all(abs(e) < 2**31 for e in ends) else I64
    inputs = [x, g.known(starts, dtype), g.known(ends, dtype)]
    signed = [negative_or(g, a, rank) for a in axes]
    if any(s != 1 for s in steps) or g.chance(0.3):
        inputs += [g.known(signed, dtype), g.known(steps, dtype)]
    elif axes != list(range(len(axes))) or g.chance(0.5):
        inputs += [g.known(signed, dtype)]
    g.node(op, inputs)


# Values of nothing


@maker("Constant")
def constant(g, op):
    shape = g.shape(high=2)
    g.data.append(g.leaf(shape, g.dtype(op), kind="constant", data=False))


@maker("ConstantOfShape")
def constant_of_shape(g, op):
    dtype = g.dtype(op, "T2")
    value = tensor(g.numbers((1,), dtype)) if dtype != np.float32 or g.chance(0.5) else None
    g.node(op, [g.known(g.shape(high=4))], value=value)


@maker("Shape")
def shape_of(g, op):
    x = any_value(g, op)
    rank = g.of(x).ndim
    cut = {"start": g.maybe(g.rng.randint(-rank - 1, rank + 1)), "end": g.maybe(g.rng.randint(-rank - 1, rank + 1))} if g.version(op) >= 15 else {}
    g.node(op, [x], **cut)


@maker("Size")
def size_of(g, op):
    g.node(op, [any_value(g, op)])


@maker("Range")
def range_(g, op):
    dtype = g.dtype(op)
    start, delta = g.rng.choice([0, 1, -2, 5]), g.rng.choice([1, 1, 2, -1, 3])
    if is_float(dtype) and g.chance(0.5):
        delta /= 2
    limit = start + delta * g.rng.randint(1, 12)
    if dtype.kind == "u" and min(start, limit, delta) < 0:
        raise Skip("negative")
    g.node(op, [g.known(v, dtype) for v in (start, limit, delta)], **({"stash_type": g.maybe(1)} if g.version(op) >= 27 else {}))


@maker("Trilu")
def trilu(g, op):
    x = any_value(g, op, low=2)
    k = [g.known(g.rng.randint(-4, 4))] if g.chance(0.6) else []
    g.node(op, [x, *k], upper=g.maybe(g.rng.choice([0, 1])))


@maker("EyeLike")
def eye_like(g, op):
    x = any_value(g, op, "T1", rank=2)
    dtype = g.dtype(op, "T2")
    g.node(op, [x], k=g.maybe(g.rng.randint(-3, 3)), dtype=g.maybe(ONNX[dtype]))


@maker("OneHot")
def one_hot(g, op):
    depth = g.rng.randint(1, 9)
    dtype, kind = g.dtype(op, "T1"), g.dtype(op, "T3")
    low = 0 if dtype.kind == "u" or g.version(op) < 11 else -depth
    indices = g.leaf(g.shape(low=1, high=4), dtype, low, depth + (1 if dtype.kind != "f" and g.chance(0.3) else -1))
    if is_float(dtype):
        indices = g.node("Round", [indices]) if g.has("Round") else g.node("Floor", [indices])
    depths = g.known(g.rng.choice([depth, depth, depth, [depth]]), I64)
    rank = g.of(indices).ndim + 1
    axis = g.rng.randrange(rank)
    g.node(op, [indices, depths, g.leaf([2], kind, data=False)], axis=g.maybe(negative_or(g, axis, rank)))


@maker("CenterCropPad")
def center_crop_pad(g, op):
    x = any_value(g, op, low=1)
    rank = g.of(x).ndim
    axes = g.rng.sample(range(rank), g.rng.randint(1, rank)) if g.chance(0.6) else None
    sizes = [max(1, g.of(x).shape[a] + g.rng.randint(-4, 4)) for a in (axes or range(rank))]
    g.node(op, [x, g.known(sizes)], axes=axes and [negative_or(g, a, rank) for a in axes])


@maker("ReverseSequence")
def reverse_sequence(g, op):
    x = any_value(g, op, low=2)
    batch = g.rng.choice([0, 1])
    shape = g.of(x).shape
    if shape[1 - batch] < 1:
        raise Skip("empty")
    lengths = g.leaf([shape[batch]], I64, 1, shape[1 - batch], data=False)
    plain = batch == 1 and g.chance(0.5)
    g.node(op, [x, lengths], **({} if plain else {"batch_axis": batch, "time_axis": 1 - batch}))
