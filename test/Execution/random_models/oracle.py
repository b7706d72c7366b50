"""What a model must compute, node by node.

Each node is computed by onnxruntime where that has a kernel for its types, else by onnx.reference; in a wider type, rounded
after the node: floats of 16 bits in fp32, fp32 in fp64 where onnxruntime has a kernel for that. (Its own sums in fp32 are off by
100 roundings where 500 elements are equal.) A node that neither computes has no oracle, and no model contains it.

The condition of a model is measured: all is computed again with the operands and results of each node that rounds moved by
some roundings of its type, up or down at random. What moves by much may differ by as much. What else the standard leaves open
moves too: whether a result below the smallest normal number is 0, whether a partial sum overflows, the last digits of the
places where Resize reads.
"""

import os

os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from .evaluators import OWN, WholeProducts
from .noise import NOISE, flushed, moved, overflowing, overflown, unordered
from .types import BF16, INTEGERS, NUMPY, ONNX, ROUNDING, array_of, info, is_float, largest, tensor

onnxruntime.set_default_logger_severity(4)
np.seterr(all="ignore")  # infinity and NaN are drawn on purpose

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
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
# Made of a sum with 1: their small results have the error of 1. (onnxruntime's recurrences have a hyperbolic tangent of fp32 whose
# small results are off by 1e-7.)
OF_ONE = {"Sigmoid", "Softplus", "Mish", "Swish", "Celu", "Elu", "Selu", "Gelu", "HardSigmoid", "HardSwish", "Erf", "RNN", "GRU", "LSTM"}
# Whose partial sums may overflow where another order of the terms does not.
SUMS = {"Sum", "Mean", "ReduceSum", "ReduceMean"}
# Whose sums of fp32 are added up one after the other, so many terms at most: of like terms the roundings add up.
ADDED_UP = {"ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp", "GlobalAveragePool",
            "GlobalLpPool", "MeanVarianceNormalization", "LayerNormalization", "RMSNormalization", "InstanceNormalization",
            "GroupNormalization", "BatchNormalization", "LpNormalization", "Softmax", "LogSoftmax"}
MOST_TERMS, TERMS_OF_A_ROUNDING = 2048, 32
# Which read between elements, at places that are numbers of fp32.
PLACES = {"Resize", "Upsample", "GridSample"}
# Whose kernel for doubles makes numbers of rows with NaN and infinity.
NOT_WIDER = {"LogSoftmax", "Softmax"}
# From which operand on they say what to do and are no numbers to compute with.
GIVEN = {"Range": 0, "Resize": 1, "Upsample": 1}


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


# Types to compute in, by the types that are rounded after the node.
OF_16_BITS = {np.dtype(np.float16): F32, BF16: F32}
OF_32_BITS = {F32: F64}
OF_64_BITS = {F64: F32}  # narrower, where nothing else is right


def _widened(node, wider):
    """The node with attributes that name a type naming the wider one, tensors and subgraphs too."""
    kinds = {ONNX[a]: ONNX[b] for a, b in wider.items()}
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for attribute in copy.attribute:
        if attribute.name in ("to", "dtype", "softmax_precision", "stash_type"):
            attribute.i = kinds.get(attribute.i, attribute.i)
        if attribute.type == onnx.AttributeProto.TENSOR and attribute.t.data_type in kinds:
            attribute.t.CopyFrom(_widened_tensor(attribute.t, wider))
        if attribute.type == onnx.AttributeProto.GRAPH:
            _widen_graph(attribute.g, wider, kinds)
    return copy


def _widened_tensor(t, wider):
    return tensor(array_of(t).astype(wider[NUMPY[t.data_type]]), t.name)


def _widen_graph(graph, wider, kinds):
    for i, inner in enumerate(graph.node):
        graph.node[i].CopyFrom(_widened(inner, wider))
    for i, t in enumerate(graph.initializer):
        if t.data_type in kinds:
            graph.initializer[i].CopyFrom(_widened_tensor(t, wider))
    for value in list(graph.input) + list(graph.output) + list(graph.value_info):
        kind = value.type.tensor_type
        kind.elem_type = kinds.get(kind.elem_type, kind.elem_type)


