"""Requests to a session that are under way while their caller goes on."""

import ctypes
import itertools
import os
import threading
from concurrent.futures import Future
from concurrent.futures._base import CANCELLED, CANCELLED_AND_NOTIFIED, FINISHED, PENDING
from typing import Optional

from . import _library
from ._program import AutoparError

_MOST = 1024  # answers that are taken at a time


class Request:
    """One step: its entry, where the addresses of its tensors are, its outputs by name, what holds its inputs, and the future that gets the outputs."""

    __slots__ = ("entry", "inputs", "outputs", "results", "held", "future")

    def __init__(self, entry, inputs, outputs, results, held):
        self.entry, self.inputs, self.outputs, self.results, self.held = entry, inputs, outputs, results, held
        self.future: Optional[Future] = None  # once it was added

    def again(self) -> "Request":
        """Another step of the same."""
        return Request(self.entry, self.inputs, self.outputs, self.results, self.held)


class _Call:
    """A function of the library that is called between steps."""

    __slots__ = ("function", "arguments", "future")

    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments
        self.future: Optional[Future] = None


class _StepFuture(Future):
    """A future whose step begins without Python: the library says whether its turn has come. Most futures are done before somebody waits for them; what others wait
    with (a condition, lists of waiters and callbacks) is made when it is first asked for."""

    _state, _result, _exception = PENDING, None, None
    _is_watched = False  # whether that was made

    def __init__(self, requests, number):
        self._requests, self._number = requests, number

    def __getattr__(self, name):
        made = Future().__dict__
        if name not in made:
            raise AttributeError(f"a future has no {name!r}")
        with self._requests.watching:
            self._is_watched = True
            for key, value in made.items():
                self.__dict__.setdefault(key, value)
        return self.__dict__[name]

    def finish(self, result) -> None:
        """As set_result, for somebody who does not wait, too."""
        with self._requests.watching:
            if not self._is_watched:
                self._result = result
                self._state = FINISHED  # last, for it is read without a lock
                return
        self.set_result(result)

    def result(self, timeout=None):
        if self._state == FINISHED and self._exception is None:
            return self._result
        return super().result(timeout)

    def done(self) -> bool:
        return self._state in (CANCELLED, CANCELLED_AND_NOTIFIED, FINISHED)

    def cancel(self) -> bool:
        if self.done() or not self._requests.cancel(self._number):
            return self.cancelled()
        super().cancel()
        return not self.set_running_or_notify_cancel()

    def running(self) -> bool:
        return not self.done() and not self._requests.is_waiting(self._number)


class Requests:
    """The requests of a session. A thread of the library takes their steps, and one of Python brings the outputs to the futures."""

    def __init__(self, library, session):
        self._library, self._owner = library, os.getpid()
        self._pointer = ctypes.c_void_p()
        _library.check(library.autopar_requests_open(session, ctypes.byref(self._pointer)))
        self._add = _library.without_other_threads("autopar_requests_add")
        self._numbers = itertools.count()
        self._requests = {}  # by number: those whose futures have no outputs yet
        self._use = threading.Lock()  # of the pointer
        self.watching = threading.RLock()  # while a future becomes watched, or done unwatched
        self._thread = threading.Thread(target=self._work, name="autopar-requests", daemon=True)
        self._thread.start()

    def add(self, request: Request, waits: bool = True) -> Future:
        """Has the step taken after all that were added before. The caller holds the session's lock. `waits`: whether it will wait for the future at once."""
        number = self._keep(request, waits)
        self._added(number, self._add(self._pointer, number, request.entry, request.inputs, request.outputs))
        return request.future

    def call(self, function, *arguments) -> Future:
        """Has a function of the library called when no step is under way, after all that were added before."""
        call = _Call(function, arguments)
        number = self._keep(call, waits=True)
        self._added(number, self._library.autopar_requests_pause(self._pointer, number))
        return call.future

    def _keep(self, request, waits):
        if waits and self.is_of_this_thread():
            raise AutoparError("a future's callback cannot wait for a step or a state, for that would be for ever: do it in another thread, or submit")
        number = next(self._numbers)
        request.future = _StepFuture(self, number)
        self._requests[number] = request
        return number

    def _added(self, number, failed):
        if failed:
            del self._requests[number]
            _library.check(failed)

    def cancel(self, number) -> bool:
        """Removes a request whose turn has not come, and says whether it was there."""
        if not self._ask(self._library.autopar_requests_cancel, number):
            return False
        del self._requests[number]
        return True

    def is_waiting(self, number) -> bool:
        """Whether the turn of a request has not come."""
        return self._ask(self._library.autopar_requests_is_waiting, number)

    def _ask(self, function, number):
        if os.getpid() != self._owner:  # a thread that is not in this process may have the library's lock
            return False
        with self._use:
            return self._pointer is not None and bool(function(self._pointer, number))

    def is_of_this_thread(self) -> bool:
        """Whether a callback of a future asks."""
        return threading.current_thread() is self._thread

    def end(self) -> None:
        """Returns once all requests have ended."""
        self._library.autopar_requests_end(self._pointer)
        self._thread.join()
        with self._use:
            pointer, self._pointer = self._pointer, None
        self._library.autopar_requests_close(pointer)

    def _work(self):
        answers = (_library.Answer * _MOST)()
        while count := self._library.autopar_requests_next(self._pointer, answers, _MOST):
            for index in range(count):
                self._answer(answers[index])

    def _answer(self, answer):
        """Has no request once it returns: the future of one may have the last reference to the session."""
        request = self._requests.pop(answer.number)
        if isinstance(request, _Call):
            self._between(request)
        elif answer.failure is not None:
            request.future.set_exception(AutoparError(answer.failure.decode(errors="replace")))
        else:
            request.future.finish(request.results)

    def _between(self, call):
        try:
            _library.check(call.function(*call.arguments))
        except Exception as error:
            call.future.set_exception(error)
        else:
            call.future.set_result(None)
        self._library.autopar_requests_resume(self._pointer)
