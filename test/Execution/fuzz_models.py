"""Random ONNX models over all operators, whole and on ranks, against onnxruntime.

    python test/Execution/fuzz_models.py [--models N] [--minutes M] [--type fp32|fp16|bf16|fp64|int|mixed] [--seed N] [--jobs 2]
                                         [--target cpu|emulated] [--keep DIR] [--minimise] [--only OP,...]

Each model is compiled and run on one rank and in three drawn configurations: ranks, strategy, mesh, free links, micro-batches,
target. Its outputs must be the oracle's, within what the model's own condition allows (random_models/tolerance.py). A wrong
output, a crash (a signal, an exit code of 100 or more, an LLVM ERROR), a hang and a refusal without a known good reason
(random_models/runs.py) fail. A failing case is made again by --first NUMBER --models 1 with the same seed and type; --keep
writes it to a folder, --minimise makes it smaller first. The last line counts models: "N passed, N failed, N skipped".
"""

import argparse
import multiprocessing
import os
import queue
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "python")]

import onnx  # noqa: E402

from autopar import find_tool  # noqa: E402
from random_models import runs  # noqa: E402
from random_models.generate import generate  # noqa: E402
from random_models.tolerance import Tolerance  # noqa: E402
from random_models.types import save_arrays  # noqa: E402

DRAWN = 3  # configurations beside one rank
TYPES = ["fp32", "fp16", "bf16", "fp64", "int"]


def type_of(number, options):
    """Of a model's values; mixed: half of the models are fp32."""
    if options.type != "mixed":
        return options.type
    rng = random.Random(f"{options.seed}.{number}.type")
    return "fp32" if rng.random() < 0.5 else rng.choice(TYPES[1:])


def write(stem, model, inputs):
    onnx.save(model, stem + ".onnx")
    save_arrays(stem + ".in.npz", inputs)


def try_model(number, options, work):
    """Number, operators, and (configuration, result) of each run."""
    case = generate(options.seed, number, type_of(number, options), options.only)
    stem = os.path.join(work, str(number))
    write(stem, case.model, case.inputs)
    values = case.graph.values
    leaves = {name: values[name] for name in case.graph.inputs + case.graph.weights}
    tolerance = Tolerance(case.graph.oracle, leaves, values, case.outputs, number)
    rng = random.Random(f"{options.seed}.{number}.runs")
    configurations = [runs.Configuration(target=options.target or "cpu")] + [runs.draw(rng, options.target) for _ in range(DRAWN)]
    results = []
    while configurations:
        configuration = configurations.pop(0)
        result = runs.attempt(options.tool, stem, configuration, tolerance)
        results.append((str(configuration), result))
        if other := runs.instead(configuration, result, rng):
            configurations.insert(0, other)
        if result.failed and options.keep:
            keep(case, configuration, result, number, options, tolerance)
            break  # of one model one failure
    for name in os.listdir(work):
        if name.startswith(f"{number}."):
            os.remove(os.path.join(work, name))
    return number, sorted({node.op_type for node in case.model.graph.node}), results


def keep(case, configuration, result, number, options, tolerance):
    from random_models.minimise import minimise
    folder = os.path.join(options.keep, f"{type_of(number, options)}-{options.seed}-{number}")
    os.makedirs(folder, exist_ok=True)
    stem = os.path.join(folder, "model")
    if options.minimise:
        case, configuration, result, tolerance = minimise(case, configuration, result, tolerance, options.tool, stem)
    write(stem, case.model, case.inputs)
    save_arrays(stem + ".expected.npz", tolerance.expected)
    with open(os.path.join(folder, "what.txt"), "w") as file:
        file.write(f"{configuration}: {result.kind}: {result.text}\nautopar compile model.onnx -o model.program "
                   f"{' '.join(configuration.options(stem))}\n{onnx.printer.to_text(case.model)}\n")


def work_of(numbers, done, options):
    """A worker: takes numbers until there are none."""
    with tempfile.TemporaryDirectory() as work:
        while True:
            number = numbers.get()
            if number is None:
                return
            done.put((os.getpid(), number))
            try:
                done.put(try_model(number, options, work))
            except Exception:  # of the fuzzer itself
                done.put((number, [], [("fuzzer", runs.Result("broken", traceback.format_exc()[-900:]))]))


def table_of_operators():
    """The names of the compiler's table."""
    lines = subprocess.run([find_tool("autopar-import"), "--print-ops"], capture_output=True, text=True).stdout.splitlines()
    return {line.split(";")[0] for line in lines}


