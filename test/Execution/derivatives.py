"""Each differentiable operator at singular points, ties and limits, and PyTorch's derivatives there.

    python test/Execution/derivatives.py [--write]

compares the derivatives of Inputs/derivatives.json with those of the PyTorch that is installed, or writes the file anew. They are
products of the Jacobian with 1 + |y|, in fp64. Where PyTorch itself has no number, or another one in fp32, the table has none.
"""

import argparse
import json
import os
from dataclasses import dataclass, field

import numpy as np
from onnx import helper

TABLE = os.path.join(os.path.dirname(__file__), "Inputs", "derivatives.json")
INF = float("inf")
# Below their square roots' smallest numbers, where exponentials overflow (88.7) and squares do (1.8e19).
SIZES = [1e-30, 1e-8, 1e-5, 1e-3, 0.1, 0.5, 0.999, 1, 1.5, 2.5, 3, 6, 10, 20, 60, 88, 89, 100, 1000, 1e4, 1e6, 1e10, 1e20, 1e30]
POINTS = np.float32(sorted([0.0, *SIZES, *(-size for size in SIZES)]))
# Larger ones change the sign of a 0 or of nothing.
MOST = 1e12


@dataclass
class Case:
    """`nodes` compute y from the parameters; `torch` is the same as an expression of them, or the y and gradients as closed forms where
    `given` has them, for PyTorch has no such function."""
    name: str
    nodes: list
    parameters: dict
    torch: str
    constants: dict = field(default_factory=dict)
    given: dict = None

    @property
    def operators(self):
        return {node.op_type for node in self.nodes}


def node(operator, inputs, output="y", **attributes):
    return helper.make_node(operator, inputs.split(), [output], **attributes)


def unary(operator, torch, points=POINTS, name=None, **attributes):
    return Case(name or operator, [node(operator, "p", **attributes)], {"p": points}, torch)


def case(name, nodes, torch, constants=None, given=None, **parameters):
    return Case(name, nodes if isinstance(nodes, list) else [nodes], {key: np.float32(value) for key, value in parameters.items()}, torch,
                constants or {}, given)


# Zeros, ties, opposite signs, numbers whose squares overflow or vanish in fp32.
ROWS = [[0, 0, 0, 0], [1, 1, -1, 1], [3, 2, 3, 1], [0, 0, 2, 0], [-5, -5, -5, -5], [1e-30, 0, 0, 1e-30], [30, -30, 80, 90]]
# With what a mask puts there.
MASKED = [[0, 1, -INF, 2], [-INF, -INF, -INF, 3], [0, 0, 0, 0], [1e4, 1e4, -1e4, 0], [200, -200, 1, 1]]
IMAGE = np.array([[[4, 4, 2, 1], [4, 1, 1, 2], [0, 0, 3, 3], [0, 0, 3, 3]], [[-1, -1, -1, -1]] * 4], np.float32)[None]
SLOPES = np.float32(np.arange(16).reshape(1, 1, 4, 4)) ** 1.5
GRID = [[[[-1, -1], [1, 1], [0, 0], [-1, 1], [0.5, -0.5], [2, -3], [1 / 3, -1 / 3]]]]
PAIRS = {"a": [0, 0, 1, -1, 2, 2, -3, 1e-30, 1e10, -0.0], "b": [0, 1, 1, -1, 2, -2, 3, 1e-30, 1, 1]}

AXIS = {"axes": np.array([1], np.int64)}
BOOL_MASK = np.array([[True, False, True], [False, False, False], [True, True, True]])
FLOAT_MASK = np.where(BOOL_MASK, 0, -np.inf).astype(np.float32)
QUERIES = np.float32([[1, 0, -1], [2, 2, 1], [0, 0, 0]])
SCORES = [[1, 2, 0], [3, 1, 2], [0, 0, 0]]


def reduction(operator, torch, rows=None, name=None, **attributes):
    return case(name or operator, node(operator, "p axes", keepdims=0, **attributes), torch, AXIS, p=ROWS if rows is None else rows)


