"""Names of onnxruntime that scripts use beside its InferenceSession, for those that import autopar in its place."""

import enum
from typing import Dict, List, NamedTuple, Sequence

import numpy as np

from ._program import AutoparError


class GraphOptimizationLevel(enum.IntEnum):
    """onnxruntime's levels. A program is always optimised as far as autopar can."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """onnxruntime's modes. A program's order of operators is fixed."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Options of an InferenceSession, by onnxruntime's names.

    `intra_op_num_threads`: of each rank; 0: this host's cores shared out. `add_free_dimension_override_by_name` gives an open size. The other
    ones that are here say how onnxruntime goes about what autopar decides when it compiles: they change no result, and do nothing. One that is not here is an error.
    """

    def __init__(self):
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.enable_cpu_mem_arena = self.enable_mem_pattern = self.enable_mem_reuse = True
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""
        self.use_deterministic_compute = False
        self.sizes: Dict[str, int] = {}
        self.entries: Dict[str, str] = {}

    def __setattr__(self, name, value):
        if name not in _OPTIONS:
            raise AutoparError(f"SessionOptions.{name} is not known here; known: {', '.join(_OPTIONS)}")
        super().__setattr__(name, value)

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Gives a size that the model leaves open, as --bind NAME=SIZE."""
        self.sizes[name] = int(size)


    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keeps the entry for `get_session_config_entry`: none changes a result, and none has an effect."""
        self.entries[str(key)] = str(value)

    def get_session_config_entry(self, key: str) -> str:
        """The value that was given for the key."""
        if key not in self.entries:
            raise AutoparError(f"no session config entry {key!r} was given")
        return self.entries[key]


class RunOptions:
    """Options of a run, by onnxruntime's names. They say how much onnxruntime tells of it, and have no effect. One that is not here is an error."""

    def __init__(self):
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""

    def __setattr__(self, name, value):
        if name not in _RUN_OPTIONS:
            raise AutoparError(f"RunOptions.{name} is not known here; known: {', '.join(_RUN_OPTIONS)}")
        super().__setattr__(name, value)


class ModelMetadata(NamedTuple):
    """A model says this about itself."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: Dict[str, str]


_RUN_OPTIONS = ("log_severity_level", "log_verbosity_level", "logid")
_OPTIONS = ("intra_op_num_threads", "inter_op_num_threads", "execution_mode", "graph_optimization_level", "enable_cpu_mem_arena", "enable_mem_pattern",
            "enable_mem_reuse", "log_severity_level", "log_verbosity_level", "logid", "use_deterministic_compute", "sizes", "entries")


class OrtValue:
    """A tensor in memory of the CPU."""

    def __init__(self, array: np.ndarray):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: np.ndarray, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        """A copy of the array."""
        _check_device(device_type)
        return OrtValue(np.array(array, order="C"))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        """A tensor of that shape, with whatever is in its memory."""
        _check_device(device_type)
        return OrtValue(np.empty(tuple(shape), element_type))

    def numpy(self) -> np.ndarray:
        """The tensor as an array, which is no copy."""
        return self._array

    def update_inplace(self, array: np.ndarray) -> None:
        """Copies an array of the same type and shape into the tensor."""
        if array.dtype != self._array.dtype or array.shape != self._array.shape:
            raise AutoparError(f"the value is {self._array.dtype}{list(self._array.shape)}, the array {array.dtype}{list(array.shape)}; nothing is cast here")
        self._array[...] = array

    def shape(self) -> List[int]:
        """Its sizes."""
        return list(self._array.shape)

    def data_type(self) -> str:
        """Its type as onnxruntime writes it, "tensor(float)"."""
        return type_text(self._array.dtype)

    def element_type(self) -> np.dtype:
        """The type of its elements."""
        return self._array.dtype

    def data_ptr(self) -> int:
        """Its address."""
        return self._array.ctypes.data

    def device_name(self) -> str:
        """The device that has it."""
        return "cpu"

    def is_tensor(self) -> bool:
        """True: there are no other values."""
        return True

    def has_value(self) -> bool:
        """True: none is missing."""
        return True


_ONNX = {
    "bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
    "int64": "int64", "uint64": "uint64", "float16": "float16", "bfloat16": "bfloat16", "float32": "float", "float64": "double",
}


def type_text(dtype) -> str:
    """A tensor's type as onnxruntime writes it, "tensor(float)"."""
    return f"tensor({_ONNX[dtype.name]})"


def _check_device(device_type):
    if device_type != "cpu":
        raise AutoparError(f"a value in memory of {device_type!r}: a session's memory is the CPU's")


def get_available_providers() -> List[str]:
    """The providers on which InferenceSession runs."""
    return ["CPUExecutionProvider"]


def get_device() -> str:
    """The device on which InferenceSession runs."""
    return "CPU"
