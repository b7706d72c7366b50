"""Operators on single elements."""

import numpy as np

from .graph import Skip, types_of
from .makers import maker
from .types import BOOL, INTEGERS, ONNX, TEXTS, is_float

# Operands outside of these would give NaN or leave the range; None: any.
DOMAINS = {"Exp": (-9, 5), "Log": (0.05, 1e4), "Sqrt": (0, 1e6), "Reciprocal": (0.05, 1e4), "Asin": (-0.99, 0.99), "Acos": (-0.99, 0.99),
           "Atanh": (-0.95, 0.95), "Acosh": (1.01, 1e4), "Sinh": (-6, 6), "Cosh": (-6, 6), "Tan": (-1.4, 1.4)}
LEAVES = {"Log": (0.05, 5), "Sqrt": (0, 5), "Reciprocal": (0.2, 5), "Acosh": (1.1, 6)}


@maker("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "IsNaN", "Log", "Neg", "Reciprocal", "Round", "Sign", "Sin", "Sqrt", "Identity", "Relu",
       "Sigmoid", "Tanh", "Softplus", "Softsign", "Mish", "HardSwish", "Tan", "Atan", "Asin", "Acos", "Sinh", "Cosh", "Asinh", "Acosh",
       "Atanh", "BitwiseNot")
def unary(g, op):
    parameter = {"IsNaN": "T1", "Identity": "V" if g.version("Identity") >= 14 else "T"}.get(op, "T")
    g.node(op, [operand(g, op, g.dtype(op, parameter))])


@maker("Not")
def logical_not(g, op):
    g.node(op, [g.pick(BOOL)])


def operand(g, op, dtype):
    domain = DOMAINS.get(op)
    if op == "Erf" and not is_float(dtype):
        return g.leaf(g.of(g.pick(dtype)).shape, dtype, 0, 3)  # beyond, a rounding makes 0 a 1
    if domain is None:
        return g.pick(dtype)
    name = g.pick(dtype)
    array = g.of(name)
    if array.size and domain[0] <= array.min() and array.max() <= domain[1]:
        return name
    if domain[0] >= -1 and g.chance(0.5) and op not in ("Acosh", "Reciprocal", "Log"):
        return g.node("Sigmoid", [name])
    return g.leaf(g.of(name).shape, dtype, *LEAVES.get(op, domain))


def some_float(g, *choices):
    return g.maybe(float(np.float32(g.rng.choice(choices))))