def lp_normalization(p):
    """Of a row of zeros 0, which no function near it is: the derivative there is taken as 0."""
    x = np.float64(np.float32(ROWS))[:, :]
    size = (np.abs(x) ** p).sum(1, keepdims=True) ** (1 / p)
    safe = np.where(size == 0, 1, size)
    y = np.where(size == 0, 0, x / safe)
    seed = 1 + np.abs(y)
    slope = np.sign(x) if p == 1 else y
    gradient = np.where(size == 0, 0, (seed - slope * (seed * y).sum(1, keepdims=True)) / safe)
    gradient[5] = np.nan  # its squares vanish in fp32
    return {"y": y, "gradients": {"p": gradient}}


GUARD = [node("Add", "p mask", "s"), node("Softmax", "s", "q", axis=-1)]
CASES = [
    unary("Abs", "torch.abs(p)"), unary("Acos", "torch.acos(p)"), unary("Acosh", "torch.acosh(p)"), unary("Asin", "torch.asin(p)"),
    unary("Asinh", "torch.asinh(p)"), unary("Atan", "torch.atan(p)"), unary("Atanh", "torch.atanh(p)"), unary("Ceil", "torch.ceil(p)"),
    unary("Celu", "F.celu(p)"), unary("Celu", "F.celu(p, 2.0)", name="Celu of 2", alpha=2.0), unary("Cos", "torch.cos(p)"),
    unary("Cosh", "torch.cosh(p)"), unary("Elu", "F.elu(p)"), unary("Elu", "F.elu(p, 0.5)", name="Elu of a half", alpha=0.5),
    unary("Erf", "torch.erf(p)"), unary("Exp", "torch.exp(p)"), unary("Floor", "torch.floor(p)"), unary("Gelu", "F.gelu(p)"),
    unary("Gelu", "F.gelu(p, approximate='tanh')", name="Gelu of tanh", approximate="tanh"),
    unary("HardSigmoid", "F.hardsigmoid(p)", alpha=1 / 6, beta=0.5), unary("HardSwish", "F.hardswish(p)"),
    unary("LeakyRelu", "F.leaky_relu(p, 0.1)", alpha=0.1), unary("Log", "torch.log(p)"), unary("Mish", "F.mish(p)"),
    unary("Neg", "-p"), unary("Reciprocal", "torch.reciprocal(p)"), unary("Relu", "F.relu(p)"), unary("Round", "torch.round(p)"),
    unary("Selu", "F.selu(p)"), unary("Shrink", "F.softshrink(p, 0.5)", lambd=0.5, bias=0.5),
    unary("Shrink", "F.hardshrink(p, 0.5)", name="Shrink without bias", lambd=0.5), unary("Sigmoid", "torch.sigmoid(p)"),
    unary("Sign", "torch.sign(p)"), unary("Sin", "torch.sin(p)"), unary("Sinh", "torch.sinh(p)"), unary("Softplus", "F.softplus(p)"),
    unary("Softsign", "F.softsign(p)"), unary("Sqrt", "torch.sqrt(p)"), unary("Swish", "F.silu(p)"), unary("Tan", "torch.tan(p)"),
    unary("Tanh", "torch.tanh(p)"), unary("ThresholdedRelu", "F.threshold(p, 1, 0)", alpha=1.0), unary("Identity", "p * 1"),
    case("Clip", node("Clip", "p low high"), "torch.clamp(p, -1, 1)", {"low": np.float32(-1), "high": np.float32(1)}, p=POINTS),
    case("Clip from 0 to 6", node("Clip", "p low high"), "F.relu6(p)", {"low": np.float32(0), "high": np.float32(6)}, p=POINTS),
    case("Clip from below", node("Clip", "p low"), "torch.clamp(p, min=0)", {"low": np.float32(0)}, p=POINTS),
    case("Clip by trained bounds", node("Clip", "p low high"), "torch.clamp(p, low, high)", p=POINTS, low=-1, high=1),
    case("Clip by crossed bounds", node("Clip", "p low high"), "torch.clamp(p, low, high)", p=POINTS, low=1, high=-1),
    case("PRelu", node("PRelu", "p slope"), "torch.where(p > 0, p, p * slope)", p=POINTS[np.abs(POINTS) < 1e6], slope=[0.25]),
    case("SwiGLU", node("SwiGLU", "a b"), "F.silu(a) * b", **PAIRS),

    case("Add", node("Add", "a b"), "a + b", **PAIRS), case("Sub", node("Sub", "a b"), "a - b", **PAIRS),
    case("Mul", node("Mul", "a b"), "a * b", **PAIRS), case("Div", node("Div", "a b"), "a / b", **PAIRS),
    case("Max", node("Max", "a b"), "torch.maximum(a, b)", **PAIRS), case("Min", node("Min", "a b"), "torch.minimum(a, b)", **PAIRS),
    case("Sum", node("Sum", "a b"), "a + b", **PAIRS), case("Mean", node("Mean", "a b"), "(a + b) / 2", **PAIRS),
    case("Mod", node("Mod", "a b", fmod=1), "torch.fmod(a, b)", a=PAIRS["a"][1:], b=PAIRS["b"][1:]),
    case("Where", [node("Greater", "a b", "c"), node("Where", "c a b")], "torch.where(a > b, a, b)", **PAIRS),
    case("Pow", node("Pow", "a b"), "torch.pow(a, b)", a=[0, 0, 0, 0, 2, 2, 2, 1e-10, 3, 1e-30], b=[0, 1, 2, 3, 0, -1, 0.5, 2, 1.5, 1]),
    *[case(f"Pow of {power}", node("Pow", "p n"), f"torch.pow(p, {power})", {"n": np.float32(power)}, p=POINTS)
      for power in (0, 0.5, 1, 1.5, 2, 3, -1, -0.5)],
    case("Det", node("Det", "p"), "torch.det(p)", p=[[[0, 0], [0, 0]], [[1, 2], [3, 4]]]),
    case("Det of rank 1", node("Det", "p"), "", given={"y": np.array([0.0]), "gradients": {"p": np.array([[[4.0, -2], [-2, 1]]])}}, p=[[[1, 2], [2, 4]]]),
    case("MatMul", node("MatMul", "a b"), "a @ b", a=[[0, 1], [2, 3]], b=[[0, 0], [0, 1]]),
    case("Gemm", node("Gemm", "a b"), "a @ b", a=[[0, 1], [2, 3]], b=[[0, 0], [0, 1]]),
    case("Einsum", node("Einsum", "a b", equation="ij,jk->ik"), "a @ b", a=[[0, 1], [2, 3]], b=[[0, 0], [0, 1]]),

    reduction("ReduceSum", "p.sum(1)"), reduction("ReduceMean", "p.mean(1)"), reduction("ReduceMax", "p.amax(1)"),
    reduction("ReduceMin", "p.amin(1)"), reduction("ReduceProd", "p.prod(1)", ROWS[:5]), reduction("ReduceL1", "p.norm(1, 1)"),
    reduction("ReduceL2", "p.norm(2, 1)"), reduction("ReduceSumSquare", "(p * p).sum(1)"),
    reduction("ReduceLogSum", "p.sum(1).log()", np.abs(ROWS)), reduction("ReduceLogSumExp", "p.logsumexp(1)", MASKED + ROWS),
    case("Norm of exporters", [node("Mul", "p p", "s"), node("ReduceSum", "s axes", "t", keepdims=0), node("Sqrt", "t")], "p.norm(2, 1)", AXIS,
         p=ROWS),
    case("Norm of 3", [node("Abs", "p", "s"), node("Pow", "s n", "t"), node("ReduceSum", "t axes", "u", keepdims=0), node("Pow", "u m")],
         "p.norm(3, 1)", {"n": np.float32(3), "m": np.float32(1 / 3), **AXIS}, p=ROWS),
    case("Cosine similarity", [node("Mul", "p p", "s"), node("ReduceSum", "s axes", "u", keepdims=0), node("Mul", "q q", "t"),
                               node("ReduceSum", "t axes", "v", keepdims=0), node("Mul", "u v", "w"), node("Sqrt", "w", "n"), node("Max", "n least", "m"),
                               node("Mul", "p q", "a"), node("ReduceSum", "a axes", "b", keepdims=0), node("Div", "b m")],
         "(p * q).sum(1) / torch.clamp(p.norm(2, 1) * q.norm(2, 1), min=1e-8)", {"least": np.float32(1e-8), **AXIS}, p=ROWS[:5], q=[[1, 2, 3, 4]] * 4 + [[0, 0, 0, 0]]),
    case("Norm of infinity", [node("Abs", "p", "s"), node("ReduceMax", "s axes", keepdims=0)], "p.norm(float('inf'), 1)", AXIS, p=ROWS),
    case("Deviation", [node("ReduceMean", "p axes", "m"), node("Sub", "p m", "d"), node("Mul", "d d", "s"), node("ReduceMean", "s axes", "v", keepdims=0),
                       node("Sqrt", "v")], "p.std(1, correction=0)", AXIS, p=ROWS[:5]),
    case("F.normalize", [node("ReduceL2", "p axes", "n", keepdims=1), node("Clip", "n least", "c"), node("Div", "p c")], "F.normalize(p, dim=1)",
         {"least": np.float32(1e-12), **AXIS}, p=ROWS),
    case("LpNormalization", node("LpNormalization", "p", axis=1), "", given=lp_normalization(2), p=ROWS),
    case("LpNormalization of 1", node("LpNormalization", "p", axis=1, p=1), "", given=lp_normalization(1), p=ROWS),
    case("CumSum", node("CumSum", "p axis"), "p.cumsum(1)", {"axis": np.int64(1)}, p=ROWS),
    case("TopK", helper.make_node("TopK", ["p", "k"], ["y", "places"], axis=1), "p[:, :2].sort(dim=1, descending=True, stable=True)[0]",
         {"k": np.array([2], np.int64)}, p=[[3, 2], [1, 1], [0, 0]]),

    case("Softmax", node("Softmax", "p", axis=1), "p.softmax(1)", p=MASKED), case("LogSoftmax", node("LogSoftmax", "p", axis=1), "p.log_softmax(1)", p=ROWS),
    case("LayerNormalization", node("LayerNormalization", "p s c", axis=1), "F.layer_norm(p, (4,), s, c)", p=ROWS, s=[1, 2, 3, 4], c=[0, 0, 1, 1]),
    case("RMSNormalization", node("RMSNormalization", "p s", axis=1), "F.rms_norm(p, (4,), s, 1e-5)", p=ROWS, s=[1, 2, 3, 4]),
    case("GroupNormalization", node("GroupNormalization", "p s c", num_groups=1), "F.group_norm(p, 1, s, c)", p=IMAGE, s=[1, 2], c=[0, 1]),
    case("InstanceNormalization", node("InstanceNormalization", "p s c"), "F.instance_norm(p, weight=s, bias=c)", p=IMAGE, s=[1, 2], c=[0, 1]),
    case("BatchNormalization", node("BatchNormalization", "p s c m v"), "F.batch_norm(p, m, v, s, c)",
         {"m": np.float32([0, 1]), "v": np.float32([1, 0])}, p=IMAGE, s=[1, 2], c=[0, 1]),
    case("LRN", node("LRN", "p", size=3), "F.local_response_norm(p, 3)", p=IMAGE),

    case("MaxPool", node("MaxPool", "p", kernel_shape=[2, 2], strides=[1, 1]), "F.max_pool2d(p, 2, 1)", p=IMAGE),
    case("MaxPool of a large window", node("MaxPool", "p", kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]), "F.max_pool2d(p, 3, 1, 1)", p=IMAGE),
    case("MaxPool of all", node("MaxPool", "p", kernel_shape=[4, 4]), "F.max_pool2d(p, 4)", p=IMAGE),
    case("GlobalMaxPool", node("GlobalMaxPool", "p"), "F.adaptive_max_pool2d(p, 1)", p=IMAGE),
    case("AveragePool", node("AveragePool", "p", kernel_shape=[2, 2]), "F.avg_pool2d(p, 2, 1)", p=IMAGE),
    case("GlobalAveragePool", node("GlobalAveragePool", "p"), "F.adaptive_avg_pool2d(p, 1)", p=IMAGE),
    case("LpPool", node("LpPool", "p", kernel_shape=[2, 2], strides=[2, 2]), "F.lp_pool2d(p, 2.0, 2)", p=IMAGE),
    case("LpPool of 3", node("LpPool", "p", kernel_shape=[2, 2], strides=[2, 2], p=3), "F.lp_pool2d(p, 3.0, 2)", p=np.abs(IMAGE)),
    case("GlobalLpPool", node("GlobalLpPool", "p"), "F.lp_pool2d(p, 2.0, 4)", p=np.concatenate([IMAGE, 0 * IMAGE])),
    case("Conv", node("Conv", "p k"), "F.conv2d(p, k)", p=IMAGE, k=np.zeros((1, 2, 2, 2))),
    case("ConvTranspose", node("ConvTranspose", "p k"), "F.conv_transpose2d(p, k)", p=IMAGE, k=np.zeros((2, 1, 2, 2))),
    *[case(f"GridSample, {padding}", node("GridSample", "p g", padding_mode=padding, align_corners=1),
           f"F.grid_sample(p, g, padding_mode='{padding}', align_corners=True)", p=SLOPES, g=GRID) for padding in ("zeros", "border")],

    case("Softmax, IsNaN, Where", GUARD + [node("IsNaN", "q", "n"), node("Where", "n zero q")], "torch.nan_to_num(SAFE(p + mask))",
         {"mask": FLOAT_MASK, "zero": np.float32(0)}, p=SCORES),
    case("Softmax, Where of a row", GUARD + [node("Where", "some q zero")], "SAFE(p + mask)",
         {"mask": FLOAT_MASK, "zero": np.float32(0), "some": BOOL_MASK.any(1, keepdims=True)}, p=SCORES),
    case("Where, Softmax, Where", [node("Where", "allowed p none", "s"), node("Softmax", "s", "q", axis=-1), node("Where", "allowed q zero")],
         "SAFE(torch.where(allowed, p, -float('inf')))", {"allowed": BOOL_MASK, "none": np.float32(-np.inf), "zero": np.float32(0)}, p=SCORES),
    *[case(f"Attention, {kind} mask", helper.make_node("Attention", ["q", "k", "v", "mask"], ["y"], q_num_heads=1, kv_num_heads=1, scale=1.0),
           "SAFE(q @ k.transpose(1, 2) + bias) @ v", {"mask": mask, "bias": FLOAT_MASK}, q=QUERIES[None], k=QUERIES[None] + 1, v=QUERIES[None])
      for kind, mask in (("boolean", BOOL_MASK), ("float", FLOAT_MASK))],
    case("SoftmaxCrossEntropyLoss", node("SoftmaxCrossEntropyLoss", "p labels", ignore_index=-1), "F.cross_entropy(p, labels, ignore_index=-1)",
         {"labels": np.array([0, -1, 3, -1, 0], np.int64)}, p=[[0, 0, 0, 0], [5, 5, 5, 5], [30, -30, 80, 90], [0, 1, 0, 1], [1e4, 0, 0, 0]]),
    case("NegativeLogLikelihoodLoss", node("NegativeLogLikelihoodLoss", "p labels"), "F.nll_loss(p, labels)",
         {"labels": np.array([0, 1, 3], np.int64)}, p=ROWS[:3]),
    case("Gather", node("Gather", "p rows"), "p[rows]", {"rows": np.array([1, 1, 0], np.int64)}, p=ROWS),
    case("GatherElements", node("GatherElements", "p rows", axis=0), "p.gather(0, rows)", {"rows": np.array([[1, 1, 0, 0]], np.int64)}, p=ROWS),
    case("ScatterElements, max", node("ScatterElements", "p rows u", axis=0, reduction="max"), "p.scatter_reduce(0, rows, u, 'amax')",
         {"rows": np.array([[0, 0, 1, 1]], np.int64)}, p=[[1, 2, 3, 4], [0, 0, 0, 0]], u=[[2, 1, 1, 2]]),
    case("ScatterElements, add", node("ScatterElements", "p rows u", axis=0, reduction="add"), "p.scatter_add(0, rows, u)",
         {"rows": np.array([[0, 0, 1, 1]], np.int64)}, p=[[1, 2, 3, 4], [0, 0, 0, 0]], u=[[2, 1, 1, 2]]),
]


