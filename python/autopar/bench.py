"""Times executables beside onnxruntime: all of them take turns in one run, so that a busy machine slows all alike.

    python -m autopar.bench MODEL_FOLDER... [--rounds 3] [--repeat 2] [--ranks 1,2,4] [--quick] [--json FILE]

A folder holds model.onnx and inputs.npz. For each model: onnxruntime with all cores, one rank with as many threads, and more
ranks with the cores shared out among them. A time is the best of all steps. Outputs must agree, or no time is printed.
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

MIB = 1 << 20


def onnxruntime_session(folder, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"])


def time_session(session, inputs, warm_up, repeat):
    """Seconds of each step after `warm_up` steps, and the outputs by name."""
    seconds = []
    for _ in range(warm_up + repeat):
        start = time.perf_counter()
        outputs = session.run(None, inputs)
        seconds.append(time.perf_counter() - start)
    return seconds[warm_up:], dict(zip([o.name for o in session.get_outputs()], outputs))


def check(name, outputs, reference, tolerance):
    worst = max(compare(outputs, reference, tolerance).values())
    if worst > 1:
        raise SystemExit(f"{name}: outputs differ ({worst:.3g} of the tolerance); no times for wrong numbers")


class Bench:
    """One model's programs and the times measured so far."""

    def __init__(self, folder, ranks, work):
        folder = os.path.abspath(folder)  # executables find weights relative to themselves
        self.name = os.path.basename(folder)
        self.cores = os.cpu_count()
        with np.load(os.path.join(folder, "inputs.npz")) as arrays:
            self.inputs = dict(arrays)
        model, weights = os.path.join(folder, "model.onnx"), os.path.join(folder, "weights.bin")
        options = ["--weights", weights if os.path.exists(weights) else model]
        self.programs = {n: autopar.compile(model, os.path.join(work, f"{self.name}-r{n}"), ranks=n, options=options) for n in ranks}
        self.session = onnxruntime_session(folder, self.cores)
        self.session_seconds = []
        self.seconds = {n: [] for n in ranks}
        self.reports = {}

    def threads(self, ranks):
        return max(1, self.cores // ranks)

    def round(self, repeat, first):
        """One turn for everyone; the first turn compares outputs."""
        seconds, reference = time_session(self.session, self.inputs, int(first), repeat)
        self.session_seconds += seconds
        for ranks, program in self.programs.items():
            options = ["--threads", self.threads(ranks), "--warm-up", 1, "--repeat", repeat]
            outputs, report = program.run(self.inputs, options=options, outputs=first)
            if first:
                check(f"{self.name} on {ranks} ranks", outputs, reference, 1e-4 if ranks == 1 else 5e-4)
            self.seconds[ranks].append(report["seconds_per_step"]["min"])
            self.reports[ranks] = report

    def result(self):
        row = {"model": self.name, "onnxruntime_seconds": min(self.session_seconds), "ranks": {}}
        for ranks, report in self.reports.items():
            row["ranks"][ranks] = {
                "threads_per_rank": self.threads(ranks),
                "seconds": min(self.seconds[ranks]),
                "predicted_seconds": report["predicted_step_seconds"],
                "peak_memory_bytes": max(report["peak_memory_bytes"]),
                "predicted_peak_memory_bytes": max(report["predicted_peak_memory_bytes"] or [0]),
            }
        return row


def print_row(row):
    reference, ranks = row["onnxruntime_seconds"], row["ranks"]
    print(f"{row['model']}: onnxruntime {reference * 1e3:.1f} ms")
    base = next(iter(ranks.values()))["seconds"]
    for count, run in ranks.items():
        print(f"  {count} rank{'s' if count > 1 else ' '} x {run['threads_per_rank']}: {run['seconds'] * 1e3:9.1f} ms, "
              f"{run['seconds'] / reference:.2f}x onnxruntime, {run['seconds'] / base:.2f}x one rank, "
              f"predicted {run['predicted_seconds'] * 1e3:.1f} ms; peak {run['peak_memory_bytes'] / MIB:.0f} MiB a rank, "
              f"predicted {run['predicted_peak_memory_bytes'] / MIB:.0f}", flush=True)


def print_means(rows):
    """Geometric means over the models: of one rank to onnxruntime, of more ranks to one."""
    counts = list(rows[0]["ranks"])
    mean = statistics.geometric_mean(row["ranks"][counts[0]]["seconds"] / row["onnxruntime_seconds"] for row in rows)
    print(f"geometric mean over {len(rows)} models, {counts[0]} rank: {mean:.3f}x onnxruntime")
    for count in counts[1:]:
        ratios = [row["ranks"][count]["seconds"] / row["ranks"][counts[0]]["seconds"] for row in rows]
        print(f"{count} ranks to {counts[0]}: geometric mean {statistics.geometric_mean(ratios):.3f}, worst {max(ratios):.3f}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", nargs="+")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--repeat", type=int, default=2)
    arguments.add_argument("--ranks", default="1,2,4", help="numbers of ranks, the first is what others are compared with")
    arguments.add_argument("--quick", action="store_true", help="one round")
    arguments.add_argument("--json", help="also write the table to this file")
    options = arguments.parse_args()
    ranks = [int(text) for text in options.ranks.split(",")]
    rows = []
    for folder in options.folders:
        with tempfile.TemporaryDirectory() as work:
            bench = Bench(folder, ranks, work)
            for number in range(1 if options.quick else options.rounds):
                bench.round(options.repeat, first=number == 0)
        rows.append(bench.result())
        print_row(rows[-1])
    print_means(rows)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
