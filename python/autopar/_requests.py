"""Requests to a session that are under way while their caller goes on."""

import ctypes
import queue
import threading
from concurrent.futures import Future
from typing import Optional

from . import _library
from ._program import AutoparError

_END = None


class Request:
    """One step: its entry, addresses of its tensors, the arrays that are there, and the future that gets its outputs."""

    def __init__(self, entry, inputs, outputs, results, arrays):
        self.entry, self.inputs, self.outputs, self.results, self.arrays = entry, inputs, outputs, results, arrays
        self.future: Optional[Future] = None  # once it was added

    def again(self) -> "Request":
        """Another step of the same."""
        return Request(self.entry, self.inputs, self.outputs, self.results, self.arrays)


class _Call:
    """What is done between steps: a function of the library."""

    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments
        self.future: Optional[Future] = None


class Requests:
    """Two threads: one begins steps, in order, as the program has room; the other waits for them."""

    def __init__(self, library, pointer):
        self._library, self._pointer = library, pointer
        self._new, self._begun = queue.SimpleQueue(), queue.SimpleQueue()
        self._slots = library.autopar_session_slots(pointer)
        self._room = threading.Semaphore(self._slots)
        self._threads = [threading.Thread(target=work, name=f"autopar-{work.__name__}", daemon=True) for work in (self._begin, self._wait)]
        for thread in self._threads:
            thread.start()

    def add(self, request: Request, waits: bool = True) -> Future:
        """Has the step taken after all that were added before. `waits`: whether the caller will wait for it at once."""
        if waits and self.is_of_this_thread():
            raise AutoparError("a future's callback cannot wait for a step or a state, for that would be for ever: do it in another thread, or submit")
        request.future = Future()
        self._new.put(request)
        return request.future

    def call(self, function, *arguments) -> Future:
        """Has a function of the library called when no step is under way, after all that were added before."""
        return self.add(_Call(function, arguments))

    def is_of_this_thread(self) -> bool:
        """Whether a callback of a future asks."""
        return threading.current_thread() in self._threads

    def end(self) -> None:
        """Returns once all requests have ended."""
        self._new.put(_END)
        for thread in self._threads:
            thread.join()

    def _begin(self):
        while self._begin_one(self._new.get()):
            pass
        self._begun.put(_END)

    def _begin_one(self, request):
        """A function of its own, for a thread that waits holds no request: its future may have the last reference to the session."""
        if request is _END or not request.future.set_running_or_notify_cancel():
            return request is not _END
        if isinstance(request, _Call):
            self._between(request)
            return True
        self._room.acquire()
        request.ticket = ctypes.c_int64()
        if self._fails(request, self._library.autopar_session_submit, request.entry, request.inputs, request.outputs, ctypes.byref(request.ticket)):
            self._room.release()
        else:
            self._begun.put(request)
        return True

    def _between(self, call):
        for _ in range(self._slots):
            self._room.acquire()
        if not self._fails(call, call.function, *call.arguments):
            call.future.set_result(None)
        self._room.release(self._slots)

    def _wait(self):
        while self._wait_for_one(self._begun.get()):
            pass

    def _wait_for_one(self, request):
        if request is _END:
            return False
        failed = self._fails(request, self._library.autopar_session_wait, self._pointer, request.ticket)
        self._room.release()
        if not failed:
            request.future.set_result(request.results)
        return True

    def _fails(self, request, function, *arguments):
        try:
            _library.check(function(*arguments))
            return False
        except Exception as error:
            request.future.set_exception(error)
            return True
