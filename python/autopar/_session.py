"""Programs within this process: loaded once, run as often as wanted."""

import contextlib
import ctypes
import json
import os
import threading
import warnings
import weakref
from concurrent.futures import Future
from typing import Dict, Iterable, Mapping, Optional, Tuple

import numpy as np

from . import _check, _entries, _library
from ._calls import NO_CALLS, Calls, usual_calls
from ._program import AutoparError
from ._requests import Request, Requests
from ._tensors import TensorInfo, accept, dtype_of, list_text, pointers, refuse_overlaps, shared_array


def _close(library, pointer, owner, calls):
    if os.getpid() != owner:
        return
    if any(running.is_of_this_thread() for running in calls.requests):  # the last reference was a future's
        threading.Thread(target=_close, args=(library, pointer, owner, calls)).start()
        return
    calls.end()
    library.autopar_session_close(pointer)


class _Handle:
    """The library's session, which is closed when nobody holds this: neither the Session nor arrays of its memory."""

    def __init__(self, library, pointer):
        self.pointer, self.owner, self.calls = pointer, os.getpid(), Calls()
        self.requests = self.calls.requests
        weakref.finalize(self, _close, library, pointer, self.owner, self.calls)


class Session:
    """An executable that `autopar compile` made, loaded into this process.

    `entry`: name of the only entry that is loaded, by default all are. `ranks`: of a program that was compiled for several numbers of ranks one of
    them, by default the first. `weights`: a file or folder, as the executable's --weights takes them. `threads`:
    how many compute (default: this host's cores). `timeout`: seconds that a rank waits for another one.

    Calls from several threads wait for each other. Python's lock is released while a step runs; Ctrl-C raises after it.
    """

    def __init__(self, path, *, entry: Optional[str] = None, ranks: Optional[int] = None, weights=None, threads: int = 0,
                 timeout: float = 60.0):
        self._library = _library.library()
        self.path = os.path.abspath(os.fspath(path))
        options = _library.Options(ctypes.sizeof(_library.Options))
        options.entry = entry.encode() if _check.text("entry", entry) else None
        options.weights = _check.path("weights", weights) if weights else None
        options.ranks = 0 if ranks is None else _check.whole("ranks", ranks, 1)
        options.threads, options.timeout_seconds = _check.whole("threads", threads, 0), _check.seconds("timeout", timeout)
        pointer = ctypes.c_void_p()
        _library.check(self._library.autopar_session_open(_check.path("path", self.path), ctypes.byref(options), ctypes.byref(pointer)))
        self._handle: Optional[_Handle] = _Handle(self._library, pointer)
        self._lock = self._handle.calls.lock
        self._traced = set()  # names of entries
        #: The entries that `run` chooses from.
        self.entries = tuple(self._entry(number) for number in range(self._library.autopar_session_entries(pointer)))
        first = self.entries[0]
        #: What `run` takes and gives in the first entry, in the model's order, and what steps of all of them keep.
        self.inputs, self.outputs = first.inputs, first.outputs
        self.states = tuple(info for info, _, _ in self._states())
        #: Inputs with values since --bind gave them: they may be left out, and only have those values.
        self.fixed_inputs = first.fixed_inputs
        self._usual = [usual_calls(self._library, of) for of in self.entries]
        self._handle.calls.usual = self._usual

    def _entry(self, number):
        pointer = ctypes.c_void_p(self._library.autopar_session_entry(self._open(), number))
        name = self._library.autopar_session_entry_name(pointer).decode()
        kinds = (_library.INPUT, _library.OUTPUT, _library.FIXED, _library.STATE)
        (inputs, _), (outputs, _), (fixed, _), (states, owners) = (self._describe(pointer, kind) for kind in kinds)
        return _entries.Entry(name, inputs, outputs, fixed, states, pointer, owners)

    def _describe(self, pointer, kind):
        tensors, owners = [], []
        for index in range(self._library.autopar_session_count(pointer, kind)):
            tensor = _library.Tensor(ctypes.sizeof(_library.Tensor))
            _library.check(self._library.autopar_session_tensor(pointer, kind, index, ctypes.byref(tensor)))
            shape = tuple(tensor.shape[dim] for dim in range(tensor.rank))
            tensors.append(TensorInfo(tensor.name.decode(), dtype_of(tensor.dtype.decode()), shape, tensor.role.decode()))
            owners.append(tensor.entry)
        return tuple(tensors), tuple(owners)

    def _states(self):
        """Each state once, with its entry and its number there."""
        return [(info, entry, index) for number, entry in enumerate(self.entries)
                for index, info in enumerate(entry.states) if entry.owners[index] == number]

    @property
    def threads(self) -> int:
        """Threads that compute, the caller's among them."""
        return int(self._library.autopar_session_threads(self._open()))

    def _open(self):
        handle = self._handle
        if handle is None or handle.calls.ended:
            raise AutoparError(f"the session of {self.path} is closed")
        if os.getpid() != handle.owner:
            raise AutoparError("the session was opened before this process was forked: open one here")
        return handle.pointer

    def run(self, feeds: Optional[Mapping[str, object]] = None, outputs: Optional[Iterable[str]] = None, *,
            out: Optional[Mapping[str, np.ndarray]] = None, entry: Optional[str] = None) -> Dict[str, np.ndarray]:
        """One step: arrays by input name in, arrays by output name out. It is one of the entry of that name, or of that whose shapes `feeds` have.

        `feeds` have NumPy arrays, or what has DLPack on the CPU (a torch tensor), of exactly the inputs' types and shapes; nothing is cast
        or copied. `outputs`: names of those that are wanted, by default all. `out`: arrays, by output name, that are written in place of new ones.
        """
        if outputs is None and out is None:
            results = self._usual_of(entry).run(feeds)
            if results is not None:
                return results
        return self._step(self._request(feeds, outputs, out, entry))

    def _usual_of(self, entry):
        """The usual calls of the entry of that name, or of the only one."""
        if entry is None and len(self.entries) == 1:
            return self._usual[0]
        return next((calls for of, calls in zip(self.entries, self._usual) if of.name == entry), NO_CALLS)

    def memory(self, name: str, *, entry: Optional[str] = None) -> np.ndarray:
        """An array for an input or output of an entry (the first) that steps read or write without a copy: with several ranks memory that they share,
        which stays as long as the array."""
        of = self._of(entry)
        for kind, tensors in ((_library.INPUT, of.inputs), (_library.OUTPUT, of.outputs)):
            for index, info in enumerate(tensors):
                if info.name == name:
                    self._open()
                    return shared_array(self._library.autopar_session_memory(of.handle, kind, index), self._handle, info)
        raise AutoparError(f"the model has no input or output {name!r}; its inputs: {list_text(of.inputs)}; its outputs: {list_text(of.outputs)}")

    def bind(self, feeds: Optional[Mapping[str, object]] = None, out: Optional[Mapping[str, np.ndarray]] = None, *, entry: Optional[str] = None) -> "Bound":
        """Inputs and outputs that stay where they are: `bound.run()` takes a step of what the arrays hold then. Outputs that `out` does not have are not
        wanted; without `out` all are, in arrays that each step writes anew."""
        self._open()
        return Bound(self, self._request(feeds, None if out is None else list(out), out, entry))

    def submit(self, feeds: Optional[Mapping[str, object]] = None, outputs: Optional[Iterable[str]] = None, *,
               out: Optional[Mapping[str, np.ndarray]] = None, entry: Optional[str] = None) -> Future:
        """As `run`, but the step is taken while the caller goes on: the future has its outputs, or its error.

        Steps are taken in the order of their calls. Of a program whose steps overlap (a pipeline that was compiled for throughput) `slots`
        are under way at a time, of others one. Arrays that are given may not change before the future is done.
        """
        try:
            request = self._request(feeds, outputs, out, entry)
            with self._lock:
                pointer, running = self._open(), self._handle.requests
                if not running:
                    self._handle.calls.end_usual()  # steps are taken in order
                    running.append(Requests(self._library, pointer))
                return running[0].add(request, waits=False)
        except AutoparError as error:
            refused = Future()
            refused.set_exception(error)
            return refused

    def _step(self, request):
        self._open()  # a forked process gets its error here, for a thread that it does not have may hold the lock
        with self._lock:
            self._open()
            if not self._handle.requests:
                _library.check(self._library.autopar_session_run(request.entry, request.inputs, request.outputs))
                return request.results
            future = self._handle.requests[0].add(request)
        return future.result()  # after those that were submitted

    @property
    def slots(self) -> int:
        """Steps that may be under way at a time."""
        return int(self._library.autopar_session_slots(self._open()))

    def _between_steps(self, function, *arguments):
        with self._lock:
            self._open()
            if not self._handle.requests:
                _library.check(function(*arguments))
                return
            future = self._handle.requests[0].call(function, *arguments)
        future.result()

    def _request(self, feeds, outputs, out, entry):
        if out is None:
            calls = self._usual_of(entry)
            made = calls.request(feeds, outputs)
            if made is not None:
                return Request(calls.handle, *made)
        self._open()
        given = _check.arrays_by_name("inputs", feeds, self.inputs)
        chosen = _entries.choose(self.entries, given, entry)
        known = {info.name for info in (*chosen.inputs, *chosen.fixed_inputs)}
        unknown = sorted(set(given) - known, key=str)
        if unknown:
            raise AutoparError(f"the model has no input {unknown[0]!r}; its inputs: {list_text(chosen.inputs)}{_entries.state_hint(chosen, unknown[0], 'write_state')}")
        arrays = [accept("input", info, given.get(info.name)) for info in chosen.inputs]
        for index, info in enumerate(chosen.fixed_inputs):
            if info.name in given:
                array = accept("input", info, given[info.name])
                _library.check(self._library.autopar_session_check_fixed(chosen.handle, index, array.ctypes.data))
        results = self._results(chosen, outputs, _check.arrays_by_name("outputs", out, chosen.outputs))
        if out:
            refuse_overlaps([(f"input {info.name!r}", array) for info, array in zip(chosen.inputs, arrays) if array is not None], results)
        return Request(chosen.handle, pointers(arrays), pointers([results.get(info.name) for info in chosen.outputs]), results, arrays)

    def _results(self, entry, wanted, out):
        if not out and type(wanted) is list and not wanted:
            return {}
        known = {info.name: info for info in entry.outputs}
        names = list(known) if wanted is None else _check.output_names(wanted)
        for name in names + list(out):
            if name not in known:
                raise AutoparError(f"the model has no output {name!r}; its outputs: {list_text(entry.outputs)}{_entries.state_hint(entry, name, 'read_state')}")
        results = {}
        for name in names:
            info = known[name]
            array = np.empty(info.shape, info.dtype) if name not in out else accept("output", info, out[name])
            if not array.flags.writeable:
                raise AutoparError(f"output {name!r}: the array is read-only")
            results[name] = array
        return results

    def _state(self, name, role, entry):
        """A state, the handle of an entry that has it, and its number there."""
        states = self._states()
        if entry is not None:
            chosen = self.entries[_entries.named(self.entries, entry)]
            states = [(info, chosen, index) for index, info in enumerate(chosen.states)]
        found = [(info, of, index) for info, of, index in states if info.name == name and role in (None, info.role)]
        if len(found) == 1:
            info, of, index = found[0]
            return info, of.handle, index
        roles = list(dict.fromkeys(info.role for info, _, _ in found))
        if len(roles) > 1:
            raise AutoparError(f"there are {len(found)} states {name!r}: say which by role=, one of {', '.join(map(repr, roles))}")
        if found:
            names = ", ".join(repr(of.name) for _, of, _ in found)
            raise AutoparError(f"{len(found)} entries have a state {name!r} of their own: say which by entry=, one of {names}")
        raise AutoparError(f"the program has no state {name!r}" + (f" of role {role!r}" if role else "") + f"; its states: {list_text(self.states)}")

    def read_state(self, name: str, role: Optional[str] = None, *, entry: Optional[str] = None) -> np.ndarray:
        """A copy of a state, whole, as the last step left it, also of those that were submitted; `role` where several have the name, `entry` where
        entries have each its own."""
        self._open()
        info, of, index = self._state(name, role, entry)
        array = np.empty(info.shape, info.dtype)
        self._between_steps(self._library.autopar_session_read_state, of, index, array.ctypes.data)
        return array

    def write_state(self, name: str, value, role: Optional[str] = None, *, entry: Optional[str] = None) -> None:
        """Makes a state this array, of exactly its type and shape."""
        self._open()
        info, of, index = self._state(name, role, entry)
        array = accept("state", info, value)
        self._between_steps(self._library.autopar_session_write_state, of, index, array.ctypes.data)

    def save(self, folder, step: int, *, keep: Optional[int] = None, entry: Optional[str] = None, iterable: str = "") -> None:
        """Saves all states of an entry (the first) as the checkpoint of `step` into a folder of checkpoints (docs/Checkpoints.md); of older ones the newest `keep` stay.
        `iterable`: a text, the place of the data, which `resumed_iterable` gives back after a resume."""
        kept = 0 if keep is None else _check.whole("keep", keep, 1)
        self._between_steps(self._library.autopar_session_save_with_iterable, self._of(entry).handle, _check.path("folder", folder), _check.whole("step", step, 0), kept,
                            iterable.encode())

    def resumed_iterable(self) -> str:
        """The text that the checkpoint has from which the session last went on; "" if it has none."""
        self._open()
        return self._library.autopar_session_resumed_iterable(self.entries[0].handle).decode()

    def resume(self, path, *, ignoring: Iterable[str] = (), entry: Optional[str] = None) -> int:
        """Gives an entry (the first) the states of a checkpoint, or of the newest whole one of a folder, whatever plan and ranks wrote it. Returns its number of steps.
        States of the roles `ignoring`, of `optimizer`, `average` and `loss_scale`, stay as they are."""
        if isinstance(ignoring, str):
            ignoring = [ignoring]
        step, notes = ctypes.c_int64(), ctypes.c_char_p()
        self._between_steps(self._library.autopar_session_resume_ignoring, self._of(entry).handle, _check.path("path", path), ",".join(ignoring).encode(), ctypes.byref(step),
                            ctypes.byref(notes))
        for note in (notes.value or b"").decode().splitlines():
            warnings.warn(note, stacklevel=2)
        return step.value

    def metric_names(self, *, entry: Optional[str] = None) -> Tuple[str, ...]:
        """The metrics of an entry (the first) that evaluates; none of others."""
        handle, names = self._of(entry).handle, []
        while name := self._library.autopar_session_metric(handle, len(names)):
            names.append(name.decode())
        return tuple(names)

    def begin_metrics(self, *, entry: Optional[str] = None) -> None:
        """The metrics of an entry begin anew."""
        self._between_steps(self._library.autopar_session_add_metrics, self._of(entry).handle, None, 0)

    def add_metrics(self, outputs: Mapping[str, np.ndarray], rows: int, *, entry: Optional[str] = None) -> None:
        """Adds a step of the entry to its metrics: its outputs of the role "metric", and how many rows of the batch, the first ones, counted."""
        of = self._of(entry)
        self._between_steps(self._library.autopar_session_add_metrics, of.handle, pointers([outputs.get(info.name) for info in of.outputs]), int(rows))

    def metric_values(self, *, entry: Optional[str] = None) -> Dict[str, float]:
        """The metrics over all rows of the steps that were added; NaN where none counted."""
        of, values, value = self._of(entry), {}, ctypes.c_double()
        for index, name in enumerate(self.metric_names(entry=entry)):
            self._between_steps(self._library.autopar_session_metric_value, of.handle, index, ctypes.byref(value))
            values[name] = value.value
        return values

    def report(self, *, entry: Optional[str] = None) -> dict:
        """What an entry's steps took since it was loaded, or since a trace began or ended: seconds of the last ones, of each rank compute, communication,
        waits and bytes, memory by kind, and what was predicted, as the executable's --json tells it (docs/RuntimeABI.md)."""
        return json.loads(self._text(self._library.autopar_session_report, entry))

    @contextlib.contextmanager
    def trace(self, path, *, entry: Optional[str] = None):
        """Writes a Chrome trace of an entry's steps within the `with` block, a row per rank: `with session.trace("step.json"): session.run(feeds)`."""
        of = self._of(entry)
        if of.name in self._traced:
            raise AutoparError("a trace of the entry is under way: it must end before another one begins")
        self._between_steps(self._library.autopar_session_trace, of.handle, 1)
        self._traced.add(of.name)
        try:
            yield
            text = self._text(self._library.autopar_session_trace_text, entry)
        finally:
            self._traced.remove(of.name)
            self._between_steps(self._library.autopar_session_trace, of.handle, 0)
        with open(path, "wb") as file:
            file.write(text)

    def _of(self, entry):
        return self.entries[0 if entry is None else _entries.named(self.entries, entry)]

    def _text(self, function, entry):
        of, texts = self._of(entry), []

        def ask():
            texts.append(function(of.handle))
            return texts[0] is None
        self._open()
        self._between_steps(ask)
        return texts[0]

    def close(self) -> None:
        """Frees the program and its weights, after steps that are under way; memory of `memory` stays while arrays of it do. Again is fine."""
        with self._lock:
            handle, self._handle = self._handle, None
        if handle:
            handle.calls.end_usual()
        del handle  # the last reference but for arrays

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        raise TypeError(f"a session cannot be pickled or copied: load {self.path} where it is needed")

    def __repr__(self):
        state = "" if self._handle else ", closed"
        return f"<autopar.Session of {self.path}: {list_text(self.inputs)} -> {list_text(self.outputs)}{state}>"


class Bound:
    """A session's inputs and outputs, checked once."""

    def __init__(self, session: Session, request: Request):
        self._session, self._request = session, request
        #: The bound outputs, by name.
        self.outputs: Dict[str, np.ndarray] = request.results

    def run(self) -> Dict[str, np.ndarray]:
        """One step of what the inputs hold; the outputs are written where they are bound, and returned."""
        return self._session._step(self._request.again())


def load(path, **options) -> Session:
    """Opens an executable that `compile` made: `Session(path, ...)`."""
    return Session(path, **options)