class NodeOracle:
    """Computes one node on arrays of given types and shapes."""

    def __init__(self, node, operands, opset, dtypes, widens=True):
        """`dtypes`: of the outputs, by name. `widens`: fp32 is computed in fp64 where that can be."""
        self.node, self.opset, self.dtypes = node, opset, dtypes
        self.names = operands_of(node)
        kinds = {a.dtype for a in operands.values()} | set(dtypes.values())
        self.wider = OF_16_BITS if kinds & set(OF_16_BITS) else {}
        self.session = self.reference = self.unsure = self.rounded = None
        self.turned = node.op_type in RECURRENCES and any(a.name == "layout" and a.i for a in node.attribute)
        plain = _sequence_first(node) if self.turned else node
        if node.op_type == "LRN":
            self.reference = OWN["LRN"](node)
            return
        if node.op_type == "Gemm" and kinds <= set(INTEGERS) and WholeProducts(node).is_exact():
            self.reference = WholeProducts(node)
            return
        widens = widens and F32 in kinds and not self.wider and node.op_type not in EXACT | SINGLE | NOT_WIDER
        if widens and self._try(plain, operands, OF_32_BITS):
            if any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
                self.rounded = _or_none(NodeOracle, node, operands, opset, dtypes, widens=False)
            return
        if self._try(plain, operands, self.wider):
            return
        narrow = F64 in kinds and node.op_type in NOT_BY_REFERENCE | PLACES
        if not narrow or not self._try(plain, operands, OF_64_BITS):
            self._refer(_widened(plain, self.wider), self._feed(operands))

    def _try(self, node, operands, wider):
        """Whether onnxruntime computes the node in the wider types."""
        before, self.wider = self.wider, wider
        since = onnx.defs.get_schema(node.op_type, self.opset, "").since_version
        version = since if not captured(node) else min(self.opset, 26)
        if not distrusted(node, operands) and self._open(_widened(node, wider), self._feed(operands), version):
            return True
        self.wider = before
        return False

    @property
    def rounding(self):
        """Of the oracle, where it is larger than the type's: of doubles it computes some functions in fp32."""
        coarse = self.reference or self.wider is OF_64_BITS or self.node.op_type in SINGLE
        return ROUNDING[F32] if coarse and F64 in self.dtypes.values() else None

    def _feed(self, operands):
        operands = {name: a.astype(self.wider.get(a.dtype, a.dtype), copy=False) for name, a in operands.items()}
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
            if node.op_type == "Attention" and len(node.output) == 4:
                self.reference = RawScores(self.reference, node, operands, self.opset)
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
            rounded = {name: self._turned_back(i, np.asarray(r)).astype(self.dtypes[name]) for (i, name), r in zip(names, results)}
        if self.node.op_type == "Clip" and self.wider:
            rounded = {name: self._clipped(a, operands) for name, a in rounded.items()}
        return rounded

    def _clipped(self, array, operands):
        """By a bound that is left out: the largest number of the type itself, where the wider one has larger ones."""
        bounds = {a.name: a.f for a in self.node.attribute}
        bounds |= {part: operands[name] for part, name in zip(("min", "max"), self.node.input[1:]) if name}
        most = largest(array.dtype)  # `where` gives numbers of a wider type
        if "max" not in bounds:
            array = np.where(np.isposinf(array), most, array)
        if "min" not in bounds and not np.isneginf(bounds.get("max", 0)).any():
            array = np.where(np.isneginf(array), -most, array)
        return array.astype(self.dtypes[self.node.output[0]])

    def moved(self, operands, random, amount):
        """Outputs by name where operands and results move by `amount` times their noise, and by what else is open."""
        op = self.node.op_type
        before = operands
        given = {name for i, name in enumerate(self.node.input) if i >= GIVEN.get(op, len(self.node.input))}
        operands = {name: a if name in given else moved(a, random, amount, self.rounding) for name, a in operands.items()}
        if op == "Pow":  # a negative number has no other powers than the whole ones
            base, power = self.node.input
            operands[power] = np.where(before[power] == np.round(before[power]), before[power], operands[power])
        if op in SUMS:
            count = max(len(operands), max(a.size for a in operands.values()))
            operands = {name: overflowing(a, count, random) if is_float(a.dtype) else a for name, a in operands.items()}
        # What rounds inside a body is seen where it is computed as it stands.
        results = (self.rounded if self.rounded and random.random() < 0.5 else self)(operands)
        if op == "Pow":
            results = {name: overflown(a, *(before[part] for part in self.node.input), random) for name, a in results.items()}
        if op == "ReduceProd":
            results = {name: unordered(a, operands[self.node.input[0]], random) for name, a in results.items()}
        if op in PLACES:
            results = {name: self._replaced(a, before, random, amount) for name, a in results.items()}
        rounding = self.rounding
        if op in ADDED_UP and F32 in self.dtypes.values() and not rounding:
            terms = min(max(a.size for a in operands.values()), MOST_TERMS)
            rounding = ROUNDING[F32] * max(1, terms / TERMS_OF_A_ROUNDING / NOISE)
        results = {name: moved(a, random, amount, rounding, op in OF_ONE) for name, a in results.items()}
        return {name: flushed(a, random) if is_float(a.dtype) else a for name, a in results.items()}

    def _replaced(self, result, operands, random, amount):
        """Read at places that are off by roundings of the image's length, between its least and its largest element; or at others
        where it is not sure which is the nearest, or whether it is within the image."""
        image = operands[self.node.input[0]]
        if not result.size:
            return result
        if self.unsure is None:
            self.unsure = self._unsure(operands, result.shape)
        result = np.where(self.unsure, random.choice(image.ravel(), result.shape), result)
        if all(a.name != "mode" or a.s == b"nearest" for a in self.node.attribute):
            return result
        spread = np.nan_to_num(np.ptp(image.astype(np.float64)), posinf=0)
        noise = random.uniform(-1, 1, result.shape) * amount * NOISE * ROUNDING[F32] * max(image.shape) * spread
        return (result.astype(np.float64) + noise).astype(result.dtype)

    def _unsure(self, operands, shape):
        """Where onnxruntime, which finds places in fp32, and onnx.reference read elsewhere."""
        from onnx.reference import ReferenceEvaluator
        image = operands[self.node.input[0]]
        # The standard's text has a result of length 1 read at 0, both of them half an element before.
        modes = {a.name: a.s for a in self.node.attribute}
        if modes.get("mode") == b"cubic" and modes.get("coordinate_transformation_mode") == b"pytorch_half_pixel" and 1 in shape:
            return np.ones(shape, bool)
        numbered = dict(operands) | {self.node.input[0]: (1 + np.arange(image.size) % 127).reshape(image.shape).astype(image.dtype)}
        try:
            other = ReferenceEvaluator(_model(self.node, operands, self.opset)).run(None, numbered)[0]
        except Exception:  # which it does not know
            return np.zeros(shape, bool)
        if other.shape != shape:
            return np.zeros(shape, bool)
        unsure = np.abs(self(numbered)[self.node.output[0]].astype(np.float64) - other.astype(np.float64)) > 0.05
        places = np.prod([to for to, size in zip(shape, image.shape) if to != size])  # of few all may be unsure
        return unsure if unsure.mean() <= 0.5 or places <= 4 else np.zeros(shape, bool)


