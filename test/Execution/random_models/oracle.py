"""What a model must compute, node by node.

Each node is computed by onnxruntime where that has a kernel for its types, floats of 16 bits in fp32 and rounded after the
node; else by onnx.reference. A node that neither computes has no oracle, and no model contains it.

The condition of a model is measured: all is computed again with the operands and results of each node that rounds moved by
some roundings of its type, up or down at random. What moves by much may differ by as much.
"""

import os

os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from .types import BF16, BOOL, NUMPY, ONNX, ROUNDING, info, is_float

onnxruntime.set_default_logger_severity(4)

F32 = np.dtype(np.float32)
# Nodes that compute nothing: their results are elements of their operands, or exact.
EXACT = set("""Abs Ceil Floor Round Neg Sign Relu Not And Or Xor Identity Dropout Cast CastLike Max Min Where Clip Transpose Reshape Flatten
    Squeeze Unsqueeze DepthToSpace SpaceToDepth Expand Tile Concat Split Slice Pad Gather GatherND GatherElements Scatter ScatterElements
    ScatterND TensorScatter ArgMax ArgMin Hardmax NonZero Compress TopK Constant ConstantOfShape Shape Size Trilu EyeLike OneHot
    ReduceMax ReduceMin MaxPool GlobalMaxPool Equal Less LessOrEqual Greater GreaterOrEqual IsNaN IsInf ReverseSequence CenterCropPad
    ThresholdedRelu BitShift""".split())
# Of doubles onnxruntime computes these in fp32, at least in part.
SINGLE = set("""Attention RotaryEmbedding Gelu Celu HardSwish HardSigmoid Mish Swish Selu Elu LeakyRelu ThresholdedRelu Softplus Shrink
    LayerNormalization RMSNormalization GroupNormalization BatchNormalization LpNormalization LpPool MeanVarianceNormalization Resize
    Upsample Erf Gemm""".split())
# Made of a sum with 1: their small results have the error of 1.
OF_ONE = {"Sigmoid", "Softplus", "Mish", "Swish", "Celu", "Elu", "Selu", "Gelu", "HardSigmoid", "HardSwish", "Erf"}
# The oracle's own roundings and its functions' errors, in roundings of the type.
NOISE = 6


class NoOracle(Exception):
    """Nothing computes this node."""


def captured(node):
    """Names that the subgraphs of a node read from around it."""
    names = set()
    for attribute in node.attribute:
        if attribute.type != onnx.AttributeProto.GRAPH:
            continue
        graph = attribute.g
        known = {v.name for v in graph.input} | {t.name for t in graph.initializer}
        for inner in graph.node:
            names |= (set(inner.input) | captured(inner)) - known - {""}
            known |= set(inner.output)
        names |= {v.name for v in graph.output} - known
    return names


def operands_of(node):
    """All names that a node reads, each once."""
    return list(dict.fromkeys([name for name in node.input if name] + sorted(captured(node))))


def _options():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return options


_OPTIONS = _options()


def _graph(node, operands, outputs=None):
    outputs = [helper.make_empty_tensor_value_info(name) for name in outputs or node.output if name]
    return helper.make_graph([node], "node", [info(name, a.dtype, a.shape) for name, a in operands.items()], outputs)