class Counts:
    def __init__(self, known):
        self.known = known
        self.models = self.failed = self.broken = 0
        self.runs, self.reasons, self.ops, self.faults = Counter(), Counter(), Counter(), Counter()

    def add(self, number, ops, results, options):
        self.models += 1
        self.ops.update(ops)
        bad = False
        for configuration, result in results:
            if result.kind == "broken":
                self.broken += 1
                print(f"BROKEN: model {number}: {result.text}", flush=True)
                continue
            self.runs[result.kind] += 1
            if result.kind == "refused":
                reason = runs.honest(result.text)
                (self.reasons if reason else self.faults)[reason or re.sub(r"[\d.]+", "N", result.text)[:160]] += 1
            if result.failed:
                bad = True
                print(f"FAIL: --seed {options.seed} --type {type_of(number, options)} --first {number} --models 1: {configuration}: "
                      f"{result.kind}: {result.text} [{', '.join(ops)}]", flush=True)
        self.failed += bad

    def show(self, options):
        print(f"seed {options.seed}, {options.type}: {self.models} models, {sum(self.runs.values())} runs: " + ", ".join(
            f"{self.runs[kind]} {kind}" for kind in ("right", "wrong", "crash", "hang", "refused")))
        for title, reasons in (("refused, as it may", self.reasons), ("refused, a FAULT", self.faults)):
            for reason, count in reasons.most_common():
                print(f"  {title}: {count} x {reason}")
        missing = sorted(self.known - set(self.ops))
        if missing and self.models >= 300:
            print("operators that no model had: " + " ".join(missing))
        print(f"{self.models - self.failed - self.broken} passed, {self.failed + self.broken} failed, 0 skipped")


class Workers:
    """Processes that try models; one that dies is replaced."""

    def __init__(self, options):
        self.options, self.numbers, self.done = options, multiprocessing.Queue(), multiprocessing.Queue()
        self.processes = [self._start() for _ in range(options.jobs)]
        self.at_work = {}  # the model's number by process id

    def _start(self):
        process = multiprocessing.Process(target=work_of, args=(self.numbers, self.done, self.options))
        process.start()
        return process

    def results(self):
        """What became of models since the last call; waits for something."""
        found = []
        try:
            message = self.done.get(timeout=2)
            if len(message) == 2:
                self.at_work[message[0]] = message[1]
            else:
                found.append(message)
        except queue.Empty:
            pass
        for i, process in enumerate(self.processes):
            if not process.is_alive():
                number = self.at_work.pop(process.pid, -1)
                found.append((number, [], [("fuzzer", runs.Result("broken", f"the worker ended with {process.exitcode}"))]))
                self.processes[i] = self._start()
        return found

    def end(self):
        for _ in self.processes:
            self.numbers.put(None)
        for process in self.processes:
            process.join()


def fuzz(options):
    workers = Workers(options)
    counts, end = Counts(table_of_operators()), time.monotonic() + options.minutes * 60 if options.minutes else float("inf")
    last = options.first + options.models if options.models else sys.maxsize
    given, running = options.first, 0
    while True:
        while running < 2 * options.jobs and given < last and time.monotonic() < end:
            workers.numbers.put(given)
            given, running = given + 1, running + 1
        if not running:
            break
        for result in workers.results():
            counts.add(*result, options)
            running -= 1
    workers.end()
    counts.show(options)
    return int(counts.failed + counts.broken > 0)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--models", type=int, default=0, help="how many (default: 40, or as many as --minutes allows)")
    arguments.add_argument("--minutes", type=float, default=0)
    arguments.add_argument("--type", default="fp32", choices=TYPES + ["mixed"], help="mixed: half of the models fp32")
    arguments.add_argument("--seed", default="1")
    arguments.add_argument("--first", type=int, default=0, help="number of the first model")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--target", choices=["cpu", "emulated"], help="default: both are drawn")
    arguments.add_argument("--keep", metavar="DIR", help="write failing cases there")
    arguments.add_argument("--minimise", action="store_true", help="make them smaller first")
    arguments.add_argument("--only", type=lambda text: text.split(","), help="operators that models are made of")
    options = arguments.parse_args()
    if not options.models and not options.minutes:
        options.models = 40
    options.tool = find_tool()
    return fuzz(options)


if __name__ == "__main__":
    sys.exit(main())
