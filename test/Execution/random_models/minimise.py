"""A failing case made smaller: a simpler configuration, fewer nodes, fewer outputs, smaller sizes."""

import dataclasses

import numpy as np
import onnx

from . import runs
from .generate import Case
from .graph import Graph, Skip
from .oracle import NoOracle, operands_of
from .tolerance import Tolerance
from .types import I64, save_arrays

ROUNDS = 4


def rebuild(case, nodes, arrays, outputs):
    """The case of these nodes with these arrays; what no node makes is an input if it was no weight. None if it makes no sense."""
    old = case.graph
    graph = Graph(old.rng, old.opset, old.base)
    made, read = set(), []
    for node in nodes:
        read += [name for name in operands_of(node) if name not in made]
        made |= set(node.output)
    for name in dict.fromkeys(read + [name for name in outputs if name not in made]):
        graph.values[name] = arrays[name]
        (graph.weights if name in old.weights or not arrays[name].size else graph.inputs).append(name)
    try:
        for node in nodes:
            dtypes = {name: old.values[name].dtype for name in node.output if name}
            graph.values.update(graph.oracle.add(node, dtypes, graph.values))
            graph.nodes.append(node)
    except (NoOracle, KeyError, IndexError, ValueError):
        return None
    return Case(graph.model(nodes, outputs), {name: graph.values[name] for name in graph.inputs}, graph)


class Minimiser:
    def __init__(self, case, configuration, result, tolerance, tool, stem):
        self.case, self.configuration, self.result, self.tolerance = case, configuration, result, tolerance
        self.tool, self.stem, self.tries = tool, stem, 0

    def fails(self, case, configuration):
        """Takes the case if it fails in the same way."""
        self.tries += 1
        if case is None or self.tries > 300:
            return False
        graph = case.graph
        leaves = {name: graph.values[name] for name in graph.inputs + graph.weights}
        tolerance = Tolerance(graph.oracle, leaves, graph.values, case.outputs, 1)
        onnx.save(case.model, self.stem + ".onnx")
        save_arrays(self.stem + ".in.npz", case.inputs)
        result = runs.attempt(self.tool, self.stem, configuration, tolerance)
        if not result.failed or result.kind != self.result.kind:
            return False
        self.case, self.configuration, self.result, self.tolerance = case, configuration, result, tolerance
        return True

    def simplify_configuration(self):
        simple = [runs.Configuration(), runs.Configuration(target="emulated"), runs.Configuration(2), runs.Configuration(2, free=True)]
        now = self.configuration
        simple += [dataclasses.replace(now, target="cpu"), dataclasses.replace(now, ranks=2, mesh=""), dataclasses.replace(now, free=False)]
        for configuration in simple:
            if configuration != self.configuration and self.fails(self.case, configuration):
                return

    def outputs_of(self, nodes):
        """Of what is left, the outputs that were, and results that nothing reads any more."""
        read = {name for node in nodes for name in operands_of(node)}
        made = [name for node in nodes for name in node.output if name]
        return [name for name in made if name in self.case.outputs or name not in read] or made[-1:]

    def drop_nodes(self):
        changed = False
        for node in list(reversed(self.case.graph.nodes)):
            nodes = [other for other in self.case.graph.nodes if other.name != node.name]
            if nodes:
                changed |= self.fails(rebuild(self.case, nodes, self.case.graph.values, self.outputs_of(nodes)), self.configuration)
        return changed

    def drop_outputs(self):
        for name in self.case.outputs:
            outputs = [other for other in self.case.outputs if other != name]
            if outputs:
                self.fails(rebuild(self.case, self.case.graph.nodes, self.case.graph.values, outputs), self.configuration)

    def shrink(self):
        """Each size that appears in leaves, everywhere at once."""
        graph = self.case.graph
        sizes = sorted({n for name in graph.inputs + graph.weights for n in graph.values[name].shape if n > 1}, reverse=True)
        for size in sizes:
            for smaller in dict.fromkeys([1, 2, 3, size // 2, size - 1]):
                if 0 < smaller < size and self.fails(self.resized(size, smaller), self.configuration):
                    break

    def resized(self, size, smaller):
        graph = self.case.graph
        arrays = {}
        for name in graph.inputs + graph.weights:
            array = graph.values[name]
            array = array[tuple(slice(0, smaller if n == size else n) for n in array.shape)] if array.ndim else array
            if array.dtype == I64 and array.ndim <= 1 and name in graph.weights:
                array = np.where(array == size, smaller, array)
            arrays[name] = np.ascontiguousarray(array).reshape(array.shape)
        return rebuild(self.case, graph.nodes, arrays, self.case.outputs)


def minimise(case, configuration, result, tolerance, tool, stem):
    """Case, configuration, result and tolerance of a smaller failing case, or of the same."""
    search = Minimiser(case, configuration, result, tolerance, tool, stem)
    search.simplify_configuration()
    for _ in range(ROUNDS):
        if not search.drop_nodes():
            break
    search.drop_outputs()
    search.shrink()
    search.simplify_configuration()
    return search.case, search.configuration, search.result, search.tolerance
