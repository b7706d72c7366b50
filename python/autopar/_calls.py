"""The usual call of an entry, which the library does with Python's own functions: an array for each input by name (one of the role counted_rows may be left out), all outputs into new
arrays.

After a step the caches hold nothing of Python's, so that each object that a call touches costs: by ctypes alone it takes 37 us beside a step of 0.45 ms, this way 17. What
does not fit it takes the way of all calls, which says what is wrong.
"""

import ctypes
import sys
import threading
from typing import Callable, NamedTuple

import numpy as np

from . import _library

#: In the order of runtime/session/PythonApi.h; all are of CPython's stable ABI.
_FUNCTIONS = ["PyObject_CallObject", "PyObject_GetItem", "PyDict_New", "PyDict_Size", "PyDict_SetItem", "PyList_Size", "PyTuple_Size", "PyTuple_GetItem", "Py_BuildValue",
              "Py_IncRef", "Py_DecRef", "PyErr_Clear", "PyEval_SaveThread", "PyEval_RestoreThread", "PyCFunction_NewEx", "PyCapsule_New", "PyCapsule_GetPointer"]


class _Functions(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in _FUNCTIONS]


class _Objects(ctypes.Structure):
    _fields_ = [(name, ctypes.py_object) for name in ("none", "dict", "array", "empty", "fail", "inputs", "input_types", "outputs", "output_kinds")] + [("object_bytes", ctypes.c_ssize_t)]


class _Array(ctypes.Structure):
    """The end of the fields that every object has, and those of an array, as PythonApi.h has them."""

    _fields_ = [("type", ctypes.c_void_p), ("data", ctypes.c_void_p), ("rank", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("base", ctypes.c_void_p), ("dtype", ctypes.c_void_p), ("flags", ctypes.c_int)]


def _arrays_are_known():
    """Whether arrays have the fields that PythonApi.h says."""
    array = np.zeros((3, 4), np.int16)[:, :2]
    fields = _Array.from_address(id(array) + object.__basicsize__ - _Array.data.offset)
    dense = fields.flags & 0x101
    found = fields.type, fields.data, fields.rank, fields.shape[:2], fields.strides[:2], fields.base, fields.dtype, dense
    return found == (id(np.ndarray), array.ctypes.data, 2, [3, 2], [8, 2], id(array.base), id(array.dtype), 0x100)


def _fail():
    _library.check(1)


def _never(*_):
    """Does nothing, where there are no usual calls: inputs have fixed values, or this is not CPython."""


class UsualCalls(NamedTuple):
    """Two functions of a dict of arrays. `run` returns the outputs of a step of the entry; `request`, which also takes None or an empty list of outputs, returns what a Request
    is made of. They return None and do nothing if something does not fit, or if another thread is within `run`."""

    run: Callable
    request: Callable
    handle: object  # of the entry


NO_CALLS = UsualCalls(_never, _never, None)


def _types(info):
    """All objects that are the type of an input: NumPy has two for integers of 64 bits."""
    return (info.dtype, *(dtype for dtype in map(np.dtype, "lLqQ") if dtype == info.dtype))


def usual_calls(library, entry):
    """The usual calls of an entry."""
    if entry.fixed_inputs or sys.implementation.name != "cpython" or not _arrays_are_known():
        return NO_CALLS
    functions = _Functions(*(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _FUNCTIONS))
    inputs, outputs = (tuple(sys.intern(info.name) for info in infos) for infos in (entry.inputs, entry.outputs))
    objects = _Objects(None, dict, np.ndarray, np.empty, _fail, inputs, tuple(map(_types, entry.inputs)), outputs, tuple((info.shape, info.dtype) for info in entry.outputs),
                       object.__basicsize__)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Functions), ctypes.POINTER(_Objects), ctypes.c_void_p)(("autopar_python_calls", library))
    made = make(functions, objects, entry.handle)
    return UsualCalls(*made, entry.handle) if made else NO_CALLS


def end_usual(calls) -> None:
    """Returns once no run of them is under way; later ones return None."""
    capsule = getattr(calls.run, "__self__", None)
    if capsule is not None:
        ctypes.PYFUNCTYPE(None, ctypes.py_object)(("autopar_python_end", _library.library()))(capsule)


class Calls:
    """A session's calls, all of which end before it is closed: a daemon thread may be within one when Python exits."""

    def __init__(self):
        self.lock = threading.Lock()
        self.usual, self.requests, self.ended = [], [], False  # requests: of submit, one, once it was called

    def end_usual(self):
        for calls in self.usual:
            end_usual(calls)

    def end(self):
        self.end_usual()
        with self.lock:
            self.ended = True
        for running in self.requests:
            running.end()
