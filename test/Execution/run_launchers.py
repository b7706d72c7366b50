"""Programs for CPUs as torchrun, mpirun and srun start them on one host: results, checkpoints, signals, faults; restarts by torchrun's agents.

    python test/Execution/run_launchers.py TOOL FOLDER [--torchrun PATH] [--kills 2]

Ranks are processes with the environment that a launcher gives them, and compute bit for bit what the program's own processes do. Where torchrun is found, four
agents of it run a training, one of whose ranks is killed again and again: the time to the next step is printed. The last line counts.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time

import numpy as np
from safetensors.numpy import load_file

from programs import error_of, shared_names
from run_checkpoints import checkpoints_of, children, perceptron
from run_evaluation import Net
from run_joined import LAUNCHERS
from training_runs import report

SAVING = ("--checkpoint-every", "20", "--keep", "2", "--resume", "auto")


class Launched:
    """The processes that a launcher starts, of which each may have a command of its own."""

    def __init__(self, commands, launcher="torchrun", world=None):
        port, world = random.randint(20000, 28000), world or len(commands)
        self.ranks = []
        for rank, command in enumerate(commands):
            variables = dict(pair.split("=") for pair in LAUNCHERS[launcher].format(r=rank, n=world, p=port).split())
            self.ranks.append(subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))

    def end(self, timeout=60):
        """The exit codes, and what each rank said."""
        said = [rank.communicate(timeout=timeout)[1] for rank in self.ranks]
        return [rank.returncode for rank in self.ranks], said

    def expect_success(self):
        codes, said = self.end()
        assert not any(codes), f"codes {codes}: {said}"
        assert not any(said[1:]), f"a rank other than 0 told: {said}"

    def expect_failure(self, *words, timeout=30):
        """All ranks that nobody killed end with 1, and a rank says it."""
        codes, said = self.end(timeout)
        text = "".join(said)
        assert all(code in (1, -signal.SIGKILL) for code in codes), f"codes {codes}: {text}"
        assert all(word in text for word in words), f"no {words} in: {text}"
        return [bool(words) for words in said]


def lines_of(path):
    try:
        with open(path, "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0


def await_lines(path, lines, *processes):
    while lines_of(path) < lines:
        assert all(process.poll() is None for process in processes), "the run ended before it was to be stopped"
        time.sleep(0.005)


def command_of(training, program, out, steps, *options):
    return training.command(program, out, steps, "--checkpoint", training.path("checkpoints"), *SAVING, *options)


#===------------------------------------------------------------------------===#
# Results of a launcher's ranks
#===------------------------------------------------------------------------===#


def check_equal(tool, work, ranks, launcher):
    training = perceptron(tool, work)
    program = training.compile(f"--ranks {ranks}")
    error = training.run(program, "whole", 24)
    assert not error, error
    more = ("--json", "report.json", "--trace", "trace.json", "--gradients", "gradients.safetensors")
    Launched([training.command(program, "parts", 24, *(training.path(name) if "." in name else name for name in more))] * ranks, launcher).expect_success()
    training.assert_equal("whole", "parts")
    error = training.run(program, "whole", 24, "--gradients", training.path("whole-gradients.safetensors"))
    mine, theirs = (load_file(training.path(name)) for name in ("gradients.safetensors", "whole-gradients.safetensors"))
    assert not error and mine.keys() == theirs.keys() and all(mine[name].tobytes() == theirs[name].tobytes() for name in mine), error
    with open(training.path("trace.json")) as file:
        assert {event["pid"] for event in json.load(file)["traceEvents"]} == set(range(ranks))
    with open(training.path("report.json")) as file:
        report = json.load(file)
    assert report["ranks"] == ranks and len(report["peak_memory_bytes"]) == ranks, report


def check_inference(tool, work):
    """Rank 0 alone is asked for outputs."""
    training = perceptron(tool, work)
    program, inputs, outputs = (training.path(name) for name in ("forward", "inputs.npz", "out.npz"))
    error = error_of(tool, "compile", training.model, "-o", program, "--ranks", "3", "--evaluate")
    np.savez(inputs, x=np.random.default_rng(3).standard_normal((8, 12)).astype(np.float32))
    error = error or error_of(program, "--inputs", inputs, "--outputs", outputs)
    assert not error, error
    alone = dict(np.load(outputs))
    Launched([[program, "--inputs", inputs, "--outputs", outputs]] + [[program, "--inputs", inputs]] * 2, "srun").expect_success()
    together = dict(np.load(outputs))
    assert alone.keys() == together.keys() and all(alone[name].tobytes() == together[name].tobytes() for name in alone)


def check_evaluation(tool, work, way, ranks):
    """Rows of shards in a shuffled order, and the metrics of an evaluation."""
    net = Net("softmax_cross_entropy_mean", 5)
    training = net.training(tool, work, {"data": os.path.join(work, "valid.npz"), "every": 4, "metrics": ["loss", "accuracy"]})
    training.data = training.path("shards")
    os.makedirs(training.data)
    np.savez(os.path.join(training.data, "rows.npz"), **net.rows(80, 3))
    program, more = training.compile(way), ("--shuffle", "7")
    error = training.run(program, "whole", 24, *more)
    assert not error, error
    for steps in (12, 24):
        codes, said = Launched([command_of(training, program, "parts", steps, *more)] * ranks).end()
        assert not any(codes), said
    logs = []
    for name in ("whole", "parts"):
        with open(training.path(name + ".jsonl")) as file:
            logs.append([{key: value for key, value in json.loads(line).items() if "seconds" not in key} for line in file])
    told = [{name: line["evaluation"][name] for name in ("loss", "accuracy")} for line in logs[0] if "evaluation" in line]
    assert len(told) == 6, logs[0]
    assert told == [{name: line["evaluation"][name] for name in ("loss", "accuracy")} for line in logs[1] if "evaluation" in line], logs
    assert [line["loss"] for line in logs[0]] == [line["loss"] for line in logs[1]]


def check_only_rank(tool, work):
    """A program for 3 and 1 ranks takes one where torchrun has started one."""
    training = perceptron(tool, work)
    program = training.compile("--ranks 3,1")
    for variables, ranks in (({}, 3), ({"TORCHELASTIC_RUN_ID": "job", "WORLD_SIZE": "1", "RANK": "0", "LOCAL_RANK": "0"}, 1)):
        done = subprocess.run(training.command(program, "out", 4), env={**os.environ, **variables}, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and f": {ranks} rank" in done.stdout, done.stdout + done.stderr


#===------------------------------------------------------------------------===#
# Checkpoints
#===------------------------------------------------------------------------===#


def check_kills(tool, work, way, ranks):
    """Each rank is killed in turn; the run goes on from its last checkpoint."""
    training, steps = perceptron(tool, work), 4000
    program = training.compile(way)
    error = training.run(program, "whole", steps)
    assert not error, error
    for victim in range(ranks):
        run = Launched([command_of(training, program, "parts", steps)] * ranks)
        await_lines(training.path("parts.jsonl"), 50 + 100 * victim, *run.ranks)
        run.ranks[victim].kill()
        start = time.monotonic()
        run.expect_failure(f"rank {victim} died", timeout=20)
        assert time.monotonic() - start < 10, "ranks took long to end"
        assert checkpoints_of(training.path("checkpoints")), "nothing was saved"
    for _ in range(2):  # the second run finds all steps taken, and writes the results again
        run = Launched([command_of(training, program, "parts", steps)] * ranks)
        run.expect_success()
        training.assert_equal("whole", "parts")
        os.remove(training.path("parts.safetensors"))


def check_signal(tool, work, way, ranks, told):
    """Some ranks get SIGTERM; all end, and the run goes on with other numbers of ranks."""
    training, steps = perceptron(tool, work), 3000
    program = training.compile(way)
    run = Launched([command_of(training, program, "parts", steps, "--json", training.path("report.json"))] * ranks)
    await_lines(training.path("parts.jsonl"), 30, *run.ranks)
    for rank in told:
        run.ranks[rank].send_signal(signal.SIGTERM)
    codes, said = run.end()
    assert codes == [143] * ranks, f"{codes}: {said}"
    taken = len(training.log("parts"))
    assert f"step-{taken:08}" in checkpoints_of(training.path("checkpoints")), taken
    with open(training.path("report.json")) as file:
        times = json.load(file)["communication_seconds"]
    assert len(times) == ranks and min(seconds or 0 for seconds in times) >= 0, f"waits for saves are no communication: {times}"
    for ranks in (3, 2):
        taken += 40
        Launched([command_of(training, training.compile(f"--ranks {ranks}"), "parts", taken)] * ranks).expect_success()
    error = training.run(training.compile("--ranks 1"), "whole", taken)
    assert not error, error
    expect_near(training, "whole", "parts")


def expect_near(training, out, other):
    """The losses of plans with other sums."""
    one, two = ([line["loss"] for line in training.log(name)] for name in (out, other))
    assert len(one) == len(two) and np.allclose(one, two, rtol=2e-3, atol=2e-4), f"losses differ by {np.abs(np.subtract(one, two)).max()}"


#===------------------------------------------------------------------------===#
# Faults
#===------------------------------------------------------------------------===#


def check_faults(tool, work):
    training = perceptron(tool, work)
    program, long = training.compile("--ranks 3"), 10000000
    usual = training.command(program, "out", 4, "--timeout", "3")
    other = shutil.copy(training.compile("--ranks 3 --strategy data"), training.path("other"))
    before = shared_names()
    Launched([usual] * 2, world=3).expect_failure("rank 2 did not arrive within 3 s", "3 ranks")
    Launched([usual, [other, *usual[1:]], usual]).expect_failure("rank 1 runs another program, or with other options, than rank 0")
    Launched([usual, usual, [*usual, "--steps", "5"]]).expect_failure("rank 2 runs another program, or with other options")
    Launched([usual, usual, [*usual, "--checkpoint", training.path("c")]]).expect_failure("rank 2 runs another program, or with other options")
    tellers = Launched([usual, usual, [*usual, "--data", "/nowhere.npz"]]).expect_failure("rank 2: ", "/nowhere.npz")
    assert tellers == [True, False, True], tellers
    check_hosts(training, usual)
    Launched([usual] * 2).expect_failure("torchrun started 2 processes (WORLD_SIZE)", "compiled for 3 ranks, not for 2: start as many")
    endless = training.command(program, "endless", long, "--timeout", "2")
    run = Launched([endless] * 3)
    await_lines(training.path("endless.jsonl"), 10, *run.ranks)
    run.ranks[2].send_signal(signal.SIGSTOP)
    assert [run.ranks[rank].wait(timeout=20) for rank in (0, 1)] == [1, 1]
    run.ranks[2].send_signal(signal.SIGCONT)
    run.expect_failure("rank 2 did not arrive within 2 s")
    check_lock(training, program)
    assert shared_names() == before, "something is left in /dev/shm"


def check_hosts(training, command):
    """A rank on another host, and one in a container, of which the system lets a process see the signs."""
    boot = training.path("boot")
    with open(boot, "w") as file:
        file.write("11111111-2222-3333-4444-555555555555\n")
    elsewhere = ["unshare", "-rm", "sh", "-c", f'mount --bind {boot} /proc/sys/kernel/random/boot_id && exec "$@"', "sh"]
    contained = ["unshare", "-r", "--pid", "--fork", "--mount-proc"]
    for place, words in ((elsewhere, "rank 2 is on host '"), (contained, "rank 2 cannot open the memory of rank 0")):
        if subprocess.run([*place, "true"], capture_output=True).returncode:
            print(f"this system allows no '{' '.join(place[:3])}': its rank is not tried")
            continue
        tellers = Launched([command, command, [*place, *command]]).expect_failure(words)
        assert tellers == [True, False, True], tellers


def check_lock(training, program):
    """Two runs into one folder: all ranks of the second one end."""
    command = training.command(program, "first", 10000000, "--checkpoint", training.path("checkpoints"), "--checkpoint-every", "0.1s", "--keep", "2")
    first = Launched([command] * 3)
    await_lines(training.path("first.jsonl"), 10, *first.ranks)
    Launched([training.command(program, "second", 9, "--checkpoint", training.path("checkpoints"), "--resume", "auto")] * 3).expect_failure("another run writes checkpoints into")
    first.ranks[0].send_signal(signal.SIGTERM)
    codes, said = first.end()
    assert codes == [143] * 3, f"{codes}: {said}"


#===------------------------------------------------------------------------===#
# torchrun
#===------------------------------------------------------------------------===#


def await_listener(place):
    end = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(place, timeout=1).close()
        except OSError:
            assert time.monotonic() < end, f"nothing listens at {place}"
            time.sleep(0.1)


class Agents:
    """Agents of torchrun, each with one process, that restart a training."""

    def __init__(self, torchrun, training, command, nodes, *options, alone="0"):
        self.alone = alone
        self.log, place = training.path("parts.jsonl"), ("localhost", random.randint(28000, 32000))
        self.command = [torchrun, "--nnodes", nodes, "--nproc-per-node", "1", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"{place[0]}:{place[1]}", "--rdzv-id", "job", "--max-restarts", "99",
                        *options, "--no-python", "--", *command]
        self.agents, self.logs = [None] * 4, [training.path(f"agent{number}") for number in range(4)]
        self.start(0)
        await_listener(place)  # the first agent that listens keeps the store of all: not one that is killed
        for number in range(1, 4):
            self.start(number)

    def start(self, number):
        # An agent of torch 2.13 that comes later waits, with the store that agents share, for an address that nobody writes again.
        with open(self.logs[number], "a") as file:
            self.agents[number] = subprocess.Popen(self.command, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": self.alone})

    def workers(self):
        return [child for agent in self.agents if agent.poll() is None for child in children(agent.pid)]

    def said(self, last=1500):
        """The ends of what the agents' processes told."""
        return "".join(open(log, errors="replace").read()[-last:] for log in self.logs)

    def kill(self, *victims):
        """Kills the processes; the seconds until the next step."""
        workers, start = self.workers(), time.monotonic()
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        while set(workers) & set(self.workers()):
            time.sleep(0.01)
        least = lines_of(self.log)
        while (lines := lines_of(self.log)) <= least:
            least = min(least, lines)
            assert time.monotonic() - start < 90, f"no step for 90 s: {self.said()}"
            time.sleep(0.01)
        return time.monotonic() - start

    def await_more(self, lines):
        """Steps and a new checkpoint."""
        end = time.monotonic() + 90
        target = lines_of(self.log) + lines
        while lines_of(self.log) < target:
            assert time.monotonic() < end and any(agent.poll() is None for agent in self.agents), f"no steps: {self.said()}"
            time.sleep(0.01)

    def stop(self):
        """By SIGTERM, at which the ranks save; the steps that they took."""
        for agent in self.agents:
            agent.terminate()
        for agent in self.agents:
            agent.wait(timeout=60)
        taken = lines_of(self.log)
        assert f"step-{taken:08}" in checkpoints_of(os.path.join(os.path.dirname(self.log), "checkpoints")), taken
        return taken