@maker("Gelu", "LeakyRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "Swish", "HardSigmoid", "Shrink", "IsInf")
def with_attributes(g, op):
    alpha = some_float(g, 0.1, 0.5, 1.3, 2)
    attributes = {"Gelu": {"approximate": g.maybe(g.rng.choice(["none", "tanh"]))},
                  "Selu": {"alpha": alpha, "gamma": some_float(g, 0.5, 1.1)},
                  "HardSigmoid": {"alpha": alpha, "beta": some_float(g, 0.1, 0.4)},
                  "Shrink": {"lambd": some_float(g, 0.1, 1), "bias": some_float(g, 0.2, -0.3)},
                  "IsInf": {"detect_negative": g.maybe(g.rng.choice([0, 1])), "detect_positive": g.maybe(g.rng.choice([0, 1]))}}
    g.node(op, [g.pick(g.dtype(op, "T1" if op == "IsInf" else "T"))], **attributes.get(op, {"alpha": alpha}))


@maker("Clip")
def clip(g, op):
    x = g.pick(g.dtype(op))
    dtype = g.of(x).dtype
    low, high = g.rng.choice([(-1, 1), (0, 6), (-0.5, 2), (1, -1)])
    if g.version(op) < 11:
        g.node(op, [x], min=g.maybe(float(low)), max=g.maybe(float(high)))
        return
    low, high = (max(low, 0), max(high, 1)) if dtype.kind == "u" else (low, high)
    bounds = [g.leaf((), dtype, array=np.array(b).astype(dtype), data=False) if g.chance(0.7) else "" for b in (low, high)]
    while bounds and not bounds[-1]:
        bounds.pop()
    g.node(op, [x, *bounds])


@maker("Dropout")
def dropout(g, op):
    x, outputs = g.pick(g.dtype(op)), [True, g.chance(0.4)]
    # What an older version's mask holds in inference is not said.
    if g.version(op) < 12:
        g.node(op, [x], outputs=[True], ratio=some_float(g, 0.1, 0.5))
        return
    ratio = g.known(0.3, g.dtype(op, "T1")) if g.chance(0.5) else ""
    training = g.known(False, BOOL) if g.chance(0.5) else ""
    g.node(op, [x] + ([ratio, training] if training else [ratio] if ratio else []), outputs=outputs, seed=g.maybe(3))


def castable(g, x, to):
    """What onnxruntime and C leave open is not asked: numbers outside of an integer type."""
    array = g.of(x)
    if is_float(array.dtype) and to in INTEGERS and array.size:
        limits = np.iinfo(to)
        if array.min() <= max(limits.min - 1, -2**24) or array.max() >= min(limits.max, 2**24):
            raise Skip("out of the type's range")


@maker("Cast")
def cast(g, op):
    x = g.pick(g.dtype(op, "T1"))
    to = g.dtype(op, "T2", among=None if g.chance(0.5) else [d for d in types_of(op, g.opset, "T2") if is_float(d)])
    castable(g, x, to)
    extra = {"saturate": g.maybe(1, 0.3)} if g.version(op) >= 19 else {}
    g.node(op, [x], to=ONNX[to], **extra)


@maker("CastLike")
def cast_like(g, op):
    x, like = g.pick(g.dtype(op, "T1")), g.pick(g.dtype(op, "T2"))
    castable(g, x, g.of(like).dtype)
    g.node(op, [x, like], **({"saturate": g.maybe(1, 0.3)} if g.version(op) >= 19 else {}))


# Several operands, broadcast


def broadcastable(g, shape):
    """A shape that broadcasts to this one."""
    shape = [n if g.chance(0.75) else 1 for n in shape]
    return shape[g.rng.randint(0, len(shape)):] if g.chance(0.3) else shape


def partner(g, x, dtype=None, low=None, high=None):
    """Another operand for x, whose shape broadcasts with x's."""
    dtype = dtype or g.of(x).dtype
    shape = g.of(x).shape
    if low is not None:
        return g.leaf(broadcastable(g, shape), dtype, low, high)
    if g.chance(0.5):
        same = [name for name in g.data if g.of(name).dtype == dtype and fits(g.of(name).shape, shape, g.most)]
        if same:
            return g.rng.choice(same)
    wide = broadcastable(g, shape)
    if g.chance(0.1) and len(wide) == len(shape):
        wide = [g.rng.choice(g.sizes) if mine == 1 else n for n, mine in zip(wide, shape)]
        if not fits(wide, shape, g.most):
            raise Skip("too large")
    return g.leaf(wide, dtype)


def fits(a, b, most):
    try:
        return np.prod(np.broadcast_shapes(tuple(a), tuple(b))) <= most
    except ValueError:
        return False


def swapped(g, a, b):
    return [b, a] if g.chance(0.3) else [a, b]


@maker("Add", "Sub", "Mul", "And", "Or", "Xor", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "BitwiseAnd", "BitwiseOr",
       "BitwiseXor")
def binary(g, op):
    x = g.pick(g.dtype(op))
    g.node(op, swapped(g, x, partner(g, x)))


@maker("Div")
def divide(g, op):
    x = g.pick(g.dtype(op))
    dtype = g.of(x).dtype
    y = partner(g, x, None, *((0.3, 4) if is_float(dtype) else (1, 9)))
    if dtype.kind == "i" and g.chance(0.4):
        y = g.node("Neg", [y])
    g.node(op, [x, y])


@maker("Mod")
def modulo(g, op):
    x = g.pick(g.dtype(op))
    dtype = g.of(x).dtype
    fmod = 1 if is_float(dtype) and g.version(op) < 28 else g.maybe(g.rng.choice([0, 1]))
    y = partner(g, x, None, *((0.3, 4) if is_float(dtype) else (1, 9)))
    if dtype.kind in "if" and g.chance(0.4):
        y = g.node("Neg", [y])
    g.node(op, [x, y], fmod=fmod)


@maker("Pow")
def power(g, op):
    x = g.pick(g.dtype(op))
    dtype = g.of(x).dtype
    other = g.dtype(op, "T1") if g.version(op) >= 12 else dtype
    if g.chance(0.5):  # a constant exponent, of which some have cheap ways
        among = [-1, -0.5, 0, 0.5, 1, 2, 3, 4, 1.5] if is_float(other) else [0, 1, 2, 3] + [-1] * (other.kind == "i")
        exponent = g.known(g.rng.choice(among), other)
    else:
        exponent = partner(g, x, other, *((-2, 3) if is_float(other) else (0, 3)))
    values = g.of(exponent)
    if is_float(dtype) and ((values < 0).any() or (values != np.round(values)).any()):
        x = g.node("Exp", [g.node("Tanh", [x])])
    if not is_float(dtype) and (is_float(other) or (values < 0).any()):
        x = g.leaf(g.of(x).shape, dtype, 1, 9)  # 1 / 0 is no integer
    g.node(op, [x, exponent])


@maker("BitShift")
def shift(g, op):
    x = g.pick(g.dtype(op))
    g.node(op, [x, partner(g, x, None, 0, 7)], direction=g.rng.choice(["LEFT", "RIGHT"]))


@maker("PRelu")
def prelu(g, op):
    x = g.pick(g.dtype(op))
    g.node(op, [x, g.leaf(broadcastable(g, g.of(x).shape), g.of(x).dtype)])


@maker("Max", "Min", "Sum", "Mean")
def variadic(g, op):
    x = g.pick(g.dtype(op))
    operands = [x] + [partner(g, x) for _ in range(g.rng.choice([0, 1, 1, 2, 3]))]
    g.rng.shuffle(operands)
    g.node(op, operands)


@maker("Where")
def where(g, op):
    x = g.pick(g.dtype(op))
    y = partner(g, x)
    g.node(op, [partner(g, x, BOOL), *swapped(g, x, y)])