def _or_none(make, *arguments, **options):
    try:
        return make(*arguments, **options)
    except NoOracle:
        return None


RECURRENCES = {"RNN", "GRU", "LSTM"}  # onnxruntime has no layout 1
# onnx.reference ignores lengths, adds the first group's bias to all, moves dilated windows that ceil_mode lets pass the end, and
# knows not all of loops.
NOT_BY_REFERENCE = RECURRENCES | {"ConvTranspose", "LpPool", "AveragePool", "If", "Loop", "Scan"}


def _sequence_first(node):
    """A recurrence of layout 1 as one of layout 0."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for attribute in copy.attribute:
        if attribute.name == "layout":
            attribute.i = 0
    return copy


class RawScores:
    """Attention whose last output in mode 0 is Q * K^T before a cap, as the standard says; onnx.reference caps it."""

    def __init__(self, reference, node, operands, opset):
        self.reference, self.raw = reference, None
        attributes = {a.name: a for a in node.attribute}
        if "softcap" in attributes and attributes.get("qk_matmul_output_mode", onnx.AttributeProto()).i == 0:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.attribute.remove(attributes["softcap"])
            self.raw = onnx.reference.ReferenceEvaluator(_model(copy, operands, opset))

    def run(self, _, operands):
        results = self.reference.run(None, operands)
        return results[:-1] + self.raw.run(None, operands)[-1:] if self.raw else results


# Operators whose newest version differs from the one before in types alone, and that onnx.reference lacks.
OF_TWO_VERSIONS = {"GlobalLpPool"}
# onnx.reference is taken where onnxruntime loses digits (x * scale - mean * scale cancels), or shows capped scores as raw ones.
DISTRUSTED = {"InstanceNormalization", "Attention"}
DISTRUSTED_OF_INTEGERS = {"Mod", "Shrink"}  # with fmod it goes by doubles, which hold 53 bits; by floats


def distrusted(node, operands):
    """Whether onnxruntime's kernel is known to be wrong for the node."""
    if node.op_type == "Resize":
        # Of a size that is cut, it aligns the corners of the length after the cut; the standard's tests of that before. Of a region
        # it finds other places than onnx.reference, whatever the size.
        attributes = {a.name: a.s for a in node.attribute}
        cut = (len(node.input) > 2 and operands.get(node.input[2], np.empty(0)).size > 0
               or attributes.get("keep_aspect_ratio_policy", b"stretch") != b"stretch")
        places = attributes.get("coordinate_transformation_mode")
        return places == b"tf_crop_and_resize" or cut and places == b"align_corners"
    if node.op_type == "Gemm":  # of no products it forgets beta
        return operands[node.input[0]].size == 0
    return node.op_type in DISTRUSTED or node.op_type in DISTRUSTED_OF_INTEGERS and all(a.dtype in INTEGERS for a in operands.values())


