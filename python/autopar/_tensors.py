"""A program's tensors, and arrays that stand for them."""

import ctypes
from typing import NamedTuple, Tuple

import numpy as np

from ._program import AutoparError

_NUMPY = {
    "bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64",
}


#: The role of an input that may be left out: all rows count.
COUNTED_ROWS = "counted_rows"


class TensorInfo(NamedTuple):
    """A tensor of a program: its name, NumPy type, shape, and what it is for (of an input "", or "counted_rows": which rows of the batch count)."""

    name: str
    dtype: np.dtype
    shape: Tuple[int, ...]
    role: str

    def __str__(self):
        return f"{self.name} {self.dtype}{list(self.shape)}"


def dtype_of(name):
    if name != "bf16":
        return np.dtype(_NUMPY[name])
    try:
        import ml_dtypes
    except ImportError:
        raise AutoparError("the program has tensors of type bfloat16, which NumPy gets from ml_dtypes: pip install ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


def shared_array(address, handle, info):
    if not address:
        return np.empty(info.shape, info.dtype)
    size = int(np.prod(info.shape, dtype=np.int64)) * info.dtype.itemsize
    memory = (ctypes.c_char * size).from_address(address)
    memory.handle = handle  # which may not be closed before it
    return np.frombuffer(memory, info.dtype).reshape(info.shape)


def list_text(tensors):
    return ", ".join(str(info) for info in tensors) or "none"


def pointers(arrays):
    """The addresses of a list of arrays, null where there is None."""
    addresses = (ctypes.c_void_p * max(len(arrays), 1))()
    for index, array in enumerate(arrays):
        if array is not None:
            addresses[index] = address_of(array)
    return addresses


def address_of(array):
    """The address of a dense array's elements. It is array.ctypes.data, which takes four times as long and knows all types."""
    if array.dtype.kind in "fiub" and array.flags.writeable and array.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    return array.ctypes.data


def accept(kind, info, value):
    """The array of a tensor, without a copy; what is not exactly the tensor's is an error."""
    if type(value) is np.ndarray and value.dtype == info.dtype and value.shape == info.shape:
        flags = value.flags
        if flags.c_contiguous and flags.aligned:
            return value
    where = f"{kind} {info.name!r}"
    if value is None and info.role == COUNTED_ROWS:
        return None
    if value is None:
        raise AutoparError(f"{where} is missing: it is {info}")
    if isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
        raise AutoparError(f"{where} is a masked array: give what stands for the elements that are masked, .filled(value)")
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
        raise AutoparError(f"{where} is not dense in row-major order (strides {array.strides}): give {'tensor.contiguous()' if hasattr(value, 'contiguous') else 'numpy.ascontiguousarray of it'}")
    return array


def refuse_overlaps(inputs, results):
    """Refuses an output whose memory a step reads or writes as another tensor, too: pairs of descriptions and arrays, and arrays by names. All are dense, so
    that their bounds tell it."""
    tensors = list(inputs)
    for name, array in results.items():
        for other, memory in tensors:
            if np.may_share_memory(array, memory):
                raise AutoparError(f"output {name!r} shares memory with {other}: give each tensor memory of its own")
        tensors.append((f"output {name!r}", array))
