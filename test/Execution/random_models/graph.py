"""A model in the making: values with the arrays that they hold, nodes that are computed as they are added."""

import functools

import numpy as np
import onnx
from onnx import helper, shape_inference

from .oracle import NoOracle, Oracle, operands_of
from .types import BF16, BOOL, FLOATS, I64, INTEGERS, NUMPY, ONNX, TEXTS, info, is_float, largest, smallest_normal, tensor

SIZES = [1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12, 16]
LARGE_SIZES = [17, 24, 31, 33, 48, 64, 65, 96, 100, 129, 256, 300]


class Skip(Exception):
    """This node cannot be added here: another is tried."""


@functools.lru_cache(maxsize=None)
def schema_of(op, opset):
    """The operator's schema in a version of the standard, or None if there is none."""
    try:
        schema = onnx.defs.get_schema(op, opset, "")
    except onnx.defs.SchemaError:
        return None
    return None if schema.deprecated else schema


@functools.lru_cache(maxsize=None)
def types_of(op, opset, parameter):
    """Element types, of those that are supported, that the standard allows for a type parameter such as "T"."""
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema_of(op, opset).type_constraints}
    return [TEXTS[text] for text in allowed[parameter] if text in TEXTS]


def shape_of(kind):
    """The shape of a tensor's type, or None where it is not known."""
    dims = kind.shape.dim
    return tuple(d.dim_value for d in dims) if kind.HasField("shape") and all(d.HasField("dim_value") for d in dims) else None


