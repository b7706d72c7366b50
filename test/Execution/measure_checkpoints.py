"""What checkpoints of gpt2-124m with AdamW cost: how long steps stand still, steps beside the thread that writes, saving beside a plain write, resuming beside plain reading.

    python test/Execution/measure_checkpoints.py TOOL FOLDER [--steps 48] [--every 6] [--ranks 1] [--rounds 5]

A graph of that size with random weights has 1.5 GB of states. Runs without and with checkpoints, plain writes with fsync and plain reads of as many bytes alternate.
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


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def write_plainly(path, size):
    data = bytes(1 << 24)
    with open(path, "wb", buffering=0) as file:
        for at in range(0, size, len(data)):
            file.write(data[:min(len(data), size - at)])
        os.fsync(file.fileno())


def read_plainly(paths):
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            view = memoryview(bytearray(os.path.getsize(path)))
            while view:
                view = view[file.readinto(view):]


def run(program, work, steps, *options, watch=None):
    """Its seconds, its log, its report, and how long each save took: from the begin of its folder to its name, where `watch` is the folder of checkpoints."""
    log, saves, begun = os.path.join(work, "log.jsonl"), [], {}
    start = time.perf_counter()
    process = subprocess.Popen([program, "--data", os.path.join(work, "data.npz"), "--steps", str(steps), "--log", log, "--json", os.path.join(work, "report.json"), *options],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while watch and process.poll() is None:
        names = os.listdir(watch) if os.path.isdir(watch) else []
        for name in names:
            if name.startswith(".writing-"):
                begun.setdefault(name[9:], time.perf_counter())
            elif name[5:] in begun:
                saves.append(time.perf_counter() - begun.pop(name[5:]))
        time.sleep(0.005)
    told = process.communicate()[1]
    seconds = time.perf_counter() - start
    assert process.returncode == 0, told
    with open(log) as file:
        lines = [json.loads(line) for line in file]
    with open(os.path.join(work, "report.json")) as file:
        return seconds, lines, json.load(file), saves


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} s ({min(values):.{digits}f} to {max(values):.{digits}f})"


def ratio(values):
    return f"{statistics.median(values):.2f} of it ({min(values):.2f} to {max(values):.2f} in the rounds)"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--steps", type=int, default=48)
    arguments.add_argument("--every", type=int, default=6, help="steps from one save to the next; a save lasts about three")
    arguments.add_argument("--ranks", default="1")
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    model, program, work = os.path.join(options.folder, "gpt2-124m"), os.path.join(options.folder, "program"), options.folder
    if not os.path.exists(model):
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
    alone, beside, copies, writes, saves, before, after, size = [], [], [], [], [], {}, {}, 0
    slower, longer = [], []  # ratios within each round: hosts change their speed from round to round
    for _ in range(options.rounds):
        shutil.rmtree(checkpoints, ignore_errors=True)
        _, lines, before, _ = run(program, work, options.steps)
        alone.append([line["seconds"] for line in lines[1:]])
        _, lines, after, seconds = run(program, work, options.steps, "--checkpoint", checkpoints, "--checkpoint-every", str(options.every), "--keep", "1", watch=checkpoints)
        beside.append([line["seconds"] for line in lines if "save_seconds" in line])
        copies += [line["save_seconds"] for line in lines if "save_seconds" in line]
        saves.append(seconds)
        size = sum(os.path.getsize(path) for path in glob.glob(os.path.join(checkpoints, "step-*", "rank-*")))
        writes.append(timed(lambda: write_plainly(os.path.join(work, "plain"), size)))
        os.remove(os.path.join(work, "plain"))
        slower.append(statistics.median(beside[-1]) / statistics.median(alone[-1]))
        longer.append(statistics.median(saves[-1]) / writes[-1])
    print(f"{size / 1e9:.2f} GB of states on {options.ranks} ranks, medians and spreads of {options.rounds} alternating rounds")
    print(f"steps stand still for {spread(copies)}, copies of all states")
    print(f"a step alone {spread(sum(alone, []))}, the one beside the thread that writes {spread(sum(beside, []))}: {ratio(slower)}")
    print(f"a plain write with fsync {spread(writes)}, a save {spread(sum(saves, []))}: {ratio(longer)}")
    print(f"memory of the processes at most {sum(before['process_peak_bytes']) / 1e9:.2f} GB without checkpoints, {sum(after['process_peak_bytes']) / 1e9:.2f} GB with them")
    begins, resumes, reads, files = [], [], [], glob.glob(os.path.join(checkpoints, "step-*", "rank-*"))
    for _ in range(options.rounds):
        reads.append(timed(lambda: read_plainly(files)))
        begins.append(run(program, work, 1)[0])
        resumes.append(run(program, work, options.steps + 1, "--resume", checkpoints)[0])
    without = statistics.median(resumes) - statistics.median(sum(alone, []))
    print(f"a run of one step that begins takes {spread(begins)}, one that resumes {spread(resumes)}: all but its step {without:.2f} s; a plain read {spread(reads)}, {without / statistics.median(reads):.2f} of it")


if __name__ == "__main__":
    sys.exit(main())