def safe_softmax(scores):
    """What scaled_dot_product_attention has: a row without keys is 0 and has no derivative."""
    import torch
    none = torch.isinf(scores).all(-1, keepdim=True)
    return torch.where(none, 0, torch.softmax(torch.where(none, 0, scores), -1))


def derive(case, dtype):
    """y and the gradients in PyTorch."""
    import torch
    parameters = {name: torch.tensor(value, dtype=dtype, requires_grad=True) for name, value in case.parameters.items()}
    constants = {name: torch.tensor(value, dtype=dtype if value.dtype == np.float32 else None) for name, value in case.constants.items()}
    y = eval(case.torch, {"torch": torch, "F": torch.nn.functional, "SAFE": safe_softmax, **constants, **parameters})
    seed = 1 + y.detach().abs()
    # Where y is not finite nothing is asked.
    seed = torch.where(torch.isfinite(seed) & (seed < MOST), seed, 0)
    y.backward(seed)
    return {"y": y.detach().double().numpy(), "gradients": {name: value.grad.double().numpy() for name, value in parameters.items()}}


def agree(got, want, tolerance=2e-3):
    """Per number; infinities are equal ones."""
    with np.errstate(invalid="ignore"):
        return (got == want) | (np.abs(got - want) <= tolerance * (5e-3 + np.abs(want)))


