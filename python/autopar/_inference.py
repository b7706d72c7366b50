"""onnxruntime's interface to a session, for scripts that use it."""

import ctypes
import warnings
from typing import List, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._onnxruntime import ModelMetadata, OrtValue, RunOptions, SessionOptions, get_available_providers, type_text
from ._program import AutoparError
from ._specialize import Specialized


class NodeArg(NamedTuple):
    """An input or an output, as onnxruntime writes it: type "tensor(float)", a size that is open by its name."""

    name: str
    shape: List[Union[int, str, None]]
    type: str


class InferenceSession:
    """A model, compiled for `ranks` ranks of this host and loaded: `onnxruntime.InferenceSession` for what both have.

    `model`: a path, the bytes of a model, or an onnx.ModelProto. `sess_options` are `autopar.SessionOptions`, or onnxruntime's: of those threads within an
    operator are those of each rank, and nothing else has an effect, of which a warning tells. `providers` has the CPU's among them. `options`: further flags of `autopar compile`. Sizes that the model leaves open are those of
    the inputs: each new choice compiles a program, of which a warning tells, and the last `keep` stay loaded; `options=["--bind", "batch=1"]`
    fixes a size instead. Programs lie in a temporary folder until they are loaded.
    """

    def __init__(self, model, sess_options=None, providers: Optional[Sequence] = None, *, ranks: int = 1, options: Sequence = (), threads: int = 0,
                 keep: int = 4):
        _check_providers(providers)
        sizes = sess_options.sizes if isinstance(sess_options, SessionOptions) else {}
        bindings = [word for name, size in sizes.items() for word in ("--bind", f"{name}={size}")]
        self._options = sess_options
        self._programs = Specialized(model, ranks=ranks, options=[*options, *bindings], threads=threads or _threads_of(sess_options), keep=keep)
        self._names = None  # of the outputs, as the model lists them

    @property
    def session(self):
        """The session underneath that ran last; None before the first run of a model with open sizes."""
        return self._programs.any_session()

    def __getattr__(self, name):
        if hasattr(type(self), name):  # a property raised the error, which is its own
            return object.__getattribute__(self, name)
        raise AttributeError(f"an InferenceSession has no {name!r} here; of onnxruntime's functions it has those that docs/PyTorchUsers.md lists")

    def get_inputs(self) -> List[NodeArg]:
        """The inputs, in the model's order."""
        return self._arguments("inputs")

    def get_outputs(self) -> List[NodeArg]:
        """The outputs, in the model's order."""
        return self._arguments("outputs")

    def _arguments(self, kind):
        if self._programs.is_closed:
            return [_argument(info) for info in getattr(self.session, kind)]
        return [_open_argument(value) for value in (self._programs.inputs if kind == "inputs" else self._programs.outputs)]

    def get_providers(self) -> List[str]:
        """What runs the model."""
        return get_available_providers()

    def get_modelmeta(self) -> ModelMetadata:
        """What the model's file says about itself."""
        return self._programs.metadata

    def get_session_options(self):
        """The options that were given, or those that hold without."""
        return self._options or SessionOptions()

    def run(self, output_names: Optional[Sequence[str]], input_feed, run_options=None) -> list:
        """The outputs of these names, or all, in that order. As in onnxruntime, arrays that are not dense in row-major order are copied."""
        _check_run_options(run_options)
        feeds = {name: _dense(value) for name, value in input_feed.items()}
        session = self._programs.session(feeds)
        names = list(output_names) if output_names else self._listed(session)
        results = session.run(feeds, list(dict.fromkeys(names)))
        return [results[name] for name in names]

    def _listed(self, session):
        """A model may list an output twice, which a program has once."""
        if self._names is None:
            try:
                self._names = [value.name for value in self._programs.outputs]
            except AutoparError:  # without the package onnx
                self._names = [info.name for info in session.outputs]
        return self._names

    def run_with_ort_values(self, output_names: Optional[Sequence[str]], input_dict_ort_values, run_options=None) -> List[OrtValue]:
        """Does what `run` does, with `autopar.OrtValue`s."""
        feeds = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feeds, run_options)]

    def io_binding(self) -> "IOBinding":
        """Memory for inputs and outputs that `run_with_iobinding` uses."""
        return IOBinding()

    def run_with_iobinding(self, binding: "IOBinding", run_options=None) -> None:
        """Runs with what is bound: outputs with memory are written there, others into new arrays."""
        _check_run_options(run_options)
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

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        """Reads the input where the value is, in each run anew."""
        self.inputs[name] = value.numpy()

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        """Writes the output where the value is."""
        self.outputs[name] = value.numpy()

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

    def get_outputs(self) -> List[OrtValue]:
        """The outputs of the last run, in the order in which they were bound."""
        return [OrtValue(array) for array in self.copy_outputs_to_cpu()]

    def synchronize_inputs(self) -> None:
        """Nothing waits: memory of the CPU is ready."""

    def synchronize_outputs(self) -> None:
        """Nothing waits: a run ends with its outputs written."""


def _check_run_options(given):
    """Options of onnxruntime's own package are none of this one's."""
    if given is not None and not isinstance(given, RunOptions):
        raise AutoparError(f"run_options are a {type(given).__name__}: give autopar.RunOptions, or leave them out")


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
    if isinstance(sess_options, SessionOptions):
        return int(sess_options.intra_op_num_threads)
    if not hasattr(sess_options, "intra_op_num_threads"):
        raise AutoparError(f"sess_options is a {type(sess_options).__name__}: autopar.SessionOptions is expected, or threads=")
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
    return NodeArg(info.name, list(info.shape), type_text(info.dtype))


def _open_argument(value):
    import onnx

    kind = value.type.tensor_type
    shape = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in kind.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    return NodeArg(value.name, shape, type_text(dtype))
