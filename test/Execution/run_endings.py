"""How trainings end that do not end as planned: by Ctrl-C and SIGTERM, with a loss that is not finite, with a log that cannot be written.

    python test/Execution/run_endings.py TOOL FOLDER

At a signal all ranks finish the step they are in: what --final then holds is what a run of so many steps gives. The last line counts.
"""

import json
import os
import random
import resource
import signal
import subprocess
import time

import numpy as np
from onnx import TensorProto, helper
from safetensors import safe_open
from safetensors.numpy import load_file

from run_joined import LAUNCHERS
from training_runs import Runs, report, write_model, tool_and_folder

# And the steps that take about a second: a limit that is set while they run comes before they end.
WAYS = {"--ranks 1": 200000, "--ranks 3": 30000, "--ranks 2 --target emulated --strategy data": 4000}
RECIPE = {"loss": "mse_mean", "optimizer": {"kind": "adam", "lr": 0.01}}
MANY, OLD = 1000000, b"as it was"


def write_layer(folder):
    random = np.random.Generator(np.random.PCG64(5))
    write_model(folder, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (TensorProto.FLOAT, [12, 5])}, {"y": (TensorProto.FLOAT, [12, 4])},
                {"w": random.standard_normal((5, 4)).astype(np.float32)})
    np.savez(os.path.join(folder, "data.npz"), x=random.standard_normal((4, 12, 5)).astype(np.float32),
             labels=random.standard_normal((4, 12, 4)).astype(np.float32))


