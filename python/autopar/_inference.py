"""onnxruntime's interface to a session, for scripts that use it."""

import ctypes
import warnings
from typing import List, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._program import AutoparError
from ._specialize import Specialized

_ONNX = {
    "bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
    "int64": "int64", "uint64": "uint64", "float16": "float16", "bfloat16": "bfloat16", "float32": "float", "float64": "double",
}


class NodeArg(NamedTuple):
    """An input or an output, as onnxruntime writes it: type "tensor(float)", a size that is open by its name."""

    name: str
    shape: List[Union[int, str, None]]
    type: str


class InferenceSession:
    """A model, compiled for `ranks` ranks of this host and loaded: `onnxruntime.InferenceSession` for what both have.

    `model`: a path, the bytes of a model, or an onnx.ModelProto. `sess_options` may be onnxruntime's: threads within an operator are those of
    each rank, and nothing else of them has an effect, of which a warning tells. `providers` has the CPU's among them. `options`: further flags of `autopar compile`. Sizes that the model leaves open are those of
    the inputs: each new choice compiles a program, of which a warning tells, and the last `keep` stay loaded; `options=["--bind", "batch=1"]`
    fixes a size instead. Programs lie in a temporary folder that goes away with the session.
    """

    def __init__(self, model, sess_options=None, providers: Optional[Sequence] = None, *, ranks: int = 1, options: Sequence = (), threads: int = 0,
                 keep: int = 4):
        _check_providers(providers)
        self._programs = Specialized(model, ranks=ranks, options=options, threads=threads or _threads_of(sess_options), keep=keep)
        self._names = None  # of the outputs, as the model lists them

    @property
    def session(self):
        """The session underneath that ran last; None before the first run of a model with open sizes."""
        return self._programs.any_session()

    def get_inputs(self) -> List[NodeArg]:
        """The inputs, in the model's order."""
        return self._arguments("inputs")

    def get_outputs(self) -> List[NodeArg]:
        """The outputs, in the model's order."""
        return self._arguments("outputs")

    def _arguments(self, kind):
        if self._programs.is_closed:
            return [_argument(info) for info in getattr(self.session, kind)]
        return [_open_argument(value) for value in (self._programs.inputs if kind == "inputs" else self._programs.graph.output)]

    def get_providers(self) -> List[str]:
        """What runs the model."""
        return ["CPUExecutionProvider"]

    def run(self, output_names: Optional[Sequence[str]], input_feed, run_options=None) -> list:
        """The outputs of these names, or all, in that order. As in onnxruntime, arrays that are not dense in row-major order are copied."""
        if run_options is not None:
            raise AutoparError("run_options: none are known; leave them out")
        feeds = {name: _dense(value) for name, value in input_feed.items()}
        session = self._programs.session(feeds)
        names = list(output_names) if output_names else self._listed(session)
        results = session.run(feeds, list(dict.fromkeys(names)))
        return [results[name] for name in names]

    def _listed(self, session):
        """A model may list an output twice, which a program has once."""
        if self._names is None:
            try:
                self._names = [value.name for value in self._programs.graph.output]
            except AutoparError:  # without the package onnx
                self._names = [info.name for info in session.outputs]
        return self._names

    def io_binding(self) -> "IOBinding":
        """Memory for inputs and outputs that `run_with_iobinding` uses."""
        return IOBinding()

    def run_with_iobinding(self, binding: "IOBinding", run_options=None) -> None:
        """Runs with what is bound: outputs with memory are written there, others into new arrays."""
        if run_options is not None:
            raise AutoparError("run_options: none are known; leave them out")
        session = self._programs.session(binding.inputs)
        out = {name: array for name, array in binding.outputs.items() if array is not None}
        binding.results = session.run(binding.inputs, list(binding.outputs), out=out)


class IOBinding:
    """Which memory a run reads and writes, as onnxruntime's of that name; all of it is the CPU's."""

    def __init__(self):
        self.inputs, self.outputs, self.results = {}, {}, {}

    def bind_cpu_input(self, name: str, array) -> None:
        """Reads the input where the array is, in each run anew."""
        self.inputs[name] = array

    def bind_input(self, name: str, device_type: str, device_id: int, element_type, shape: Sequence[int], buffer_ptr: int) -> None:
        """Reads the input at an address."""
        self.inputs[name] = _at(name, device_type, element_type, shape, buffer_ptr)

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type=None, shape: Optional[Sequence[int]] = None,
                    buffer_ptr: Optional[int] = None) -> None:
        """Wants an output: at an address, or without one in a new array."""
        _on_cpu(name, device_type)
        self.outputs[name] = None if buffer_ptr is None else _at(name, device_type, element_type, shape, buffer_ptr)

    def clear_binding_inputs(self) -> None:
        """Forgets all inputs."""
        self.inputs = {}

    def clear_binding_outputs(self) -> None:
        """Forgets all outputs."""
        self.outputs, self.results = {}, {}

    def copy_outputs_to_cpu(self) -> List[np.ndarray]:
        """The outputs of the last run, in the order in which they were bound."""
        return [self.results[name] for name in self.outputs if name in self.results]

    def synchronize_inputs(self) -> None:
        """Nothing waits: memory of the CPU is ready."""

    def synchronize_outputs(self) -> None:
        """Nothing waits: a run ends with its outputs written."""


def _check_providers(providers):
    if isinstance(providers, str):
        raise AutoparError(f"providers are a list of names, not {providers!r}")
    names = [provider[0] if isinstance(provider, tuple) else provider for provider in providers or []]
    others = [name for name in names if name != "CPUExecutionProvider"]
    how = "compile for a GPU by autopar.compile(..., target='cuda')"
    if others and len(others) == len(names):
        raise AutoparError(f"provider {others[0]!r}: a session runs on CPUs; {how}")
    if others:
        warnings.warn(f"provider {others[0]!r} is left out: a session runs on CPUs; {how}", stacklevel=3)


def _threads_of(sess_options):
    """Of onnxruntime's options one is known; the others cannot all be read back, so that it is told that they do nothing."""
    if sess_options is None:
        return 0
    if not hasattr(sess_options, "intra_op_num_threads"):
        raise AutoparError(f"sess_options is a {type(sess_options).__name__}: onnxruntime.SessionOptions is expected, or threads=")
    warnings.warn("of sess_options only intra_op_num_threads has an effect here (initializers, overridden dimensions, profiling and all else do not); "
                  "threads=N says the same without this warning", stacklevel=3)
    return sess_options.intra_op_num_threads


def _on_cpu(name, device_type):
    if device_type != "cpu":
        raise AutoparError(f"{name!r}: memory of {device_type!r} cannot be bound; a session's memory is the CPU's")


def _at(name, device_type, element_type, shape, address):
    _on_cpu(name, device_type)
    dtype = np.dtype(element_type)
    elements = int(np.prod(shape, dtype=np.int64))
    if elements and not address:
        raise AutoparError(f"{name!r}: the address is null")
    memory = (ctypes.c_char * (elements * dtype.itemsize)).from_address(int(address))
    return np.frombuffer(memory, dtype, elements).reshape(tuple(shape))


def _dense(value):
    return np.asarray(value, order="C") if isinstance(value, np.ndarray) else value


def _argument(info):
    return NodeArg(info.name, list(info.shape), f"tensor({_ONNX[info.dtype.name]})")


def _open_argument(value):
    import onnx

    kind = value.type.tensor_type
    shape = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in kind.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    return NodeArg(value.name, shape, f"tensor({_ONNX[dtype.name]})")
