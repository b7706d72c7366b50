"""Times single kernels beside onnxruntime: models of one operator, both with as many threads, taking turns.

    python -m autopar.bench_kernels [--rounds 7] [--runs 1x1,1x2,2x1] [--only TEXT] [--json FILE]

A run is RANKSxTHREADS; onnxruntime has RANKS * THREADS threads, and a time of it is one call of its session. Ours is all that the
slowest rank computes and communicates in a step, conversions of layouts with it; the whole step, which also brings inputs to their place
and outputs to the caller, stands in parentheses. A time is the median of the turns' medians. Outputs must agree.
"""

import argparse
import json
import os
import statistics
import tempfile
import time

import numpy as np
import onnxruntime

import autopar
from autopar.compare import compare
from autopar.kernel_models import all_cases, write

TURN_SECONDS = 0.06  # of steps per turn, about
MOST_STEPS = 2000


def onnxruntime_session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def time_session(session, inputs, steps):
    """The median step's seconds, and the outputs by name."""
    seconds = []
    for _ in range(steps + 2):
        start = time.perf_counter()
        outputs = session.run(None, inputs)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[2:]), dict(zip([o.name for o in session.get_outputs()], outputs))


def work_seconds(path, steps):
    """What all operations of a step take on the slowest rank: the sum of their medians over the steps of a trace."""
    with open(path) as file:
        events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    ranks = {}
    for event in events:
        ranks.setdefault(event["pid"], []).append(event["dur"] * 1e-6)
    return max((float(np.median(np.reshape(times, (steps, -1)), axis=0).sum()) for times in ranks.values()), default=0.0)


class KernelBench:
    """One model in all runs."""

    def __init__(self, case, runs, folder):
        self.case, self.runs, self.folder = case, runs, folder
        self.inputs = write(case, folder)
        model, weights = os.path.join(folder, "model.onnx"), os.path.join(folder, "weights.bin")
        options = ["--weights", weights if os.path.exists(weights) else model]
        counts = {ranks for ranks, _ in runs}
        self.programs = {n: autopar.compile(model, os.path.join(folder, f"r{n}"), ranks=n, options=options) for n in counts}
        self.sessions = {n: onnxruntime_session(model, n) for n in {ranks * threads for ranks, threads in runs}}
        self.reference = {n: [] for n in self.sessions}
        self.work = {run: [] for run in runs}
        self.steps = {run: [] for run in runs}
        first = next(iter(self.sessions.values()))
        seconds, self.outputs = time_session(first, self.inputs, 5)
        self.count = int(min(MOST_STEPS, max(5, TURN_SECONDS / seconds)))

    def round(self, check):
        for threads, session in self.sessions.items():
            self.reference[threads].append(time_session(session, self.inputs, self.count)[0])
        for ranks, threads in self.runs:
            trace = os.path.join(self.folder, "trace.json")
            options = ["--threads", threads, "--warm-up", 3, "--repeat", self.count, "--trace", trace]
            outputs, report = self.programs[ranks].run(self.inputs, options=options, outputs=check)
            if check:
                worst = max(compare(outputs, self.outputs, 1e-4).values())
                if worst > 1:
                    raise SystemExit(f"{self.case.name}: outputs differ ({worst:.3g} of the tolerance)")
            self.work[ranks, threads].append(work_seconds(trace, self.count))
            self.steps[ranks, threads].append(report["seconds_per_step"]["median"])

    def row(self):
        row = {"group": self.case.group, "kernel": self.case.name, "runs": {}}
        for ranks, threads in self.runs:
            reference = statistics.median(self.reference[ranks * threads])
            ours = statistics.median(self.work[ranks, threads])
            row["runs"][f"{ranks}x{threads}"] = {
                "seconds": ours,
                "step_seconds": statistics.median(self.steps[ranks, threads]),
                "onnxruntime_seconds": reference,
                "ratio": ours / reference,
            }
        return row


def print_row(row):
    cells = [f"{run}: {1e6 * t['seconds']:7.1f} ({1e6 * t['step_seconds']:7.1f}) to {1e6 * t['onnxruntime_seconds']:7.1f} {t['ratio']:5.2f}x"
             for run, t in row["runs"].items()]
    print(f"  {row['kernel']:52s} {'   '.join(cells)}", flush=True)


def print_worst(rows):
    for run in rows[0]["runs"]:
        worst = max(rows, key=lambda row: row["runs"][run]["ratio"])
        ratios = [row["runs"][run]["ratio"] for row in rows]
        print(f"{run}: geometric mean {statistics.geometric_mean(ratios):.2f}x, over 1.2x: {sum(r > 1.2 for r in ratios)} of {len(rows)}, "
              f"worst {max(ratios):.2f}x ({worst['kernel']})")


def parse_runs(text):
    return [tuple(int(part) for part in run.split("x")) for run in text.split(",")]


def main():
    cores = os.cpu_count()
    default = "1x1" if cores == 1 else f"1x1,1x{cores},2x{cores // 2}"
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--runs", type=parse_runs, default=parse_runs(default), help=f"default: {default}")
    arguments.add_argument("--only", default="", help="kernels with this text in their group or name")
    arguments.add_argument("--json", help="also write the table to this file")
    options = arguments.parse_args()
    rows, group = [], None
    for case in all_cases():
        if options.only not in case.group and options.only not in case.name:
            continue
        if case.group != group:
            group = case.group
            print(f"{group} (microseconds by RANKSxTHREADS: ours, the whole step, onnxruntime's)")
        with tempfile.TemporaryDirectory() as folder:
            bench = KernelBench(case, options.runs, folder)
            for number in range(options.rounds):
                bench.round(check=number == 0)
        rows.append(bench.row())
        print_row(rows[-1])
    print_worst(rows)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