class Training:
    """The program with data, a log and a file for the parameters that is there already."""

    def __init__(self, runs, *options, steps=MANY, environment=None, log="log.jsonl", fresh=True):
        self.runs, self.log = runs, runs.path(log)
        if fresh:
            for name in ("log.jsonl", "final.safetensors.not-finite"):
                if os.path.exists(runs.path(name)):
                    os.remove(runs.path(name))
            with open(runs.path("final.safetensors"), "wb") as file:
                file.write(OLD)
        self.process = subprocess.Popen(
            [runs.path("model"), "--data", runs.path("data.npz"), "--steps", str(steps), "--log", self.log,
             "--final", runs.path("final.safetensors"), *options],
            env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def lines(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            text = file.read()  # at once: a file that is iterated gives the two halves of a line that is just being written as two
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def await_steps(self, count=3):
        until = time.monotonic() + 60
        while len(self.lines()) < count:
            assert self.process.poll() is None, self.end()
            assert time.monotonic() < until, "no step in 60 s"
            time.sleep(0.02)

    def ranks(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return [int(child) for child in file.read().split()]

    def end(self):
        """The exit code and what stderr has."""
        _, error = self.process.communicate(timeout=100)
        return self.process.returncode, error

    def final(self, name="final.safetensors"):
        """The parameters and the step in the metadata."""
        with safe_open(self.runs.path(name), framework="np") as file:
            return load_file(self.runs.path(name)), int(file.metadata()["step"])

    def is_old(self):
        with open(self.runs.path("final.safetensors"), "rb") as file:
            return file.read() == OLD


def check_signal(runs, number, times=1):
    """`times`: as often at once, as `timeout` and terminals send one."""
    training = Training(runs)
    training.await_steps()
    for _ in range(times):
        training.process.send_signal(number)
    code, error = training.end()
    assert code == 128 + number, (code, error)
    taken = len(training.lines())
    final, step = training.final()
    assert step == taken and 3 <= taken < MANY, (step, taken)
    assert f"after {taken} of {MANY} steps" in error, error
    again = Training(runs, steps=taken)
    assert again.end()[0] == 0
    want, step = again.final()
    assert step == taken and want["w"].tobytes() == final["w"].tobytes(), "the file is not that of so many steps"
    assert [line["loss"] for line in again.lines()] == [line["loss"] for line in training.lines()][-taken:]


def gone(processes):
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if not any(os.path.exists(f"/proc/{process}") for process in processes):
            return True
        time.sleep(0.05)
    return False


def check_second(runs):
    """A rank that stands still never ends its step: the second signal ends the run at once."""
    training = Training(runs)
    training.await_steps()
    ranks = training.ranks()
    os.kill(ranks[1], signal.SIGSTOP)
    training.process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert training.process.poll() is None, "the first signal ended it though a step was not over"
    training.process.send_signal(signal.SIGINT)
    code, error = training.end()
    assert code == 130 and training.is_old(), (code, error)
    assert gone(ranks), "ranks are left"


def check_grace(runs):
    training = Training(runs, "--grace", "1")
    training.await_steps()
    ranks = training.ranks()
    os.kill(ranks[1], signal.SIGSTOP)
    begun = time.monotonic()
    training.process.send_signal(signal.SIGTERM)
    code, error = training.end()
    assert code == 143 and "--grace" in error and training.is_old(), (code, error)
    assert time.monotonic() - begun < 10 and gone(ranks), "it took long, or ranks are left"


def check_not_finite(runs):
    error = runs.compile(optimizer={"kind": "sgd", "lr": 1e30})
    assert not error, error
    training = Training(runs, steps=8)
    code, error = training.end()
    assert code == 1 and training.is_old(), (code, error)
    first = next(line["step"] for line in training.lines() if line["loss"] is None)
    assert error.count(f"warning: step {first}: the loss is ") == 1, error
    assert f"the loss was not finite in {8 - first} of 8 steps, first in step {first}" in error, error
    parameters, step = training.final("final.safetensors.not-finite")
    assert step == 8 and not np.isfinite(parameters["w"]).all(), parameters
    done = subprocess.run([runs.path("model"), "--data", runs.path("data.npz"), "--steps", "8", "--final", "-"], capture_output=True, timeout=100)
    assert done.returncode == 1 and not done.stdout, done


def check_last_update(runs):
    """The losses are finite; the last step leaves parameters that are not."""
    error = runs.compile(optimizer={"kind": "sgd", "lr": 1e39})
    assert not error, error
    training = Training(runs, steps=1)
    code, error = training.end()
    assert code == 1 and training.is_old() and "the loss was finite, but not all numbers of 'w'" in error, (code, error)
    assert training.final("final.safetensors.not-finite")[1] == 1


def check_full(runs, log, steps, has_limit):
    training = Training(runs, steps=steps, log=log)
    if has_limit:  # of what a file may grow to, once the program is loaded
        training.await_steps()
        limit = os.path.getsize(training.log) + 3000
        for process in (training.process.pid, *training.ranks()):
            resource.prlimit(process, resource.RLIMIT_FSIZE, (limit, limit))
    code, error = training.end()
    assert code == 1 and error.count(f"warning: --log {training.log}: ") == 1 and "error: --log" in error, (code, error)
    final, taken = training.final()
    assert taken == steps, taken
    if has_limit:
        assert 3 < len(training.lines()) < steps, len(training.lines())
        with open(training.log) as file:
            assert file.read().endswith("}\n"), "the log ends in half a line"
    whole = Training(runs, steps=steps)
    assert whole.end()[0] == 0
    assert whole.final()[0]["w"].tobytes() == final["w"].tobytes()


def check_joined(runs, told):
    """Ranks of a launcher, of which some are sent the signal."""
    port, ranks = random.randint(20000, 50000), []
    for rank in range(2):
        variables = dict(pair.split("=") for pair in LAUNCHERS["torchrun"].format(r=rank, n=2, p=port).split())
        ranks.append(Training(runs, "--timeout", "30", environment=variables, fresh=rank == 0))
    ranks[0].await_steps()
    for rank in told:
        ranks[rank].process.send_signal(signal.SIGTERM)
    ends = [rank.end() for rank in ranks]
    assert [code for code, _ in ends] == [143, 143], ends
    assert ranks[0].final()[1] == len(ranks[0].lines())


def main():
    options = tool_and_folder(__doc__)
    write_layer(options.folder)
    checks = []

    def add(name, check, runs, *arguments, recompile=True):
        def run():
            error = runs.compile() if recompile else None
            assert not error, error
            check(runs, *arguments)
        checks.append((f"{runs.way}: {name}", run))

    for way, steps in WAYS.items():
        runs = Runs(options.tool, options.folder, way, RECIPE)
        add("Ctrl-C", check_signal, runs, signal.SIGINT)
        add("SIGTERM", check_signal, runs, signal.SIGTERM, 2)
        add("loss", check_not_finite, runs, recompile=False)
        add("last update", check_last_update, runs, recompile=False)
        add("full device", check_full, runs, "/dev/full", steps, False)
        add("full disk", check_full, runs, "log.jsonl", steps, True)
    several = Runs(options.tool, options.folder, "--ranks 3", RECIPE)
    add("second signal", check_second, several)
    add("grace", check_grace, several)
    joined = Runs(options.tool, options.folder, "--ranks 2 --target emulated --strategy data", RECIPE)
    add("under a launcher", check_joined, joined, [0, 1])
    add("one rank of a launcher", check_joined, joined, [1])
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
