"""The library of sessions, autopar/session.h, by ctypes: one file serves every version of Python."""

import ctypes
import os
import shutil

from ._program import AutoparError

ABI = 1
INPUT, OUTPUT, STATE, FIXED = 0, 1, 2, 3


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("entry", ctypes.c_char_p),
        ("weights", ctypes.c_char_p),
        ("threads", ctypes.c_int64),
        ("timeout_seconds", ctypes.c_double),
        ("verify_weights", ctypes.c_int32),
        ("ranks", ctypes.c_int64),
    ]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("role", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_int64),
        ("entry", ctypes.c_int64),
    ]


class Answer(ctypes.Structure):
    _fields_ = [("number", ctypes.c_int64), ("failure", ctypes.c_char_p)]


_SESSION, _REQUESTS = ctypes.c_void_p, ctypes.c_void_p
_ADDRESSES = ctypes.c_void_p  # of an array of addresses: the ctypes array, or its address as a number
_FUNCTIONS = {
    "autopar_session_abi": (ctypes.c_int32, []),
    "autopar_error": (ctypes.c_char_p, []),
    "autopar_session_open": (ctypes.c_int32, [ctypes.c_char_p, ctypes.POINTER(Options), ctypes.POINTER(_SESSION)]),
    "autopar_session_close": (None, [_SESSION]),
    "autopar_session_entries": (ctypes.c_int64, [_SESSION]),
    "autopar_session_entry": (_SESSION, [_SESSION, ctypes.c_int64]),
    "autopar_session_entry_name": (ctypes.c_char_p, [_SESSION]),
    "autopar_session_threads": (ctypes.c_int64, [_SESSION]),
    "autopar_session_count": (ctypes.c_int64, [_SESSION, ctypes.c_int]),
    "autopar_session_tensor": (ctypes.c_int32, [_SESSION, ctypes.c_int, ctypes.c_int64, ctypes.POINTER(Tensor)]),
    "autopar_session_check_fixed": (ctypes.c_int32, [_SESSION, ctypes.c_int64, ctypes.c_void_p]),
    "autopar_session_run": (ctypes.c_int32, [_SESSION, _ADDRESSES, _ADDRESSES]),
    "autopar_session_memory": (ctypes.c_void_p, [_SESSION, ctypes.c_int, ctypes.c_int64]),
    "autopar_session_submit": (ctypes.c_int32, [_SESSION, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64)]),
    "autopar_session_wait": (ctypes.c_int32, [_SESSION, ctypes.c_int64]),
    "autopar_session_slots": (ctypes.c_int64, [_SESSION]),
    "autopar_session_report": (ctypes.c_char_p, [_SESSION]),
    "autopar_session_trace": (ctypes.c_int32, [_SESSION, ctypes.c_int32]),
    "autopar_session_trace_text": (ctypes.c_char_p, [_SESSION]),
    "autopar_session_read_state": (ctypes.c_int32, [_SESSION, ctypes.c_int64, ctypes.c_void_p]),
    "autopar_session_save_with_iterable": (ctypes.c_int32, [_SESSION, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p]),
    "autopar_session_resumed_iterable": (ctypes.c_char_p, [_SESSION]),
    "autopar_session_metric": (ctypes.c_char_p, [_SESSION, ctypes.c_int64]),
    "autopar_session_add_metrics": (ctypes.c_int32, [_SESSION, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int64]),
    "autopar_session_metric_value": (ctypes.c_int32, [_SESSION, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)]),
    "autopar_session_resume_ignoring": (ctypes.c_int32, [_SESSION, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_char_p)]),
    "autopar_session_write_state": (ctypes.c_int32, [_SESSION, ctypes.c_int64, ctypes.c_void_p]),
    # Of runtime/session/Requests.h.
    "autopar_requests_open": (ctypes.c_int32, [_SESSION, ctypes.POINTER(_REQUESTS)]),
    "autopar_requests_add": (ctypes.c_int32, [_REQUESTS, ctypes.c_int64, _SESSION, _ADDRESSES, _ADDRESSES]),
    "autopar_requests_pause": (ctypes.c_int32, [_REQUESTS, ctypes.c_int64]),
    "autopar_requests_resume": (None, [_REQUESTS]),
    "autopar_requests_cancel": (ctypes.c_int32, [_REQUESTS, ctypes.c_int64]),
    "autopar_requests_is_waiting": (ctypes.c_int32, [_REQUESTS, ctypes.c_int64]),
    "autopar_requests_end": (None, [_REQUESTS]),
    "autopar_requests_next": (ctypes.c_int64, [_REQUESTS, ctypes.POINTER(Answer), ctypes.c_int64]),
    "autopar_requests_close": (None, [_REQUESTS]),
    # _calls.py calls these two with Python's lock.
    "autopar_python_calls": (ctypes.py_object, [ctypes.c_void_p, ctypes.c_void_p, _SESSION]),
    "autopar_python_end": (None, [ctypes.py_object]),
}
_loaded = None


def _candidates():
    here = os.path.dirname(os.path.abspath(__file__))
    if os.environ.get("AUTOPAR_LIBRARY"):
        return [os.environ["AUTOPAR_LIBRARY"]]
    programs = os.environ.get("AUTOPAR_BIN") or os.path.dirname(shutil.which("autopar") or "")
    beside = [os.path.join(programs, "..", "lib")] if programs else []
    folders = [here] + beside + [os.path.join(here, "..", "..", "build", "lib")]
    return [os.path.join(folder, "libautopar.so.1") for folder in folders] + ["libautopar.so.1"]


def _declare(found, path):
    try:
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError:
        raise AutoparError(f"{path} is older than this package, it has no {name}: build both of one commit") from None
    if found.autopar_session_abi() != ABI:
        raise AutoparError(f"{path} has version {found.autopar_session_abi()} of the session's functions, this package {ABI}: build both of one commit")


def library():
    """The library: $AUTOPAR_LIBRARY, beside this package, beside the programs ($AUTOPAR_BIN, or those on PATH), in the build folder, or the system's."""
    global _loaded
    if _loaded is not None:
        return _loaded
    refusals = []
    for path in _candidates():
        if os.sep in path and not os.path.exists(path):
            continue
        try:
            found = ctypes.CDLL(path)
        except OSError as error:
            refusals.append(str(error))
            continue
        _declare(found, path)
        _loaded = found
        return found
    raise AutoparError("cannot find libautopar.so.1: build it (tools/quickstart.sh) or set AUTOPAR_LIBRARY; " + "; ".join(refusals))


def check(status):
    """Raises what the last call of this thread failed of."""
    if status:
        raise AutoparError(library().autopar_error().decode(errors="replace"))


def without_other_threads(name):
    """The function of that name, called with Python's lock, which saves two changes of threads. It may wait for no thread that needs the lock."""
    result, arguments = _FUNCTIONS[name]
    return ctypes.PYFUNCTYPE(result, *arguments)((name, library()))
