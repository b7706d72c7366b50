"""The usual call of a session, which the library does with Python's own functions: an array for each input by name, all outputs into new arrays, of a program
with one entry.

After a step the caches hold nothing of Python's, so that each object that a call touches costs: by ctypes alone it takes 37 us beside a step of 0.45 ms, this way 17. What
does not fit it takes the way of all calls, which says what is wrong.
"""

import ctypes
import sys

import numpy as np

from . import _library

#: In the order of runtime/session/PythonApi.h; all are of CPython's stable ABI.
_FUNCTIONS = ["PyObject_Type", "PyObject_CallObject", "PyObject_GetItem", "PyObject_GetBuffer", "PyBuffer_Release", "PyDict_New", "PyDict_Size", "PyDict_SetItem",
              "PyTuple_GetItem", "Py_IncRef", "Py_DecRef", "PyErr_Clear", "PyEval_SaveThread", "PyEval_RestoreThread", "PyCFunction_NewEx", "PyCapsule_New",
              "PyCapsule_GetPointer"]


class _Functions(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in _FUNCTIONS]


class _Objects(ctypes.Structure):
    _fields_ = [(name, ctypes.py_object) for name in ("none", "dict", "array", "empty", "fail", "inputs", "outputs", "kinds")]


def _fail():
    _library.check(1)


def _never(feeds):
    """Stands for the usual call where there is none: there are several entries, tensors that buffers cannot describe, or this is not CPython."""


def usual_call(library, entries):
    """A function of a dict of arrays: the outputs of a step, or None: nothing was done, for something does not fit or another thread is within it."""
    only = entries[0]
    if len(entries) > 1 or only.fixed_inputs or sys.implementation.name != "cpython":
        return _never
    functions = _Functions(*(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _FUNCTIONS))
    inputs, outputs = (tuple(sys.intern(info.name) for info in infos) for infos in (only.inputs, only.outputs))
    objects = _Objects(None, dict, np.ndarray, np.empty, _fail, inputs, outputs, tuple((info.shape, info.dtype) for info in only.outputs))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Functions), ctypes.POINTER(_Objects), ctypes.c_void_p)(("autopar_python_call", library))
    return make(functions, objects, only.handle) or _never


def end_usual(function) -> None:
    """Returns once no call of it is under way; later ones return None."""
    capsule = getattr(function, "__self__", None)
    if capsule is not None:
        ctypes.PYFUNCTYPE(None, ctypes.py_object)(("autopar_python_end", _library.library()))(capsule)
