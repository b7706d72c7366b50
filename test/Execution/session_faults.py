"""What a caller can give wrongly to a session, by kind: (name, function) pairs; each must end in an error that says what was expected, with the session as it was."""

import asyncio
import concurrent.futures
import copy
import json
import os
import pickle
import threading
import time
import weakref

import numpy as np

import autopar
from autopar._tensors import refuse_overlaps

from expected import expect_error
from run_indices import good_inputs


class NoMemory:
    """Something of a GPU."""

    def __dlpack__(self, **_):
        raise BufferError("its memory is a GPU's")

    def __dlpack_device__(self):
        return (2, 0)


class Wrong:
    """A session of a recommender, and what is given wrongly to it."""

    def __init__(self, program):
        self.program, self.inputs = program, good_inputs()
        self.session = autopar.load(program)
        self.wanted = self.session.run(self.inputs)["y"]

    def is_as_it_was(self):
        assert self.session.run(self.inputs)["y"].tobytes() == self.wanted.tobytes(), "the session is not what it was"

    def expect(self, change, *parts):
        expect_error(lambda: self.session.run({**self.inputs, **change}), *parts)
        self.is_as_it_was()

    def expect_out(self, array, *parts):
        expect_error(lambda: self.session.run(self.inputs, out={"y": array}), *parts)
        self.is_as_it_was()

    def faults(self):
        """All of them, by name."""
        return [*self.given(), *self.results(), *self.opening(), *self.closing(), *self.submitted()]

    def given(self):
        words, is_int = self.inputs["words"], "input 'words' is int64"
        outside = words.copy()
        outside[2, 3] = 57
        unaligned = np.zeros(6 * 4 * 8 + 1, np.uint8)[1:].view(np.int64).reshape(6, 4)
        changes = {
            "an unknown name": ({"word": words}, "no input 'word'", "its inputs: pairs int32[6, 2], words int64[6, 4]"),
            "a misspelt name": ({"words": None, "word": words}, "no input 'word'", "its inputs: pairs int32[6, 2], words int64[6, 4]"),
            "a missing input": ({"words": None}, "input 'words' is missing: it is words int64[6, 4]"),
            "narrower integers": ({"words": words.astype(np.int32)}, "input 'words' is int32[6, 4] but the program expects int64[6, 4]; nothing is cast"),
            "floats": ({"words": words.astype(np.float64)}, "input 'words' is float64[6, 4]"),
            "booleans": ({"words": words > 3}, "input 'words' is bool[6, 4]"),
            "unsigned integers": ({"words": words.view(np.uint64)}, "input 'words' is uint64[6, 4]"),
            "another order of bytes": ({"words": words.astype(">i8")}, "input 'words' is >i8[6, 4]"),
            "a list": ({"words": words.tolist()}, "input 'words' is a list"),
            "objects": ({"words": words.astype(object)}, "input 'words' is object[6, 4]"),
            "text": ({"words": "words"}, "input 'words' is a str"),
            "bytes": ({"words": words.tobytes()}, "input 'words' is a bytes"),
            "fewer rows": ({"words": words[:5]}, "input 'words' is int64[5, 4] but the program expects int64[6, 4]"),
            "no rows": ({"words": words[:0]}, "input 'words' is int64[0, 4]"),
            "a flat array": ({"words": words.reshape(24)}, "input 'words' is int64[24]"),
            "one dimension more": ({"words": words[None]}, "input 'words' is int64[1, 6, 4]"),
            "a number": ({"words": np.int64(3)}, is_int + "[]"),
            "columns first": ({"words": np.asfortranarray(words)}, "input 'words' is not dense in row-major order", "ascontiguousarray"),
            "rows backwards": ({"words": words[::-1]}, "input 'words' is not dense in row-major order (strides (-32, 8))"),
            "one row for all": ({"words": np.broadcast_to(words[0], (6, 4))}, "input 'words' is not dense in row-major order (strides (0, 8))"),
            "an odd address": ({"words": unaligned}, "input 'words' is not aligned"),
            "memory of a GPU": ({"words": NoMemory()}, "input 'words': NoMemory gives no memory of the CPU: its memory is a GPU's"),
            "a masked array": ({"words": np.ma.array(words, mask=words > 3)}, "input 'words' is a masked array", ".filled(value)"),
            "an index outside": ({"words": outside}, "input 'words' has 57 at [2, 3]: the table 'words.weight' has 30 rows"),
        }
        return [(name, lambda change=change, parts=parts: self.expect(change, *parts)) for name, (change, *parts) in changes.items()] + [
            ("a read-only input is fine", self.read_only_input)]

    def read_only_input(self):
        frozen = self.inputs["words"].copy()
        frozen.flags.writeable = False
        assert self.session.run({**self.inputs, "words": frozen})["y"].tobytes() == self.wanted.tobytes()

    def results(self):
        fixed = np.empty((6, 8), np.float32)
        frozen = np.empty((6, 8), np.float32)
        frozen.flags.writeable = False
        return [
            ("an output of that name is unknown", lambda: expect_error(lambda: self.session.run(self.inputs, ["z"]), "no output 'z'", "its outputs: y float32[6, 8]")),
            ("one output's name in place of a list", lambda: expect_error(lambda: self.session.run(self.inputs, "y"), "outputs are 'y': give a list of their names")),
            ("a number for names of outputs", lambda: expect_error(lambda: self.session.run(self.inputs, 3), "outputs are 3: give a list of their names")),
            ("an array for memory by name", lambda: expect_error(lambda: self.session.run(self.inputs, out=fixed), "outputs are a ndarray: give a dict", "y float32[6, 8]")),
            ("a trace within a trace", self.trace_within_a_trace),
            ("a session that is pickled", self.pickled),
            ("memory for an unknown output", lambda: expect_error(lambda: self.session.run(self.inputs, out={"z": fixed}), "no output 'z'")),
            ("read-only memory for an output", lambda: self.expect_out(frozen, "output 'y': the array is read-only")),
            ("too little memory for an output", lambda: self.expect_out(fixed[:3], "output 'y' is float32[3, 8]")),
            ("other memory for an output", lambda: self.expect_out(np.empty((6, 8)), "output 'y' is float64[6, 8]")),
            ("memory that outputs share", self.shared_memory),
            ("strided memory for an output", lambda: self.expect_out(np.empty((8, 6), np.float32).T, "output 'y' is not dense")),
            ("a state of that name is unknown", lambda: expect_error(lambda: self.session.read_state("w"), "no state 'w'", "its states: none")),
        ]

    def shared_memory(self):
        """An output may have no byte in common with an input or with another output."""
        bytes_ = np.zeros(400, np.uint8)
        words, before, y, after = (bytes_[start:start + size] for start, size in ((192, 192), (4, 192), (100, 192), (384, 4)))
        words, before, y = words.view(np.int64).reshape(6, 4), before.view(np.float32).reshape(6, 8), y.view(np.float32).reshape(6, 8)
        feeds = {**self.inputs, "words": words}
        for use in (self.session.run, self.session.bind, lambda feeds, out: self.session.submit(feeds, out=out).result(10)):
            expect_error(lambda: use(feeds, out={"y": y}), "output 'y' shares memory with input 'words'")
        expect_error(lambda: refuse_overlaps([], {"y": y, "z": before}), "output 'z' shares memory with output 'y'")
        refuse_overlaps([("input 'words'", words), ("input 'none'", bytes_[4:4])], {"y": bytes_[0:192], "z": after, "none": bytes_[200:200]})
        words[:] = self.inputs["words"]
        assert self.session.run(feeds, out={"y": bytes_[0:192].view(np.float32).reshape(6, 8)})["y"].tobytes() == self.wanted.tobytes()
        self.is_as_it_was()

    def trace_within_a_trace(self):
        path = os.path.join(os.path.dirname(self.program), "trace.json")
        with self.session.trace(path):
            expect_error(lambda: self.session.trace(path + "2").__enter__(), "a trace of the entry is under way")
            self.is_as_it_was()
        with open(path) as file:
            assert any(event["ph"] == "X" for event in json.load(file)["traceEvents"])
        with self.session.trace(path):
            self.is_as_it_was()

    def pickled(self):
        for use in (pickle.dumps, copy.copy, copy.deepcopy):
            try:
                use(self.session)
            except TypeError as error:
                assert f"cannot be pickled or copied: load {self.program}" in str(error), error
            else:
                raise AssertionError("no error")
        self.is_as_it_was()

    def file(self, name, content, mode=0o755):
        path = os.path.join(os.path.dirname(self.program), name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)
        return path

    def opening(self):
        with open(self.program, "rb") as file:
            whole = file.read()
        older = whole.replace(b"AUTOPAR2", b"AUTOPAR1")
        load = autopar.load
        attempts = {
            "an unknown entry": (lambda: load(self.program, entry="big"), "no entry is called 'big'"),
            "negative threads": (lambda: load(self.program, threads=-1), "threads is -1, but must be 0 or more"),
            "a negative timeout": (lambda: load(self.program, timeout=-1), "threads, timeout_seconds and ranks may not be negative"),
            "more threads than a number has": (lambda: load(self.program, threads=1 << 80), "must be less than 2**63"),
            "a timeout that is no number": (lambda: load(self.program, timeout=float("nan")), "timeout is nan, but must be a number of seconds"),
            "a timeout that is text": (lambda: load(self.program, timeout="1"), "timeout is '1', but must be a number of seconds"),
            "an entry that is a number": (lambda: load(self.program, entry=3), "entry is 3, but must be a str"),
            "a path with a null character": (lambda: load(self.program + "\0"), "which has a null character"),
            "weights with a null character": (lambda: load(self.program, weights="w\0"), "which has a null character"),
            "a model that is none": (lambda: autopar.compile(None, self.program + "-none"), "the model is a NoneType: give the path of an ONNX file"),
            "a recipe that is none": (lambda: autopar.Trainer(self.program, None), "the recipe is a NoneType"),
            "weights that are nowhere": (lambda: load(self.program, weights="/nowhere"), "/nowhere"),
            "a program that is nowhere": (lambda: load("/nowhere/model"), "/nowhere/model"),
            "a folder": (lambda: load(os.path.dirname(self.program)), os.path.dirname(self.program)),
            "a file that is no program": (lambda: load(__file__), "has no program of autopar"),
            "an empty file": (lambda: load(self.file("empty", b"")), "has no program of autopar"),
            "a program that is cut": (lambda: load(self.file("cut", whole[:len(whole) // 2])), "has no program of autopar"),
            "a program of an earlier version": (lambda: load(self.file("older", older)), "was compiled for ABI 5 or less"),
        }
        if os.getuid() != 0:
            attempts["a program that may not be read"] = (lambda: load(self.file("closed", whole, 0)), "ermission denied")
        return [(name, lambda body=body, part=part: expect_error(body, part)) for name, (body, part) in attempts.items()]

    def closing(self):
        def used_when_closed(use):
            session = autopar.load(self.program)
            session.close()
            session.close()
            assert "closed" in repr(session)
            expect_error(lambda: use(session), "is closed")
        uses = {"run": lambda session: session.run(self.inputs), "threads": lambda session: session.threads, "slots": lambda session: session.slots}
        faults = [(f"{name} of a closed session", lambda use=use: used_when_closed(use)) for name, use in uses.items()]
        return faults + [("submit of a closed session", self.submit_when_closed), ("a session of a thread that has ended", self.thread_ended),
                         ("a session closed in another thread", self.closed_elsewhere), ("a session closed while threads call it", self.closed_under_calls),
                         ("a request while a thread calls", self.submitted_under_calls), ("four threads of one session", self.threads), ("two sessions in two threads", self.two_sessions)]

    def submit_when_closed(self):
        session = autopar.load(self.program)
        session.close()
        assert "is closed" in str(session.submit(self.inputs).exception(10))

    def thread_ended(self):
        made = []
        thread = threading.Thread(target=lambda: made.append(autopar.load(self.program)))
        thread.start()
        thread.join()
        with made[0] as session:
            assert session.run(self.inputs)["y"].tobytes() == self.wanted.tobytes()

    def closed_elsewhere(self):
        session = autopar.load(self.program)
        thread = threading.Thread(target=session.close)
        thread.start()
        thread.join()
        expect_error(lambda: session.run(self.inputs), "is closed")

    def calling(self, session, until):
        """Threads that call the session until it is closed, and what ended them."""
        ends = []

        def call():
            try:
                while not until.is_set():
                    assert session.run(self.inputs)["y"].tobytes() == self.wanted.tobytes(), "another result"
                ends.append("told to end")
            except Exception as error:
                ends.append(str(error))
        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        return threads, ends

    def closed_under_calls(self):
        for _ in range(10):
            session = autopar.load(self.program)
            threads, ends = self.calling(session, threading.Event())
            time.sleep(0.02)
            session.close()
            for thread in threads:
                thread.join(10)
            assert len(ends) == 3 and all("is closed" in end for end in ends), ends

    def submitted_under_calls(self):
        with autopar.load(self.program) as session:
            until = threading.Event()
            threads, ends = self.calling(session, until)
            time.sleep(0.02)
            assert all(session.submit(self.inputs).result(10)["y"].tobytes() == self.wanted.tobytes() for _ in range(20))
            until.set()
            for thread in threads:
                thread.join(10)
            assert ends == ["told to end"] * 3, ends

    def work(self, sessions, times=100):
        """Each in a thread of its own."""
        failures = []

        def work(session):
            for _ in range(times):
                if session.run(self.inputs)["y"].tobytes() != self.wanted.tobytes():
                    failures.append("another result")
        threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]

    def threads(self):
        self.work([self.session] * 4)

    def two_sessions(self):
        with autopar.load(self.program) as other:
            self.work([self.session, other])

    def submitted(self):
        return [("an error of one request", self.error_of_its_own), ("a request that is cancelled", self.cancelled), ("futures that many wait for", self.watched),
                ("a future that is no longer waited for", self.waited_for_too_short), ("a request whose inputs are no longer the caller's", self.inputs_let_go),
                ("a session whose last reference is a future's", self.last_reference), ("memory of a closed session", self.memory_of_a_closed_session)]

    def error_of_its_own(self):
        with autopar.load(self.program) as session:
            futures = [session.submit(self.inputs), session.submit({}), session.submit(self.inputs)]
            assert "is missing" in str(futures[1].exception(10))
            assert all(futures[i].result(10)["y"].tobytes() == self.wanted.tobytes() for i in (0, 2))

    def watched(self):
        """All ways to wait for a future, by several threads, before and after it is done."""
        def is_right(future):
            return future.done() and not future.running() and future.exception() is None and future.result(0)["y"].tobytes() == self.wanted.tobytes()

        async def awaited(futures):
            return await asyncio.gather(*map(asyncio.wrap_future, futures))
        with autopar.load(self.program) as session:
            for _ in range(20):
                futures, told, ended = [session.submit(self.inputs) for _ in range(20)], [], []
                futures[7].add_done_callback(told.append)
                threads = [threading.Thread(target=lambda: ended.append(all(future.result(10) is not None and is_right(future) for future in futures))) for _ in range(3)]
                for thread in threads:
                    thread.start()
                assert sorted(map(id, concurrent.futures.as_completed(futures[5:], 10))) == sorted(map(id, futures[5:]))
                assert concurrent.futures.wait(futures, 10).done == set(futures) and all(map(is_right, futures))
                for thread in threads:
                    thread.join(10)
                assert ended == [True] * 3 and told == futures[7:8], (ended, told)
                futures[3].add_done_callback(told.append)
                assert told == [futures[7], futures[3]] and "finished returned dict" in repr(futures[0])
            results = asyncio.run(awaited([session.submit(self.inputs) for _ in range(20)]))
            assert all(result["y"].tobytes() == self.wanted.tobytes() for result in results)

    def waited_for_too_short(self):
        with autopar.load(self.program) as session:
            goes_on = threading.Event()
            session.submit(self.inputs).result(10)
            session._handle.requests[0].call(lambda: not goes_on.wait(10))
            future = session.submit(self.inputs)
            for wait in (future.result, future.exception):
                try:
                    wait(0.01)
                    raise AssertionError("the request did not wait")
                except concurrent.futures.TimeoutError:
                    assert not future.done()
            assert not hasattr(future, "nothing") and "state=pending" in repr(future)
            goes_on.set()
            assert future.result(10)["y"].tobytes() == self.wanted.tobytes()

    def inputs_let_go(self):
        """A request holds its inputs until its step is over, and no longer."""
        with autopar.load(self.program) as session:
            for outputs in (None, [], ["y"]):
                feeds = {name: array.copy() for name, array in self.inputs.items()}
                held = [weakref.ref(array) for array in feeds.values()]
                futures = [session.submit(feeds, outputs) for _ in range(50)]
                feeds.clear()
                results = [future.result(10) for future in futures]
                assert all(set(result) == set(["y"] if outputs is None else outputs) for result in results)
                assert all(array.tobytes() == self.wanted.tobytes() for result in results for array in result.values())
                session.run(self.inputs)  # after the last request was let go
                assert [array() for array in held] == [None] * len(held), "the inputs stay"

    def cancelled(self):
        with autopar.load(self.program) as session:
            first = session.submit(self.inputs)
            assert first.result(10)["y"].tobytes() == self.wanted.tobytes()
            futures = [first] + [session.submit(self.inputs) for _ in range(200)]  # of which all may be cancelled on a busy host
            ended = [future for future in futures if not future.cancel()]
            assert all(future.result(10)["y"].tobytes() == self.wanted.tobytes() for future in ended)
            assert concurrent.futures.wait(futures, 10).done == set(futures) and not ended[0].cancel()
            self.cancelled_in_turn(session)
            assert session.submit(self.inputs).result(10)["y"].tobytes() == self.wanted.tobytes()

    def cancelled_in_turn(self, session):
        """Of requests that wait for the end of a call between steps one is cancelled."""
        goes_on, told = threading.Event(), []
        between = session._handle.requests[0].call(lambda: not goes_on.wait(10))
        first, second, third = (session.submit(self.inputs) for _ in range(3))
        second.add_done_callback(lambda future: told.append(future.cancelled()))
        assert not first.done() and not second.running() and second.cancel() and second.cancel()
        assert second.cancelled() and second.done() and not second.running() and told == [True]
        goes_on.set()
        assert between.result(10) is None
        assert all(future.result(10)["y"].tobytes() == self.wanted.tobytes() and not future.cancel() and not future.running() for future in (first, third))

    def last_reference(self):
        """Its descriptors are those that the caller compares."""
        session = autopar.load(self.program)
        done = threading.Event()
        session.submit(self.inputs).add_done_callback(lambda _, held=session: done.set())
        del session
        assert done.wait(10)

    def memory_of_a_closed_session(self):
        """It stays as long as an array of it."""
        with autopar.load(self.program) as session:
            memory = session.memory("y")
            bound = session.bind(self.inputs, {"y": memory})
            assert bound.run()["y"] is memory and memory.tobytes() == self.wanted.tobytes()
        assert memory.tobytes() == self.wanted.tobytes()
        expect_error(bound.run, "is closed")
