"""Faults of sessions: what is given wrongly (session_faults.py), and processes that are killed, stopped, forked, interrupted, short of memory or of descriptors.

    python test/Execution/run_session_faults.py TOOL FOLDER [--only TEXT]

Each fault must be an error that names what, in time, and leave no process, descriptor or shared memory. The last line counts.
"""

import argparse
import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
from onnx import TensorProto, helper

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from expected import expect_error  # noqa: E402
from programs import error_of, shared_names  # noqa: E402
from run_indices import write_recommender  # noqa: E402
from session_faults import Wrong  # noqa: E402
from training_runs import report, write_model  # noqa: E402

HOST = """
import os, signal, sys, threading, time
import numpy as np
import autopar
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
session = autopar.load({program!r})
x = {{info.name: np.zeros(info.shape, info.dtype) for info in session.inputs}}
session.run(x)
print("ready", flush=True)
{body}
"""
WAIT = 60  # seconds in which whatever should end has ended


def processes_of(program):
    """Processes whose executable is the program, not those that have ended."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(os.path.join(path, "cmdline")) as file:
                if file.read().split("\0")[0] == program:
                    found.append(int(os.path.basename(path)))
        except OSError:
            continue
    return found


def soon(holds, what):
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end, f"{what}, after {WAIT} s"
        time.sleep(0.02)


class Faults:
    """Programs on two ranks: `quick`, `other` with another result, and `slow`, whose step takes half a second or so."""

    def __init__(self, tool, folder):
        self.folder = folder
        self.quick, self.other = self.compile(tool, "quick", 2, 1, 5), self.compile(tool, "other", 3, 1, 5)
        self.slow = self.compile(tool, "slow", 0, 10, 1200)

    def compile(self, tool, name, value, layers, size):
        names = ["x", *(f"h{i}" for i in range(layers - 1)), "y"]
        folder = os.path.join(self.folder, name)
        write_model(folder, [helper.make_node("MatMul", [names[i], "w"], [names[i + 1]]) for i in range(layers)], {"x": (TensorProto.FLOAT, [size, size])},
                    {"y": (TensorProto.FLOAT, [size, size])}, {"w": np.full((size, size), value, np.float32)})
        program = os.path.join(folder, "program")
        error = error_of(tool, "compile", os.path.join(folder, "model.onnx"), "-o", program, "--ranks", "2", "--strategy", "data", "--embed-weights")
        assert not error, error
        return program

    def inputs(self, program):
        size = 1200 if program == self.slow else 5
        return {"x": np.ones((size, size), np.float32)}

    def is_right(self, session, value=2.0):
        return np.array_equal(session.run(self.inputs(self.quick))["y"], np.full((5, 5), 5 * value, np.float32))

    def worker(self, program):
        """Rank 1: the process that has no child."""
        found = processes_of(program)
        assert len(found) == 2, f"the session has the processes {found}, but a starter and a rank were expected"
        return max(found)

    def host(self, program, body, **options):
        """A process that has a session, at what it prints as "ready"."""
        process = subprocess.Popen([sys.executable, "-c", HOST.format(program=program, body=body)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}, **options)
        line = process.stdout.readline()
        assert line == "ready\n", process.communicate()
        return process

    def ended(self, process, code, message=""):
        try:
            out, errors = process.communicate(timeout=WAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"the host has not ended after {WAIT} s") from None
        assert process.returncode == code, f"exit code {process.returncode}: {out}{errors}"
        assert message in errors if message else not errors, errors
        return out

    # Workers.

    def killed_between_calls(self):
        with autopar.load(self.quick) as session:
            os.kill(self.worker(self.quick), signal.SIGKILL)
            soon(lambda: len(processes_of(self.quick)) == 0, "the starter stays")
            for _ in range(2):
                expect_error(lambda: session.run(self.inputs(self.quick)), "rank 1 was killed by signal 9")

    def killed_within_a_call(self):
        with autopar.load(self.slow) as session:
            worker = self.worker(self.slow)
            threading.Timer(0.1, os.kill, (worker, signal.SIGKILL)).start()
            expect_error(lambda: [session.run(self.inputs(self.slow)) for _ in range(200)], "rank 1 was killed by signal 9")

    def killed_starter(self):
        with autopar.load(self.quick) as session:
            os.kill(min(processes_of(self.quick)), signal.SIGKILL)
            soon(lambda: not processes_of(self.quick), "rank 1 stays")
            expect_error(lambda: session.run(self.inputs(self.quick)), "the process of the session's ranks has ended")

    def stopped(self):
        with autopar.load(self.quick, timeout=1) as session:
            worker = self.worker(self.quick)
            os.kill(worker, signal.SIGSTOP)
            start = time.monotonic()
            expect_error(lambda: session.run(self.inputs(self.quick)), "rank 1 did not arrive within 1")
            assert time.monotonic() - start < 5

    def stopped_on_busy_cores(self):
        """A waiting thread that lets others run does so for no longer than the deadline."""
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * len(os.sched_getaffinity(0)))]
        try:
            self.stopped()
        finally:
            for process in busy:
                process.kill()
                process.wait()

    def stopped_and_continued(self):
        with autopar.load(self.quick) as session:
            worker = self.worker(self.quick)
            os.kill(worker, signal.SIGSTOP)
            threading.Timer(0.3, os.kill, (worker, signal.SIGCONT)).start()
            assert self.is_right(session)

    def killed_with_requests(self):
        with autopar.load(self.quick) as session:
            assert session.submit(self.inputs(self.quick)).result(WAIT)
            os.kill(self.worker(self.quick), signal.SIGKILL)
            futures = [session.submit(self.inputs(self.quick)) for _ in range(5)]
            assert all("killed by signal 9" in str(future.exception(WAIT)) for future in futures)

    # The host.

    def host_ends(self, body, code, message=""):
        process = self.host(self.quick, body)
        if code == -signal.SIGKILL:
            process.kill()
        self.ended(process, code, message)
        soon(lambda: not processes_of(self.quick), "workers stay")

    def host_killed(self):
        self.host_ends("time.sleep(60)", -signal.SIGKILL)

    def host_killed_within_a_call(self):
        process = self.host(self.slow, "while True: session.run(x)")
        process.kill()
        self.ended(process, -signal.SIGKILL)
        soon(lambda: not processes_of(self.slow), "workers stay")

    def host_exits(self):
        self.host_ends("os._exit(3)", 3)

    def host_ends_with_a_session(self):
        self.host_ends("", 0)

    def host_ends_with_requests(self):
        self.host_ends("futures = [session.submit(x) for _ in range(50)]", 0)

    def host_raises(self):
        self.host_ends("raise ValueError('of the host')", 1, "ValueError: of the host")

    def host_ends_in_a_thread(self):
        self.host_ends("threading.Thread(target=lambda: [session.run(x) for _ in range(200)]).start()", 0)
        for run in ("session.run(x)", "session.run(x, [])"):
            calls = f"def work():\n  try:\n    while True: {run}\n  except autopar.AutoparError: pass\n"
            calls += "for _ in range(3): threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.05)"
            self.host_ends(calls, 0)

    def stdin_is_closed(self):
        self.host_ends("os.close(0); session.close(); session = autopar.load(session.path); session.run(x)", 0)

    # Forks.

    def forked_before(self):
        child = os.fork()
        if child == 0:
            try:
                with autopar.load(self.quick) as session:
                    os._exit(0 if self.is_right(session) else 1)
            finally:
                os._exit(1)
        with autopar.load(self.quick) as session:
            assert self.is_right(session)
        assert os.waitpid(child, 0)[1] == 0

    def forked_after(self):
        with autopar.load(self.quick) as session:
            child = os.fork()
            if child == 0:
                try:
                    expect_error(lambda: session.run(self.inputs(self.quick)), "before this process was forked")
                    session.close()
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(child, 0)[1] == 0, "the child got no error"
            assert self.is_right(session)

    def forked_during(self):
        with autopar.load(self.slow) as session:
            results = []
            thread = threading.Thread(target=lambda: results.append(session.run(self.inputs(self.slow))))
            thread.start()
            child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            thread.join()
            assert results and not results[0]["y"].any()

    def forked_ends_as_python_does(self):
        process = self.host(self.quick, "pid = os.fork()\nif pid == 0: sys.exit(0)\nassert os.waitpid(pid, 0)[1] == 0\nsession.run(x)\nprint('right')")
        assert self.ended(process, 0) == "right\n"

    def forked_holds_no_worker(self):
        """A child that lives on does not keep workers."""
        process = self.host(self.quick, "pid = os.fork()\nif pid == 0:\n    os.close(1); os.close(2); time.sleep(8); os._exit(0)\nos._exit(0)")
        self.ended(process, 0)
        soon(lambda: not processes_of(self.quick), "workers stay")

    # Signals.

    def handler_of_children(self):
        called = []
        before = signal.signal(signal.SIGCHLD, lambda *_: called.append(1))
        try:
            with autopar.load(self.quick) as session:
                assert self.is_right(session)
            time.sleep(0.1)
            assert not called, "the host's SIGCHLD handler was called"
        finally:
            signal.signal(signal.SIGCHLD, before)

    def children_of_the_host(self):
        with autopar.load(self.quick) as session:
            assert subprocess.run(["true"]).returncode == 0 and self.is_right(session)
            try:
                os.waitpid(-1, os.WNOHANG)
                raise AssertionError("a worker is the host's child")
            except ChildProcessError:
                pass

    def ignored_children(self):
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            with autopar.load(self.quick) as session:
                assert self.is_right(session)
                os.kill(self.worker(self.quick), signal.SIGKILL)
                expect_error(lambda: session.run(self.inputs(self.quick)), "killed by signal 9")
        finally:
            signal.signal(signal.SIGCHLD, before)

    def interrupted(self):
        process = self.host(self.slow, "try:\n    while True: session.run(x)\nexcept KeyboardInterrupt:\n    session.run(x)\n    print('goes on')")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert self.ended(process, 0) == "goes on\n"

    def interrupted_with_its_group(self):
        """As a terminal's Ctrl-C is sent."""
        process = self.host(self.slow, "try:\n    while True: session.run(x)\nexcept KeyboardInterrupt:\n    session.run(x)\n    print('goes on')", start_new_session=True)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        assert self.ended(process, 0) == "goes on\n"

    def callback_that_would_wait(self):
        told = []
        with autopar.load(self.slow) as session:
            def callback(_):
                for wait in (lambda: session.run(self.inputs(self.slow)), lambda: session._between_steps(None)):
                    try:
                        wait()
                    except autopar.AutoparError as error:
                        told.append(str(error))
            session.submit(self.inputs(self.slow)).add_done_callback(callback)
            session.submit(self.inputs(self.slow)).result(WAIT)
        assert len(told) == 2 and all("callback cannot wait" in text for text in told), told

    # Programs and files.

    def replaced_while_open(self):
        path = os.path.join(self.folder, "replaced")
        for program in (self.quick, self.other):
            self.replace(path, program)
            if program == self.quick:
                session = autopar.load(path)
        with session, autopar.load(path) as later:
            assert self.is_right(session, 2.0) and self.is_right(later, 3.0)

    def replace(self, path, program):
        shutil.copy(program, path + ".new")
        os.replace(path + ".new", path)

    def one_descriptor_for_two(self):
        """The second program's file gets the number that the first one had."""
        for _ in range(3):
            for program, value in ((self.quick, 2.0), (self.other, 3.0)):
                with autopar.load(program) as session:
                    assert self.is_right(session, value)

    def many_sessions(self):
        sessions = [autopar.load(program) for program in (self.quick, self.other) * 4]
        for session, value in zip(sessions, (2.0, 3.0) * 4):
            assert self.is_right(session, value)
        for session in sessions:
            session.close()

    # What the system refuses.

    def limited(self, kind, limit, *parts):
        body = f"""
import resource
resource.setrlimit(resource.{kind}, ({limit}, resource.getrlimit(resource.{kind})[1]))
try:
    for _ in range(200): sessions = [autopar.load({self.slow!r}), locals().get('sessions')]
except autopar.AutoparError as error:
    print(error)
"""
        said = self.ended(self.host(self.quick, body), 0)
        assert any(part in said for part in parts), said
        soon(lambda: not processes_of(self.slow), "workers stay")

    def few_descriptors(self):
        self.limited("RLIMIT_NOFILE", 24, "Too many open files")

    def little_memory(self):
        self.limited("RLIMIT_AS", "int(open('/proc/self/statm').read().split()[0]) * 4096 + (16 << 20)", "emory", "allocate", "Resource temporarily unavailable")

    def faults(self):
        names = ["killed_between_calls", "killed_within_a_call", "killed_starter", "stopped", "stopped_on_busy_cores", "stopped_and_continued", "killed_with_requests", "host_killed",
                 "host_killed_within_a_call", "host_exits", "host_ends_with_a_session", "host_ends_with_requests", "host_raises", "host_ends_in_a_thread", "stdin_is_closed",
                 "forked_before", "forked_after", "forked_during", "forked_ends_as_python_does", "forked_holds_no_worker", "handler_of_children", "children_of_the_host",
                 "ignored_children", "interrupted", "interrupted_with_its_group", "callback_that_would_wait", "replaced_while_open", "one_descriptor_for_two", "many_sessions",
                 "few_descriptors", "little_memory"]
        return [(name.replace("_", " "), getattr(self, name)) for name in names]


def left_by(body):
    """Runs it; it may leave nothing behind."""
    descriptors, shared = len(os.listdir("/proc/self/fd")), shared_names()
    body()
    soon(lambda: len(os.listdir("/proc/self/fd")) == descriptors, f"{len(os.listdir('/proc/self/fd')) - descriptors} descriptors are left")
    assert shared_names() == shared, "shared memory is left"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--only", default="")
    options = arguments.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    made = os.path.join(options.folder, "recommender")
    write_recommender(made)
    error = error_of(options.tool, "compile", os.path.join(made, "model.onnx"), "-o", os.path.join(made, "program"), "--ranks", "2")
    assert not error, error
    faults = Wrong(os.path.join(made, "program")).faults() + Faults(options.tool, options.folder).faults()
    return report([(name, lambda body=body: left_by(body)) for name, body in faults if options.only in name])


if __name__ == "__main__":
    sys.exit(main())