def _model(node, operands, opset):
    return helper.make_model(_graph(node, operands), opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


WIDER = {TensorProto.FLOAT16: TensorProto.FLOAT, TensorProto.BFLOAT16: TensorProto.FLOAT}


def _widened(node):
    """The node with attributes that name a float of 16 bits naming fp32, tensors and subgraphs too."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for attribute in copy.attribute:
        if attribute.name in ("to", "dtype", "softmax_precision", "stash_type"):
            attribute.i = WIDER.get(attribute.i, attribute.i)
        if attribute.type == onnx.AttributeProto.TENSOR and attribute.t.data_type in WIDER:
            from .types import array_of, tensor
            attribute.t.CopyFrom(tensor(array_of(attribute.t).astype(np.float32), attribute.t.name))
        if attribute.type == onnx.AttributeProto.GRAPH:
            _widen_graph(attribute.g)
    return copy


def _widen_graph(graph):
    from .types import array_of, tensor
    for i, inner in enumerate(graph.node):
        graph.node[i].CopyFrom(_widened(inner))
    for i, t in enumerate(graph.initializer):
        if t.data_type in WIDER:
            graph.initializer[i].CopyFrom(tensor(array_of(t).astype(np.float32), t.name))
    for value in list(graph.input) + list(graph.output) + list(graph.value_info):
        kind = value.type.tensor_type
        kind.elem_type = WIDER.get(kind.elem_type, kind.elem_type)


class NodeOracle:
    """Computes one node on arrays of given types and shapes."""

    def __init__(self, node, operands, opset, dtypes):
        """`dtypes`: of the outputs, by name."""
        self.node, self.opset, self.dtypes = node, opset, dtypes
        self.names = operands_of(node)
        low = [a for a in operands.values() if a.dtype in ROUNDING and a.dtype.itemsize == 2]
        self.wide = bool(low) or any(d in ROUNDING and d.itemsize == 2 for d in dtypes.values())
        self.session = self.reference = None
        node = _widened(node) if self.wide else node
        self.turned = node.op_type in RECURRENCES and any(a.name == "layout" and a.i for a in node.attribute)
        node = _sequence_first(node) if self.turned else node
        since = onnx.defs.get_schema(node.op_type, opset, "").since_version
        feed = self._feed(operands)
        if node.op_type in DISTRUSTED or not self._open(node, feed, since if not captured(node) else min(opset, 26)):
            self._refer(node, feed)

    @property
    def rounding(self):
        """Of the oracle, where it is larger than the type's: of doubles it computes some functions in fp32."""
        coarse = self.reference or self.node.op_type in SINGLE
        return ROUNDING[F32] if coarse and np.dtype(np.float64) in self.dtypes.values() else None

    def _feed(self, operands):
        if self.wide:
            operands = {name: a.astype(F32) if a.dtype in ROUNDING and a.dtype.itemsize == 2 else a for name, a in operands.items()}
        if self.turned:
            states = [name for i, name in enumerate(self.node.input) if i in (0, 5, 6)]
            operands = {name: np.ascontiguousarray(a.swapaxes(0, 1)) if name in states else a for name, a in operands.items()}
        return operands

    def _turned_back(self, i, array):
        """Output i of a recurrence of layout 1: [T, D, B, H] and [D, B, H] with the batch in front."""
        return (array.transpose(2, 0, 1, 3) if i == 0 else array.swapaxes(0, 1)) if self.turned else array

    def _open(self, node, operands, opset):
        try:
            self.session = onnxruntime.InferenceSession(_model(node, operands, opset).SerializeToString(), _OPTIONS,
                                                        providers=["CPUExecutionProvider"])
            self.session.run(None, operands)
            return True
        except Exception:  # of many kinds, all meaning that it cannot
            self.session = None
            return False

    def _refer(self, node, operands):
        if node.op_type in NOT_BY_REFERENCE or node.op_type == "Hardmax" and self.opset < 13:  # whose axes count as one
            raise NoOracle(f"{node.op_type} of this kind")
        from onnx.reference import ReferenceEvaluator
        try:
            self.reference = ReferenceEvaluator(_model(node, operands, self.opset))
            self.reference.run(None, operands)
        except Exception as error:
            self.reference = None
            # Versions that only added types: onnxruntime may have the one before.
            since = onnx.defs.get_schema(node.op_type, self.opset, "").since_version
            if node.op_type in OWN:
                self.reference = OWN[node.op_type](node)
            elif node.op_type not in OF_TWO_VERSIONS or not self._open(node, operands, since - 1):
                raise NoOracle(f"{node.op_type}: {error}")

    def __call__(self, operands):
        """Outputs by name."""
        feed = self._feed({name: operands[name] for name in self.names})
        names = [(i, name) for i, name in enumerate(self.node.output) if name]
        try:
            with np.errstate(all="ignore"):
                results = self.session.run(None, feed) if self.session else self.reference.run(None, feed)
        except Exception as error:
            raise NoOracle(f"{self.node.op_type}: {str(error)[:200]}")
        with np.errstate(all="ignore"):
            return {name: self._turned_back(i, np.asarray(r)).astype(self.dtypes[name]) for (i, name), r in zip(names, results)}


RECURRENCES = {"RNN", "GRU", "LSTM"}  # onnxruntime has no layout 1
# onnx.reference ignores lengths, ends LRN one channel early, and knows not all of loops.
NOT_BY_REFERENCE = RECURRENCES | {"LRN", "If", "Loop", "Scan"}


def _sequence_first(node):
    """A recurrence of layout 1 as one of layout 0."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for attribute in copy.attribute:
        if attribute.name == "layout":
            attribute.i = 0
    return copy



class RealPower:
    """Powers of integers by negative or fractional exponents: of the real power what is left of the point."""

    def __init__(self, node):
        self.node = node

    def run(self, _, operands):
        x, y = (operands[name] for name in self.node.input)
        return [np.trunc(np.power(x.astype(np.float64), y.astype(np.float64))).astype(x.dtype)]


OWN = {"Pow": RealPower}
# Operators whose newest version differs from the one before in types alone, and that onnx.reference lacks.
OF_TWO_VERSIONS = {"GlobalLpPool"}
# onnx.reference is taken where onnxruntime loses digits (x * scale - mean * scale cancels), or shows capped scores as raw ones.
DISTRUSTED = {"InstanceNormalization", "Attention"}


def moved(array, random, amount, rounding=None, absolute=False):
    """Each element by up to `amount` roundings of its type (or of `rounding`), up or down; of 1 if that is larger and `absolute`."""
    if array.dtype not in ROUNDING:
        return array
    noise = random.uniform(-1, 1, array.shape) * (amount * (rounding or ROUNDING[array.dtype]))
    wide = array.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(wide), 1) if absolute else wide
        return np.where(np.isfinite(wide), wide + size * noise, wide).astype(array.dtype)


class Oracle:
    """Nodes in order with their oracles."""

    def __init__(self, opset):
        self.opset, self.steps = opset, []

    def add(self, node, dtypes, values):
        """Computes a new node on `values` by name; returns its outputs by name."""
        operands = {name: values[name] for name in operands_of(node)}
        step = NodeOracle(node, operands, self.opset, dtypes)
        results = step(operands)
        self.steps.append(step)
        return results

    def run(self, leaves, random=None, amount=NOISE):
        """All values by name; with `random`, moved by roundings."""
        values = dict(leaves)
        for step in self.steps:
            operands = {name: values[name] for name in step.names}
            rounds = random is not None and step.node.op_type not in EXACT
            if rounds:
                operands = {name: moved(a, random, amount, step.rounding) for name, a in operands.items()}
            results = step(operands)
            if rounds:
                absolute = step.node.op_type in OF_ONE
                results = {name: moved(a, random, amount, step.rounding, absolute) for name, a in results.items()}
            values.update(results)
        return values
