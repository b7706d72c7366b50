"""Matrix multiplications, attention and rotary positions."""

import numpy as np

from .graph import Skip
from .make_elementwise import broadcastable
from .makers import maker
from .types import BOOL, FLOATS, I64, ONNX, is_float


@maker("MatMul")
def matmul(g, op):
    x = g.pick(g.dtype(op), low=1, high=5)
    a, columns = g.of(x).shape, g.rng.choice(g.sizes)
    dtype = g.of(x).dtype
    if g.chance(0.3):  # x on the right
        rows, contracted = g.rng.choice(g.sizes), a[-2] if len(a) > 1 else a[-1]
        other = [contracted] if g.chance(0.15) else batches(g, a[:-2]) + [rows, contracted]
        g.node(op, [pick_shape(g, dtype, other), x])
        return
    other = [a[-1]] if g.chance(0.15) else ([] if len(a) < 2 else batches(g, a[:-2])) + [a[-1], columns]
    g.node(op, [x, pick_shape(g, dtype, other)])


def batches(g, shape):
    return [] if g.chance(0.4) else broadcastable(g, list(shape))


def pick_shape(g, dtype, shape):
    if np.prod(shape) > 8 * g.most:
        raise Skip("too large")
    found = [n for n in g.data if g.of(n).dtype == dtype and list(g.of(n).shape) == list(shape)]
    return g.rng.choice(found) if found and g.chance(0.5) else g.leaf(shape, dtype)


@maker("Gemm")
def gemm(g, op):
    x = g.pick(g.dtype(op), rank=2)
    dtype = g.of(x).dtype
    a_turned, b_turned = g.rng.choice([0, 1]), g.rng.choice([0, 1])
    m, k = g.of(x).shape[::-1] if a_turned else g.of(x).shape
    n = g.rng.choice(g.sizes)
    other = pick_shape(g, dtype, [n, k] if b_turned else [k, n])
    bias = g.rng.choice([[n], [1, n], [m, 1], [m, n], [], [1, 1], [1]])
    inputs = [x, other]
    if g.version(op) < 11 or g.chance(0.7):
        inputs.append(g.leaf(bias, dtype))
    alpha, beta = (g.maybe(g.rng.choice([0.5, 2.0, 1.0])) for _ in range(2))
    if not is_float(dtype):
        alpha, beta = (None if v is None else float(np.ceil(v)) for v in (alpha, beta))
    g.node(op, inputs, alpha=alpha, beta=beta, transA=g.maybe(a_turned, 0.5) if not a_turned else 1,
           transB=g.maybe(b_turned, 0.5) if not b_turned else 1)


EQUATIONS = ["ij,jk->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "bihd,bjhd->bhij", "i,j->ij", "ij->ji", "ij->", "ii->i", "ii", "ij,ij->i",
             "...ij,...jk->...ik", "...i->...", "ij,jk,kl->il", "bi,bj,ij->b", "ijk,k->ij", "abc,cd->abd", "ij,kj", "i,i", "bn,anm,bm->ba",
             "iij->ij", "a,b,c->abc", "...ij->...ji", "bshd,hde->bse", "ij,j", "ab,cd->acbd", "abcd->dcba", "abc,abc->", "b...i,i->b..."]


@maker("Einsum")
def einsum(g, op):
    equation = g.rng.choice(EQUATIONS)
    dtype = g.dtype(op)
    sizes = {}
    dots = [g.rng.choice([1, 2, 3]) for _ in range(g.rng.choice([0, 1, 2]))]
    inputs = []
    for term in equation.split("->")[0].split(","):
        shape = []
        for part in term.replace("...", "."):
            shape += dots if part == "." else [sizes.setdefault(part, g.rng.choice([1, 2, 3, 4, 5, 7]))]
        inputs.append(pick_shape(g, dtype, shape))
    if g.chance(0.3):
        equation = equation.replace(",", " , ").replace("->", " -> ")
    g.node(op, inputs, equation=equation)


