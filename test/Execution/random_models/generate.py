"""Models by seed."""

import random
from dataclasses import dataclass

import numpy as np
import onnx

from . import make_control, make_elementwise, make_indexing, make_matmul, make_quantized, make_reduction, make_shape, make_window  # noqa: F401, they register
from .graph import Graph, Skip, schema_of
from .makers import MAKERS
from .types import FLOATS, newest_opset

OLDEST_OPSET = 7
# Of what models with infinite, tiny and huge numbers are made. What a maximum of NaN is the standard does not say; of doubles
# onnxruntime computes some functions in fp32.
WILD = {op for op, function in MAKERS.items() if function.__module__.endswith("make_elementwise")} - {"Cast", "CastLike", "BitShift"} | {
    "ReduceSum", "ReduceLogSumExp", "Softmax", "LogSoftmax", "Transpose", "Reshape", "Concat", "Slice"}


@dataclass
class Case:
    """A model, its inputs, and how to compute what it must give."""
    model: onnx.ModelProto
    inputs: dict
    graph: Graph

    @property
    def outputs(self):
        return [value.name for value in self.model.graph.output]


def generate(seed, number, kind, only=None):
    """The random model of a seed and a number, which tells the operator of its first node: all have their turn. `kind`: a float
    type's name, or "int"; `only`: operators to take nodes of."""
    rng = random.Random(f"{kind}.{seed}.{number}")
    ops = sorted(only or MAKERS)
    first = ops[number % len(ops)]
    versions = [v for v in range(OLDEST_OPSET, newest_opset() + 1) if schema_of(first, v)]
    for _ in range(50):
        # Newer versions have more operators.
        opset = rng.choice([rng.choice(versions), rng.choice([v for v in versions if v >= 18] or versions)])
        wild = kind not in ("int", "fp64") and rng.random() < 0.1 and first in WILD
        graph = Graph(rng, opset, FLOATS.get(kind), large=rng.random() < 0.1, wild=wild, empty=rng.random() < 0.06)
        fill(graph, rng, first, sorted(op for op in only or MAKERS if graph.has(op) and (op in WILD or not wild)))
        try:
            if graph.nodes and rng.random() < 0.1:
                repeat(graph, rng)
            model, inputs = graph.finish()
        except Skip:
            continue
        return Case(model, inputs, graph)
    raise RuntimeError(f"no model for number {number} of seed {seed}")


def fill(graph, rng, first, ops):
    for _ in range(5 * (first in ops)):
        try:
            add(graph, first)
            break
        except Skip:
            pass
    wanted = rng.choice([1, 1, 2, 3, 4, 5, 6, 8, 12])
    made = int(bool(graph.nodes))
    for _ in range(4 * wanted):
        if made == wanted:
            return
        mark = len(graph.nodes)
        try:
            add(graph, rng.choice(ops))
        except Skip:
            pass
        made += len(graph.nodes) > mark


def repeat(graph, rng):
    """A node once more, whose results are then the same; one of them goes through an Identity."""
    node = rng.choice(graph.nodes)
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if any(isinstance(value, onnx.GraphProto) for value in attributes.values()):
        return
    names = graph.node(node.op_type, list(node.input), outputs=[bool(name) for name in node.output], **attributes)
    if rng.random() < 0.5:
        graph.node("Identity", [next(name for name in names if name)])


def add(graph, op):
    """Adds a node of an operator, or takes back what was begun."""
    counts = len(graph.nodes), len(graph.inputs), len(graph.weights), len(graph.data), len(graph.oracle.steps)
    try:
        MAKERS[op](graph, op)
    except Skip:
        del graph.nodes[counts[0]:], graph.inputs[counts[1]:], graph.weights[counts[2]:], graph.data[counts[3]:], graph.oracle.steps[counts[4]:]
        raise