def order_of(step, operands):
    """Of the operands of an Equal of floats which is larger; None of other nodes."""
    if step.node.op_type != "Equal":
        return None
    a, b = (operands[name] for name in step.node.input)
    return np.nan_to_num(np.sign(a.astype(np.float64) - b.astype(np.float64))) if is_float(a.dtype) else None


class Oracle:
    """Nodes in order with their oracles."""

    def __init__(self, opset):
        self.opset, self.steps = opset, []

    def add(self, node, dtypes, values):
        """Computes a new node on `values` by name; returns its outputs by name."""
        operands = {name: values[name] for name in operands_of(node)}
        step = NodeOracle(node, operands, self.opset, dtypes)
        results = step(operands)
        step.order = order_of(step, operands)
        self.steps.append(step)
        return results

    def run(self, leaves, random=None, amount=1):
        """All values by name; with `random`, moved by `amount` times what the oracle may be off."""
        values = dict(leaves)
        for step in self.steps:
            operands = {name: values[name] for name in step.names}
            rounds = random is not None and step.node.op_type not in EXACT
            results = step.moved(operands, random, amount) if rounds else step(operands)
            if random is not None and step.order is not None:  # what passes the other operand may equal it
                passed = step.order != order_of(step, operands)
                results = {name: np.where(passed, random.random(a.shape) < 0.5, a) for name, a in results.items()}
            values.update(results)
        return values
