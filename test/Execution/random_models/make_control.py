"""Recurrences, and control flow that folds."""

import numpy as np
from onnx import helper

from .graph import Skip
from .make_elementwise import some_float
from .makers import maker
from .types import BOOL, I64, info, is_float, tensor

# Activations of gates, with the numbers that they take.
PLAIN = ["Sigmoid", "Tanh", "Relu", "Softsign", "Softplus"]
WITH_ALPHA = ["LeakyRelu", "ThresholdedRelu", "Elu"]
WITH_BOTH = ["ScaledTanh", "HardSigmoid", "Affine"]


@maker("RNN", "GRU", "LSTM")
def recurrence(g, op):
    version = g.version(op)
    dtype = g.dtype(op)
    steps, batch, size, hidden = (g.rng.choice([1, 2, 3, 4]) for _ in range(4))
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    direction = g.rng.choice(["forward", "reverse", "bidirectional"])
    directions = 2 if direction == "bidirectional" else 1
    layout = 1 if version >= 14 and g.chance(0.15) else 0
    x = g.pick(dtype, shape=[batch, steps, size] if layout else [steps, batch, size])
    def leaf(*shape):
        return g.leaf(shape, dtype, -1, 1, data=False)
    inputs = [x, leaf(directions, gates * hidden, size), leaf(directions, gates * hidden, hidden)]
    inputs.append(leaf(directions, 2 * gates * hidden) if g.chance(0.6) else "")
    inputs.append(g.leaf([batch], np.dtype(np.int32), 1, steps, data=False) if g.chance(0.3) else "")
    state = (batch, directions, hidden) if layout else (directions, batch, hidden)
    inputs.append(leaf(*state) if g.chance(0.5) else "")
    if op == "LSTM":
        inputs.append(leaf(*state) if g.chance(0.5) else "")
        inputs.append(leaf(directions, 3 * hidden) if g.chance(0.4) else "")
    while not inputs[-1]:
        inputs.pop()
    attributes = {"direction": direction if direction != "forward" else g.maybe(direction), "hidden_size": hidden}
    attributes |= activations(g, directions * {"RNN": 1, "GRU": 2, "LSTM": 3}[op]) if g.chance(0.3) else {}
    attributes["clip"] = g.maybe(0.7, 0.2)
    if op == "GRU":
        attributes["linear_before_reset"] = g.maybe(g.rng.choice([0, 1]))
    if op == "LSTM":
        attributes["input_forget"] = g.maybe(g.rng.choice([0, 1]), 0.2)
    if layout:
        attributes["layout"] = 1
    count = 3 if op == "LSTM" else 2
    outputs = [g.chance(0.8) for _ in range(count)]
    outputs[g.rng.randrange(count)] = True
    while not outputs[-1]:
        outputs.pop()
    g.node(op, inputs, outputs=outputs, **attributes)


def activations(g, count):
    names = [g.rng.choice(PLAIN + WITH_ALPHA + WITH_BOTH) for _ in range(count)]
    alphas = [0.5 for name in names if name in WITH_ALPHA + WITH_BOTH]
    betas = [0.7 for name in names if name in WITH_BOTH]
    return {"activations": names, "activation_alpha": alphas or None, "activation_beta": betas or None}


# Bodies


BODIES = [["Add"], ["Mul", "Tanh"], ["Sub", "Abs"], ["Max", "Neg"], ["Add", "Sin"]]
INTEGER_BODIES = [["Add"], ["Mul"], ["Sub", "Identity"], ["Add", "Identity"]]


def body_nodes(g, first, second, result, prefix, dtype):
    """first op second, then perhaps another function, as `result`."""
    ops = g.rng.choice(BODIES if is_float(dtype) else INTEGER_BODIES)
    names = [f"{prefix}{i}" for i in range(len(ops) - 1)] + [result]
    nodes = [helper.make_node(ops[0], [first, second], [names[0]])]
    return nodes + [helper.make_node(op, [a], [b]) for op, a, b in zip(ops[1:], names, names[1:])]


def pair(g, op):
    """Two values of one shape and type."""
    dtype = g.dtype(op, "V")
    if dtype == BOOL:
        raise Skip("bodies are of numbers")
    x = g.pick(dtype, low=1, high=4, fits=lambda a: 0 not in a.shape)
    return x, g.pick(dtype, shape=g.of(x).shape), dtype


@maker("If")
def condition(g, op):
    x, y, dtype = pair(g, op)
    flag = g.leaf((), BOOL, data=False)
    shape = g.of(x).shape
    def branch(prefix):
        p = g.name(prefix)
        return helper.make_graph(body_nodes(g, x, y, p + "r", p, dtype), p, [], [info(p + "r", dtype, shape)])
    g.node(op, [flag], dtypes=[dtype], then_branch=branch("t"), else_branch=branch("e"))


@maker("Loop")
def loop(g, op):
    x, y, dtype = pair(g, op)
    shape, p = g.of(x).shape, g.name("l")
    trips = g.rng.randint(1, 4)
    scanned = g.chance(0.5)
    nodes = [helper.make_node("Identity", [p + "c"], [p + "go"])] + body_nodes(g, p + "x", y, p + "r", p, dtype)
    outputs = [info(p + "go", BOOL, ()), info(p + "r", dtype, shape)]
    if scanned:
        nodes.append(helper.make_node("Add", [p + "r", y], [p + "s"]))
        outputs.append(info(p + "s", dtype, shape))
    body = helper.make_graph(nodes, p, [info(p + "i", I64, ()), info(p + "c", BOOL, ()), info(p + "x", dtype, shape)], outputs)
    go = g.known(True, BOOL) if g.chance(0.5) or g.version(op) < 11 else ""
    count = g.known(trips if g.version(op) >= 11 or g.chance(0.5) else [trips])
    g.node(op, [count, go, x], outputs=[True] * (1 + scanned), dtypes=[dtype] * (1 + scanned), body=body)


@maker("Scan")
def scan(g, op):
    if g.version(op) < 9:
        raise Skip("Scan of batches")
    x, y, dtype = pair(g, op)
    shape, p = list(g.of(x).shape), g.name("s")
    axis = g.rng.randrange(len(shape))
    if not 1 <= shape[axis] <= 6:
        raise Skip("too many steps")
    row = shape[:axis] + shape[axis + 1:]
    state = g.pick(dtype, shape=row)
    nodes = body_nodes(g, p + "h", p + "x", p + "r", p, dtype) + [helper.make_node("Identity", [p + "r"], [p + "o"])]
    body = helper.make_graph(nodes, p, [info(p + "h", dtype, row), info(p + "x", dtype, row)], [info(p + "r", dtype, row), info(p + "o", dtype, row)])
    out_axis = g.rng.randint(0, len(row))
    g.node(op, [state, x], outputs=2, dtypes=[dtype, dtype], body=body, num_scan_inputs=1,
           scan_input_axes=[axis] if axis else g.maybe([0]), scan_output_axes=[out_axis] if out_axis else g.maybe([0]),
           scan_input_directions=g.maybe([g.rng.choice([0, 1])]), scan_output_directions=g.maybe([g.rng.choice([0, 1])]))