class Graph:
    """`base`: the element type that most values have; None: integers of all types. `wild`: floats are infinite, NaN, tiny or
    huge here and there. `empty`: some dimensions have size 0."""

    def __init__(self, rng, opset, base, large=False, wild=False, empty=False):
        self.rng, self.random = rng, np.random.default_rng(rng.getrandbits(64))
        self.opset, self.base, self.wild = opset, base, wild
        self.most = 60000 if large else 4000  # elements of a value
        self.sizes = rng.sample(SIZES, 5) + (rng.sample(LARGE_SIZES, 2) if large else []) + [0] * empty
        self.oracle, self.nodes = Oracle(opset), []
        self.values = {}  # arrays by name
        self.inputs, self.weights = [], []  # names of leaves
        self.data = []  # names that nodes may read
        self.count = 0

    # Names, shapes and types

    def name(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def has(self, op):
        return schema_of(op, self.opset) is not None

    def version(self, op):
        schema = schema_of(op, self.opset)
        if schema is None:
            raise Skip(f"no {op} in version {self.opset}")
        return schema.since_version

    def chance(self, probability):
        return self.rng.random() < probability

    def maybe(self, value, probability=0.5):
        """`value` or, as an attribute that is left out, None."""
        return value if self.chance(probability) else None

    def shape(self, rank=None, low=0, high=6):
        if rank is None:
            likely = [n for n in (0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6) if low <= n <= high]
            rank = self.rng.choice(likely or [low])
        shape = [self.rng.choice(self.sizes) for _ in range(rank)]
        while np.prod(shape) > self.most:
            largest_dim = int(np.argmax(shape))
            shape[largest_dim] = max(1, shape[largest_dim] // 2)
        return shape

    def dtype(self, op, parameter="T", among=None):
        """A type for the parameter of an operator: most often the model's own."""
        allowed = types_of(op, self.opset, parameter)
        allowed = [d for d in allowed if among is None or d in among]
        if not allowed:
            raise Skip("no type")
        own = [d for d in allowed if (d == self.base if self.base is not None else not is_float(d) and d != BOOL)]
        if own and self.chance(0.85):
            return self.rng.choice(own)
        if self.base is None and any(not is_float(d) for d in allowed):
            allowed = [d for d in allowed if not is_float(d)]
        elif self.base is None and self.chance(0.8):
            raise Skip("floats only")
        other = [d for d in allowed if not is_float(d) or d == self.base or self.chance(0.15)]
        return self.rng.choice(own or other or allowed)

    # Leaves

    def numbers(self, shape, dtype, low=None, high=None):
        """Random numbers that suit most operators, or uniform ones of a range."""
        if dtype == BOOL:
            return self.random.integers(0, 2, shape).astype(BOOL)
        if is_float(dtype) and self.wild:
            return self.wild_numbers(shape, dtype)
        if is_float(dtype):
            if low is not None:
                return np.asarray(self.random.uniform(low, high, shape)).astype(dtype)
            if self.chance(0.1):
                return np.asarray(self.random.integers(-4, 5, shape)).astype(dtype)
            return np.asarray(self.random.standard_normal(shape).clip(-4, 4) * self.rng.choice([0.3, 1, 1, 3])).astype(dtype)
        limits = np.iinfo(dtype)
        if low is None and self.chance(0.1):  # of large types so that squares fit: what overflow gives the standard does not say
            low, high = (limits.min, limits.max) if dtype.itemsize < 4 else (-(2 ** (4 * dtype.itemsize - 4)), 2 ** (4 * dtype.itemsize - 4))
        low, high = (-7, 9) if low is None else (low, high)
        return np.asarray(self.random.integers(max(int(low), limits.min), min(int(high), limits.max), shape, dtype=dtype, endpoint=True))

    def wild_numbers(self, shape, dtype):
        """Plain numbers, and some at the ends of what the type holds."""
        plain = self.random.standard_normal(shape) * self.rng.choice([1, 3, 30])
        tiny, huge = smallest_normal(dtype), largest(dtype)
        edges = [0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, tiny / 8, huge, -huge, huge / 3, np.sqrt(huge) * 1.5, 1, -1, 89, -89]
        with np.errstate(all="ignore"):
            return np.where(self.random.random(shape) < 0.4, self.random.choice(edges, shape), plain).astype(dtype)

    def leaf(self, shape, dtype, low=None, high=None, array=None, kind=None, data=True):
        """A new input, weight or Constant node."""
        array = self.numbers(tuple(shape), dtype, low, high) if array is None else array
        kind = kind or self.rng.choice(["input"] * 5 + ["weight"] * 3 + ["constant"])
        if kind == "constant":
            name = self._constant(array)
        else:
            name = self.name("x" if kind == "input" else "w")
            self.values[name] = array
            (self.inputs if kind == "input" else self.weights).append(name)
        if data:
            self.data.append(name)
        return name

    def _constant(self, array):
        if self.version("Constant") >= 12 and self.chance(0.5):
            if array.dtype == I64 and array.ndim < 2:
                return self.node("Constant", [], **({"value_int": int(array)} if array.ndim == 0 else {"value_ints": array.tolist()}),
                                 data=False) if array.size else self.node("Constant", [], value=tensor(array), data=False)
            if array.dtype == np.float32 and array.ndim < 2 and array.size:
                return self.node("Constant", [], **({"value_float": float(array)} if array.ndim == 0 else {"value_floats": array.tolist()}),
                                 data=False)
        return self.node("Constant", [], value=tensor(array), data=False)

    def known(self, array, dtype=I64):
        """An operand that must be known while compiling: axes, shapes, sizes."""
        array = np.asarray(array, dtype)
        name = self.leaf(array.shape, array.dtype, array=array, kind=self.rng.choice(["weight", "weight", "weight", "constant"]), data=False)
        if array.dtype == I64 and array.ndim == 1 and array.size and self.chance(0.1):
            return self.node("Add", [name, self.leaf((), I64, array=np.array(0, I64), kind="weight", data=False)], data=False)
        return name

    def pick(self, dtype=None, rank=None, low=0, high=6, shape=None, fits=None, domain=None):
        """A value: one that is there, or a new leaf. `domain`: its least and largest element."""
        def suits(name):
            array = self.values[name]
            return ((dtype is None or array.dtype == dtype) and (rank is None or array.ndim == rank) and low <= array.ndim <= high
                    and (shape is None or array.shape == tuple(shape)) and (fits is None or fits(array))
                    and (domain is None or (array.size and domain[0] <= array.min() and array.max() <= domain[1])))
        found = [name for name in self.data[-8:] + self.data if suits(name)]
        if found and self.chance(0.9):
            return self.rng.choice(found)
        for _ in range(20):
            wanted = list(shape) if shape is not None else self.shape(rank, low, high)
            probe = np.empty(wanted, np.int8)
            if fits is None or fits(probe):
                break
        else:
            raise Skip("no shape fits")
        own = dtype if dtype is not None else self.base if self.base is not None else self.rng.choice(INTEGERS)
        return self.leaf(wanted, own, *(domain or ()))

    def of(self, name):
        return self.values[name]

    # Nodes

    def node(self, op, inputs, outputs=1, data=True, dtypes=None, **attributes):
        """Adds a node and returns the name of its result, or of all if `outputs` is no 1: their number, or a list of flags."""
        flags = outputs if isinstance(outputs, list) else [True] * outputs
        names = [self.name() if flag else "" for flag in flags]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        node = helper.make_node(op, inputs, names, name=f"{op}_{self.count}", **attributes)
        shapes = {}
        if dtypes is None:
            dtypes, shapes = self._types(node)
        try:
            results = self.oracle.add(node, dict(zip(names, dtypes)), self.values)
        except NoOracle as error:
            raise Skip(str(error))
        if not all(self.acceptable(a) and shapes.get(name) in (None, a.shape) for name, a in results.items()):
            self.oracle.steps.pop()
            raise Skip("values out of range")
        self.nodes.append(node)
        self.values.update(results)
        if data:
            self.data += [name for name in names if name]
        return names[0] if outputs == 1 else names

    def _types(self, node):
        """Types of the outputs in order, and the shapes that are known by name; Skip where the standard does not allow the operands' types."""
        schema = schema_of(node.op_type, self.opset)
        if schema is None:
            raise Skip(f"no {node.op_type}")
        types = {name: info(name, self.values[name].dtype, self.values[name].shape).type for name in operands_of(node)}
        allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        for i, name in enumerate(node.input):
            formal = schema.inputs[min(i, len(schema.inputs) - 1)]
            text = "tensor(" + onnx.TensorProto.DataType.Name(ONNX[self.values[name].dtype]).lower() + ")" if name else ""
            if name and text not in allowed.get(formal.type_str, [formal.type_str]):
                raise Skip(f"{node.op_type} takes no {text}")
        try:
            small = {name: tensor(self.values[name], name) for name in node.input if name and self.values[name].size <= 16}
            inferred = shape_inference.infer_node_outputs(schema, node, types, small, opset_imports=[helper.make_opsetid("", self.opset)])
        except Exception as error:
            raise Skip(f"{node.op_type}: {error}")
        try:
            dtypes = [NUMPY[inferred[name].tensor_type.elem_type] if name else None for name in node.output]
        except KeyError:
            raise Skip(f"{node.op_type}: no type of result")
        return dtypes, {name: shape_of(inferred[name].tensor_type) for name in node.output if name}

    def acceptable(self, array):
        if array.size > 8 * self.most:
            return False
        if not is_float(array.dtype) or self.wild:
            return True
        wide = array.astype(np.float64)
        return bool(np.isfinite(wide).all() and (np.abs(wide) < min(largest(array.dtype) / 16, 1e6)).all())

    # The model

    def finish(self):
        """The model and its inputs' arrays; outputs are what nothing reads, and some more."""
        read = {name for node in self.nodes for name in operands_of(node)}
        made = [name for node in self.nodes for name in node.output if name]
        outputs = [name for name in made if name not in read and name in self.data]
        others = [name for name in self.data if name in read or name not in made]
        outputs += [name for name in others if self.chance(0.12 if name in made else 0.03)]
        outputs = [name for name in outputs if self.values[name].size] or outputs
        if not outputs:
            raise Skip("no outputs")
        return self.model(self.nodes, outputs), {name: self.values[name] for name in self.inputs}

    def model(self, nodes, outputs):
        values = self.values
        graph = helper.make_graph(
            nodes, "random", [info(name, values[name].dtype, values[name].shape) for name in self.inputs],
            [info(name, values[name].dtype, values[name].shape) for name in outputs], [tensor(values[name], name) for name in self.weights])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
