"""Nodes that neither onnxruntime nor onnx.reference computes as the standard says, as evaluators: run(None, operands) -> outputs."""

import numpy as np
from onnx import helper


class RealPower:
    """Powers of integers by negative or fractional exponents: of the real power what is left of the point."""

    def __init__(self, node):
        self.node = node

    def run(self, _, operands):
        x, y = (operands[name] for name in self.node.input)
        return [np.trunc(np.power(x.astype(np.float64), y.astype(np.float64))).astype(x.dtype)]


class LocalResponse:
    """onnxruntime takes from its sums what leaves a window, and is left with the roundings of large elements."""

    def __init__(self, node):
        self.node = node
        self.attributes = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0} | {a.name: helper.get_attribute_value(a) for a in node.attribute}

    def run(self, _, operands):
        x = operands[self.node.input[0]]
        size, alpha, beta, bias = (self.attributes[name] for name in ("size", "alpha", "beta", "bias"))
        squares = np.square(x.astype(np.float64))
        before = (size - 1) // 2
        sums = [squares[:, max(0, c - before):c - before + size].sum(axis=1) for c in range(x.shape[1])]
        return [(x / (bias + alpha / size * np.stack(sums, axis=1)) ** beta).astype(x.dtype)]


class WholeProducts:
    """Gemm of integers with whole factors: modulo the type's range, which onnx.reference leaves for doubles."""

    def __init__(self, node):
        self.node = node
        self.attributes = {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0} | {
            a.name: helper.get_attribute_value(a) for a in node.attribute}

    def is_exact(self):
        return all(float(self.attributes[name]).is_integer() and abs(self.attributes[name]) < 2**31 for name in ("alpha", "beta"))

    def run(self, _, operands):
        a, b, *c = (operands[name] for name in self.node.input if name)
        alpha, beta = (np.array(int(self.attributes[name])).astype(a.dtype) for name in ("alpha", "beta"))
        products = (a.T if self.attributes["transA"] else a) @ (b.T if self.attributes["transB"] else b)
        return [alpha * products + (beta * c[0] if c else 0)]


OWN = {"Pow": RealPower, "LRN": LocalResponse}
