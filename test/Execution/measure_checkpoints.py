"""What checkpoints of gpt2-124m with AdamW cost: how long steps stand still, steps beside the thread that writes, saving beside a plain write, resuming beside plain reading.

    python test/Execution/measure_checkpoints.py TOOL FOLDER [--steps 24] [--ranks 1]

A graph of that size with random weights has 1.5 GB of states. Figures of one run; plain writes (with fsync) and reads of as many bytes alternate, medians of five.
"""

import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import models  # noqa: E402
from programs import error_of  # noqa: E402


def seconds_of(work):
    """Medians of five: of a plain write of `work`'s bytes with fsync, and of a read."""
    data, writes, reads = bytes(1 << 24), [], []
    size = sum(os.path.getsize(path) for path in glob.glob(os.path.join(work, "step-*", "rank-*")))
    for _ in range(5):
        path = os.path.join(work, "plain")
        start = time.perf_counter()
        with open(path, "wb", buffering=0) as file:
            for at in range(0, size, len(data)):
                file.write(data[:min(len(data), size - at)])
            os.fsync(file.fileno())
        writes.append(time.perf_counter() - start)
        start = time.perf_counter()
        with open(path, "rb", buffering=0) as file:
            whole = bytearray(size)
            view = memoryview(whole)
            while view:
                view = view[file.readinto(view):]
        reads.append(time.perf_counter() - start)
        os.remove(path)
    return size, statistics.median(writes), statistics.median(reads)


def run(program, work, steps, *options):
    log = os.path.join(work, "log.jsonl")
    start = time.perf_counter()
    done = subprocess.run([program, "--data", os.path.join(work, "data.npz"), "--steps", str(steps), "--log", log, "--json", os.path.join(work, "report.json"), *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(log) as file:
        lines = [json.loads(line) for line in file]
    with open(os.path.join(work, "report.json")) as file:
        return time.perf_counter() - start, lines, json.load(file)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--steps", type=int, default=24)
    arguments.add_argument("--ranks", default="1")
    options = arguments.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    model, program, work = os.path.join(options.folder, "gpt2-124m"), os.path.join(options.folder, "program"), options.folder
    models.gpt2(model, batch=1, sequence=64, layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024)
    with open(os.path.join(work, "recipe.json"), "w") as file:
        json.dump({"loss": "causal_lm_shifted_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 1e-4}}, file)
    error = error_of(options.tool, "compile", os.path.join(model, "model.onnx"), "-o", program, "--train", os.path.join(work, "recipe.json"), "--ranks", options.ranks,
                     timeout=1800)
    assert not error, error
    names = [port.name for port in onnx.load(os.path.join(model, "model.onnx"), load_external_data=False).graph.input]
    np.savez(os.path.join(work, "data.npz"), **{name: np.random.default_rng(1).integers(0, 50257, (4, 1, 64)) for name in names})
    checkpoints = os.path.join(work, "run")
    shutil.rmtree(checkpoints, ignore_errors=True)
    _, alone, before = run(program, work, options.steps)
    _, beside, after = run(program, work, options.steps, "--checkpoint", checkpoints, "--checkpoint-every", str(options.steps // 3), "--keep", "1")
    size, write, read = seconds_of(checkpoints)
    step = statistics.median(line["seconds"] for line in alone[1:])
    print(f"{size / 1e9:.2f} GB of states on {options.ranks} ranks; a plain write with fsync {write:.2f} s, a read {read:.2f} s; a step {step:.3f} s")
    stood = [line["save_seconds"] for line in beside if "save_seconds" in line]
    print(f"steps stood still for {', '.join(f'{seconds:.3f}' for seconds in stood)} s, copies of all states")
    busy = statistics.median(line["seconds"] for line in beside if "save_seconds" in line)
    print(f"a step beside the thread that writes {busy:.3f} s, {busy / step:.2f} of one alone")
    print(f"memory of the processes at most {sum(before['process_peak_bytes']) / 1e9:.2f} GB without checkpoints, {sum(after['process_peak_bytes']) / 1e9:.2f} GB with them")
    begins, resumes = [], []
    for _ in range(5):
        begins.append(run(program, work, 1)[0])
        resumes.append(run(program, work, options.steps + 1, "--resume", checkpoints)[0])
    print(f"a run of one step that begins {statistics.median(begins):.2f} s, that resumes {statistics.median(resumes):.2f} s")


if __name__ == "__main__":
    sys.exit(main())