def check_restarts(tool, work, torchrun, kills):
    """A rank is killed again and again; all four start again."""
    training, seconds = perceptron(tool, work), []
    program = training.compile("--ranks 4")
    agents = Agents(torchrun, training, command_of(training, program, "parts", 10000000), "4")
    for _ in range(kills):
        agents.await_more(40)
        seconds.append(agents.kill(random.choice(agents.workers())))
    taken = agents.stop()
    error = training.run(program, "whole", taken)
    assert not error, error
    training.assert_equal("whole", "parts")
    print(f"torchrun: {kills} ranks killed one after the other, next step after {', '.join(f'{value:.1f}' for value in seconds)} s", flush=True)
    assert max(seconds) < 30, seconds


def check_fewer(tool, work, torchrun):
    """An agent is killed with its rank: three ranks go on; it comes back: four do."""
    training = perceptron(tool, work)
    program = training.compile("--ranks 4,3")
    agents = Agents(torchrun, training, command_of(training, program, "parts", 10000000), "3:4", "--rdzv-conf", "last_call_timeout=5", alone="1")
    agents.await_more(40)
    victim = agents.agents[3]
    seconds = [agents.kill(victim.pid, *children(victim.pid))]
    assert len(agents.workers()) == 3
    agents.start(3)
    seconds.append(agents.kill())
    assert len(agents.workers()) == 4
    agents.await_more(20)
    taken = agents.stop()
    assert all(f": {ranks} ranks x" in agents.said(100000) for ranks in (3, 4)), agents.said(100000)
    error = training.run(program, "whole", taken)
    assert not error, error
    expect_near(training, "whole", "parts")
    print(f"torchrun: an agent killed with its rank, next step on 3 ranks after {seconds[0]:.1f} s; another one started, next step on 4 ranks after {seconds[1]:.1f} s", flush=True)
    assert max(seconds) < 30, seconds


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--torchrun", default=shutil.which("torchrun"))
    arguments.add_argument("--kills", type=int, default=2)
    options = arguments.parse_args()
    checks = []

    def add(name, check, *more):
        work = os.path.join(options.folder, name.replace(" ", "-"))
        shutil.rmtree(work, ignore_errors=True)
        checks.append((name, lambda: check(options.tool, work, *more)))

    for ranks, launcher in ((1, "torchrun"), (2, "mpirun"), (3, "srun"), (4, "torchrun")):
        add(f"{ranks} ranks of {launcher}", check_equal, ranks, launcher)
    add("inference", check_inference)
    add("evaluation", check_evaluation, "--ranks 3", 3)
    add("evaluation on emulated ranks", check_evaluation, "--ranks 2 --target emulated --strategy data", 2)
    add("one process of torchrun", check_only_rank)
    add("killed ranks", check_kills, "--ranks 3", 3)
    add("killed emulated ranks", check_kills, "--ranks 2 --target emulated --strategy data", 2)
    add("SIGTERM", check_signal, "--ranks 3", 3, [1])
    add("SIGTERM to emulated ranks", check_signal, "--ranks 2 --target emulated --strategy data", 2, [0, 1])
    add("faults", check_faults)
    if options.torchrun:
        add("restarts by torchrun", check_restarts, options.torchrun, options.kills)
        add("fewer agents of torchrun", check_fewer, options.torchrun)
    else:
        print("torchrun is not installed: no restarts by it are tried")
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
