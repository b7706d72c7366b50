"""Times an executable beside onnxruntime: the two alternate in one run, medians and spread are printed with their ratio.

    python -m autopar.bench MODEL_FOLDER... [--rounds 3] [--repeat 5]

A folder holds model.onnx and inputs.npz. For each model: one rank with all cores against onnxruntime with as many threads,
then 2 and 4 ranks of one thread against one rank. Outputs must agree, or no time is printed.
"""

import argparse
import os
import statistics
import tempfile
import time

import numpy as np
import onnxruntime

import autopar
from autopar.compare import compare


def onnxruntime_session(folder, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"])


def time_session(session, inputs, repeat):
    seconds = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        outputs = session.run(None, inputs)
        seconds.append(time.perf_counter() - start)
    return seconds[1:], dict(zip([o.name for o in session.get_outputs()], outputs))


def time_program(program, inputs, threads, repeat):
    options = ["--threads", threads, "--warm-up", 1, "--repeat", repeat]
    outputs, report = program.run(inputs, options=options)
    return report["seconds_per_step"], outputs


def check(name, outputs, reference, tolerance):
    worst = max(compare(outputs, reference, tolerance).values())
    if worst > 1:
        raise SystemExit(f"{name}: outputs differ ({worst:.3g} of the tolerance); no times for wrong numbers")


def bench(folder, rounds, repeat, work):
    """Prints one model's table; returns its ratio to onnxruntime at one rank."""
    name = os.path.basename(os.path.normpath(folder))
    cores = os.cpu_count()
    with np.load(os.path.join(folder, "inputs.npz")) as arrays:
        inputs = dict(arrays)
    model = os.path.join(folder, "model.onnx")
    weights = os.path.join(folder, "weights.bin")
    session = onnxruntime_session(folder, cores)
    programs = {ranks: autopar.compile(model, os.path.join(work, f"{name}-r{ranks}"), ranks=ranks,
                                       options=["--weights", weights if os.path.exists(weights) else model])
                for ranks in (1, 2, 4)}
    times = {"onnxruntime": [], 1: [], 2: [], 4: []}
    for _ in range(rounds):
        seconds, reference = time_session(session, inputs, repeat)
        times["onnxruntime"] += seconds
        for ranks, program in programs.items():
            report, outputs = time_program(program, inputs, max(1, cores // ranks), repeat)
            check(f"{name} on {ranks} ranks", outputs, reference, 1e-4 if ranks == 1 else 5e-4)
            times[ranks].append(report["median"])
    medians = {key: statistics.median(values) for key, values in times.items()}
    one = medians[1]
    print(f"{name}: onnxruntime {medians['onnxruntime'] * 1e3:.2f} ms ({cores} threads)")
    print(f"  1 rank x {cores} threads: {one * 1e3:.2f} ms, {one / medians['onnxruntime']:.2f}x onnxruntime "
          f"(spread {min(times[1]) * 1e3:.2f}-{max(times[1]) * 1e3:.2f})")
    for ranks in (2, 4):
        print(f"  {ranks} ranks x {max(1, cores // ranks)} thread: {medians[ranks] * 1e3:.2f} ms, {medians[ranks] / one:.2f}x one rank")
    return one / medians["onnxruntime"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", nargs="+")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--repeat", type=int, default=5)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as work:
        ratios = [bench(folder, options.rounds, options.repeat, work) for folder in options.folders]
    print(f"geometric mean over {len(ratios)} model(s): {statistics.geometric_mean(ratios):.2f}x onnxruntime")


if __name__ == "__main__":
    main()