@maker("Attention")
def attention(g, op):
    dtype = g.dtype(op, "T1", among=list(FLOATS.values()))
    b, kv, group = g.rng.choice([1, 2, 3]), g.rng.choice([1, 2, 3]), g.rng.choice([1, 1, 2])
    m, n, d, e = (g.rng.choice([1, 2, 3, 4, 5, 8]) for _ in range(4))
    e = d if g.chance(0.6) else e
    heads, flat = kv * group, g.chance(0.5)
    def value(count, length, size):
        return g.leaf([b, length, count * size] if flat else [b, count, length, size], dtype)
    version = g.version(op)
    past = g.rng.choice([0, 0, 1, 3])
    lengths = version >= 24 and not past and g.chance(0.3)
    inputs = [value(heads, m, d), value(kv, n, d), value(kv, n, e)]
    total = n + past
    mask = ""
    if g.chance(0.5):
        shape = [b if g.chance(0.5) else 1, heads if g.chance(0.5) else 1, m, total][g.rng.choice([0, 0, 1, 2]):]
        kind = BOOL if g.chance(0.5) else dtype
        mask = g.leaf(shape, kind, data=False)
    inputs.append(mask)
    inputs += [g.leaf([b, kv, past, size], dtype) for size in (d, e)] if past else ["", ""]
    if lengths:
        inputs.append(g.leaf([b], I64, min(m, n), n, data=False))
    while inputs and not inputs[-1]:
        inputs.pop()
    shows = g.chance(0.3)
    outputs = [True] + ([True, True] if past else [False, False] if shows else []) + ([True] if shows else [])
    attributes = {"q_num_heads": heads, "kv_num_heads": kv} if flat else {}
    attributes |= {"scale": g.maybe(0.3, 0.3), "softcap": g.maybe(2.0, 0.3), "is_causal": g.maybe(1, 0.4),
                   "qk_matmul_output_mode": g.rng.choice([0, 1, 2, 3]) if shows else None}
    if g.chance(0.2):
        attributes["softmax_precision"] = ONNX[FLOATS["fp32"]]
    if version >= 25:
        attributes |= {"left_window_size": g.maybe(g.rng.choice([0, 1, 2]), 0.3), "right_window_size": g.maybe(g.rng.choice([0, 1]), 0.3)}
    g.node(op, inputs, outputs=outputs, **attributes)


@maker("RotaryEmbedding")
def rotary(g, op):
    dtype = g.dtype(op)
    b, s, heads, half = g.rng.choice([1, 2, 3]), g.rng.choice([1, 2, 5]), g.rng.choice([1, 2, 3]), g.rng.choice([1, 2, 4])
    rest = g.rng.choice([0, 0, 2])
    size = 2 * half + rest
    flat = g.chance(0.5)
    x = g.leaf([b, s, heads * size] if flat else [b, heads, s, size], dtype)
    positions = g.chance(0.5)
    tables = [g.leaf([9, half] if positions else [b, s, half], dtype, -1, 1, data=False) for _ in range(2)]
    inputs = [x, *tables] + ([g.leaf([b, s], I64, 0, 8, data=False)] if positions else [])
    g.node(op, inputs, interleaved=g.maybe(g.rng.choice([0, 1])), num_heads=heads if flat else None,
           rotary_embedding_dim=2 * half if rest else g.maybe(0))


@maker("LinearAttention")
def linear_attention(g, op):
    dtype = g.dtype(op)
    b, t, kv, group = g.rng.choice([1, 2, 3]), g.rng.choice([0, 1, 1, 2, 5] if 0 in g.sizes else [1, 1, 2, 5]), g.rng.choice([1, 2, 3]), g.rng.choice([1, 1, 2])
    d, m = (g.rng.choice([1, 2, 3, 4, 8]) for _ in range(2))
    rule = g.rng.choice(["linear", "gated", "delta", "gated_delta"])
    inputs = [g.leaf([b, t, count], dtype, -1, 1) for count in (kv * group * d, kv * d, kv * m)]
    inputs.append(g.leaf([b, kv, d, m], g.rng.choice([dtype, FLOATS["fp32"]])) if g.chance(0.5) else "")
    inputs.append(g.leaf([b, t, kv * d if g.chance(0.5) else kv], dtype, -1, 0, data=False) if "gated" in rule else "")
    inputs.append(g.leaf([b, t, g.rng.choice([1, kv])], dtype, 0, 1, data=False) if "delta" in rule else "")
    while not inputs[-1]:
        inputs.pop()
    g.node(op, inputs, outputs=[True, g.chance(0.7)], q_num_heads=kv * group, kv_num_heads=kv, scale=g.maybe(0.5, 0.3),
           update_rule=rule if rule != "gated_delta" else g.maybe(rule))


@maker("CausalConvWithState")
def causal_conv(g, op):
    dtype = g.dtype(op)
    b, c, length, size = (g.rng.choice(choices) for choices in ([1, 2, 3], [1, 2, 3, 8], [1, 2, 5, 9], [1, 2, 3, 4]))
    inputs = [g.leaf([b, c, length], dtype), g.leaf([c, 1, size], dtype)]
    inputs.append(g.leaf([c], dtype) if g.chance(0.5) else "")
    inputs.append(g.leaf([b, c, size - 1], dtype) if g.chance(0.5) else "")
    while not inputs[-1]:
        inputs.pop()
    g.node(op, inputs, outputs=[True, g.chance(0.7)], activation=g.maybe(g.rng.choice(["none", "silu", "swish"])))
