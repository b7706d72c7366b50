"""Element types: their names, arrays and errors of rounding."""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = {"fp16": np.dtype(np.float16), "bf16": BF16, "fp32": np.dtype(np.float32), "fp64": np.dtype(np.float64)}
INTEGERS = [np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")]
BOOL = np.dtype(bool)
I64 = np.dtype(np.int64)
ONNX = {np.dtype(np.float16): TensorProto.FLOAT16, BF16: TensorProto.BFLOAT16, np.dtype(np.float32): TensorProto.FLOAT,
        np.dtype(np.float64): TensorProto.DOUBLE, BOOL: TensorProto.BOOL,
        **{dtype: helper.np_dtype_to_tensor_dtype(dtype) for dtype in INTEGERS}}
NUMPY = {kind: dtype for dtype, kind in ONNX.items()}
# As the schemas of operators write them: "tensor(float)".
TEXTS = {"tensor(" + TensorProto.DataType.Name(kind).lower() + ")": dtype for dtype, kind in ONNX.items()}
ROUNDING = {np.dtype(np.float16): 2.0**-11, BF16: 2.0**-8, np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}


def is_float(dtype):
    return dtype in ROUNDING


def largest(dtype):
    return float(ml_dtypes.finfo(dtype).max)


def smallest_normal(dtype):
    return float(ml_dtypes.finfo(dtype).smallest_normal)


def tensor(array, name=""):
    """A TensorProto of an array of any of the types."""
    array = np.asarray(array)
    if array.dtype == BF16:
        return helper.make_tensor(name, TensorProto.BFLOAT16, array.shape, array.tobytes(), raw=True)
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)


def array_of(proto):
    if proto.data_type == TensorProto.BFLOAT16:
        return np.frombuffer(proto.raw_data, BF16).reshape(tuple(proto.dims))
    return numpy_helper.to_array(proto)


def info(name, dtype, shape):
    return helper.make_tensor_value_info(name, ONNX[np.dtype(dtype)], shape)


def save_arrays(path, arrays):
    """As .npz; bfloat16 as two bytes without a meaning, which is how the executables read it."""
    np.savez(path, **{name: a.view("V2") if a.dtype == BF16 else a for name, a in arrays.items()})


def load_arrays(path):
    with np.load(path) as file:
        return {name: file[name].view(BF16) if file[name].dtype == np.dtype("V2") else file[name] for name in file.files}


def newest_opset():
    return onnx.defs.onnx_opset_version()