def reference(case):
    """In fp64, NaN where PyTorch has no number or another one in fp32."""
    import torch
    if case.given:
        return case.given
    full, single = derive(case, torch.float64), derive(case, torch.float32)
    alone = len(case.parameters) == 1 and all(value.shape == full["y"].shape for value in case.parameters.values())
    for name, value in full["gradients"].items():
        value[~agree(single["gradients"][name], value)] = np.nan
        if alone and case.parameters[name].ndim == 1:
            value[~(np.abs(full["y"]) < MOST)] = np.nan
    return full


def load():
    with open(TABLE) as file:
        table = json.load(file)
    def array(value):
        return np.array(value, np.float64)  # null is NaN
    return {name: {"y": array(entry["y"]), "gradients": {p: array(value) for p, value in entry["gradients"].items()}} for name, entry in table.items()}


def rounded(value):
    return [rounded(element) for element in value] if isinstance(value, list) else None if np.isnan(value) else float(f"{value:.7g}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true")
    options = arguments.parse_args()
    made = {case.name: reference(case) for case in CASES}
    if options.write:
        lines = [f"{json.dumps(name)}: " + json.dumps({"y": rounded(entry["y"].tolist()),
                                                      "gradients": {p: rounded(value.tolist()) for p, value in entry["gradients"].items()}})
                 for name, entry in made.items()]
        with open(TABLE, "w") as file:
            file.write("{\n" + ",\n".join(lines) + "\n}\n")
        return False
    stored = load()
    differ = [name for name, entry in made.items() if name not in stored or any(
        not (agree(stored[name]["gradients"][p], value, 1e-5) | (np.isnan(value) & np.isnan(stored[name]["gradients"][p]))).all()
        for p, value in entry["gradients"].items())]
    print(f"{len(made) - len(differ)} cases as PyTorch has them; others: {', '.join(differ) or 'none'}")
    return bool(differ)


if __name__ == "__main__":
    raise SystemExit(main())
