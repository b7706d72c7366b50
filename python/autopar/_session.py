"""Programs within this process: loaded once, run as often as wanted."""

import ctypes
import os
import weakref
from typing import Dict, Iterable, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from . import _library
from ._program import AutoparError

_NUMPY = {
    "bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64",
}


class TensorInfo(NamedTuple):
    """A tensor of a program: its name, NumPy type, shape, and what it is for (of an input "")."""

    name: str
    dtype: np.dtype
    shape: Tuple[int, ...]
    role: str

    def __str__(self):
        return f"{self.name} {self.dtype}{list(self.shape)}"


def _dtype(name):
    if name != "bf16":
        return np.dtype(_NUMPY[name])
    try:
        import ml_dtypes
    except ImportError:
        raise AutoparError("the program has tensors of type bfloat16, which NumPy gets from ml_dtypes: pip install ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


def _close(library, handle, owner):
    if os.getpid() == owner:
        library.autopar_session_close(handle)


class Session:
    """An executable that `autopar compile` made, loaded into this process.

    `entry`: name of the entry, by default the first. `weights`: a file or folder, as the executable's --weights takes them. `threads`:
    how many compute (default: this host's cores). `timeout`: seconds that a rank waits for another one.

    Calls from several threads wait for each other. Python's lock is released while a step runs; Ctrl-C raises after it.
    """

    def __init__(self, path, *, entry: Optional[str] = None, weights=None, threads: int = 0, timeout: float = 60.0):
        self._library = _library.library()
        self.path = os.path.abspath(os.fspath(path))
        options = _library.Options(ctypes.sizeof(_library.Options))
        options.entry = entry.encode() if entry else None
        options.weights = os.fsencode(weights) if weights else None
        options.threads, options.timeout_seconds = int(threads), float(timeout)
        handle = ctypes.c_void_p()
        _library.check(self._library.autopar_session_open(os.fsencode(self.path), ctypes.byref(options), ctypes.byref(handle)))
        self._owner = os.getpid()
        self._handle = handle
        self._finalizer = weakref.finalize(self, _close, self._library, handle, self._owner)
        #: What `run` takes and gives, in the model's order, and what steps keep.
        self.inputs = self._describe(_library.INPUT)
        self.outputs = self._describe(_library.OUTPUT)
        self.states = self._describe(_library.STATE)

    def _describe(self, kind):
        tensors = []
        for index in range(self._library.autopar_session_count(self._handle, kind)):
            tensor = _library.Tensor(ctypes.sizeof(_library.Tensor))
            _library.check(self._library.autopar_session_tensor(self._handle, kind, index, ctypes.byref(tensor)))
            shape = tuple(tensor.shape[dim] for dim in range(tensor.rank))
            tensors.append(TensorInfo(tensor.name.decode(), _dtype(tensor.dtype.decode()), shape, tensor.role.decode()))
        return tuple(tensors)

    @property
    def threads(self) -> int:
        """Threads that compute, the caller's among them."""
        return int(self._library.autopar_session_threads(self._open()))

    def _open(self):
        if not self._finalizer.alive:
            raise AutoparError(f"the session of {self.path} is closed")
        if os.getpid() != self._owner:
            raise AutoparError("the session was opened before this process was forked: open one here")
        return self._handle

    def run(self, feeds: Optional[Mapping[str, object]] = None, outputs: Optional[Iterable[str]] = None, *,
            out: Optional[Mapping[str, np.ndarray]] = None) -> Dict[str, np.ndarray]:
        """One step: arrays by input name in, arrays by output name out.

        `feeds` have NumPy arrays, or what has DLPack on the CPU (a torch tensor), of exactly the inputs' types and shapes; nothing is cast
        or copied. `outputs`: names of those that are wanted, by default all. `out`: arrays, by output name, that are written in place of new ones.
        """
        handle = self._open()
        given = dict(feeds or {})
        arrays = [_accept("input", info, given.pop(info.name, None)) for info in self.inputs]
        if given:
            raise AutoparError(f"the model has no input {sorted(given)[0]!r}; its inputs: {_list(self.inputs)}")
        results = self._results(outputs, dict(out or {}))
        step = self._library.autopar_session_run
        _library.check(step(handle, _pointers(arrays), _pointers(results.get(info.name) for info in self.outputs)))
        return results

    def _results(self, wanted, out):
        known = {info.name: info for info in self.outputs}
        names = list(known) if wanted is None else list(wanted)
        for name in names + list(out):
            if name not in known:
                raise AutoparError(f"the model has no output {name!r}; its outputs: {_list(self.outputs)}")
        results = {}
        for name in names:
            info = known[name]
            array = np.empty(info.shape, info.dtype) if name not in out else _accept("output", info, out[name])
            if not array.flags.writeable:
                raise AutoparError(f"output {name!r}: the array is read-only")
            results[name] = array
        return results

    def _state(self, name, role):
        found = [index for index, info in enumerate(self.states) if info.name == name and role in (None, info.role)]
        if len(found) == 1:
            return found[0]
        if found:
            roles = ", ".join(repr(self.states[index].role) for index in found)
            raise AutoparError(f"there are {len(found)} states {name!r}: say which by role=, one of {roles}")
        raise AutoparError(f"the program has no state {name!r}" + (f" of role {role!r}" if role else "") + f"; its states: {_list(self.states)}")

    def read_state(self, name: str, role: Optional[str] = None) -> np.ndarray:
        """A copy of a state, whole, as the last step left it; `role` where several have the name."""
        index = self._state(name, role)
        info = self.states[index]
        array = np.empty(info.shape, info.dtype)
        _library.check(self._library.autopar_session_read_state(self._open(), index, array.ctypes.data))
        return array

    def write_state(self, name: str, value, role: Optional[str] = None) -> None:
        """Makes a state this array, of exactly its type and shape."""
        index = self._state(name, role)
        array = _accept("state", self.states[index], value)
        _library.check(self._library.autopar_session_write_state(self._open(), index, array.ctypes.data))

    def close(self) -> None:
        """Frees the program and its weights. Again is fine."""
        self._finalizer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        state = "" if self._finalizer.alive else ", closed"
        return f"<autopar.Session of {self.path}: {_list(self.inputs)} -> {_list(self.outputs)}{state}>"


def load(path, **options) -> Session:
    """Opens an executable that `compile` made: `Session(path, ...)`."""
    return Session(path, **options)


def _list(tensors):
    return ", ".join(str(info) for info in tensors) or "none"


def _pointers(arrays):
    addresses = [None if array is None else array.ctypes.data for array in arrays]
    return (ctypes.c_void_p * max(len(addresses), 1))(*addresses)


def _accept(kind, info, value):
    """The array of a tensor, without a copy; what is not exactly the tensor's is an error."""
    where = f"{kind} {info.name!r}"
    if value is None:
        raise AutoparError(f"{where} is missing: it is {info}")
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
    elif not hasattr(value, "__dlpack__"):
        raise AutoparError(f"{where} is a {type(value).__name__}: give a NumPy array, or what has DLPack, of {info.dtype}{list(info.shape)}")
    else:
        try:
            array = np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError) as error:
            raise AutoparError(f"{where}: {type(value).__name__} gives no memory of the CPU: {error}") from None
    if array.dtype != info.dtype or array.shape != info.shape:
        raise AutoparError(f"{where} is {array.dtype}{list(array.shape)} but the program expects {info.dtype}{list(info.shape)}; nothing is cast here")
    if not array.flags.aligned:
        raise AutoparError(f"{where} is not aligned to its elements: give a copy of it")
    if not array.flags.c_contiguous:
        raise AutoparError(f"{where} is not dense in row-major order (strides {array.strides}): give numpy.ascontiguousarray of it")
    return array
