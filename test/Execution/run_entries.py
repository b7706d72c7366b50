"""Compiles several entries into one executable and runs each by its inputs' shapes.

    python test/Execution/run_entries.py [--ranks N,...] [--jobs N]

The models of ../shared/models/small with a symbolic batch, with batch 4 and 8 in one executable, on each number of ranks: every output
equals its reference, the report names the entry, only that entry's memory is held, plans are kept and taken again per entry, a shape
that no entry has is an error that lists them. The last line counts.
"""

import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from run_models import SUMMING, TOLERANCE, compare, find_tool, reference_of, run  # noqa: E402
from shared_models import SMALL, end_without  # noqa: E402

import numpy as np  # noqa: E402

MODELS = ["mlp-dyn", "bert-tiny-dyn", "resnet50-narrow-dyn"]
ENTRIES = ["--entry", "batch=4", "--entry", "batch=8"]


def run_entry(stem, folder, batch):
    code, log = run([stem, "--inputs", os.path.join(folder, f"inputs-b{batch}.npz"), "--outputs", stem + ".npz", "--json", stem + ".report.json"])
    if code:
        return f"batch {batch} ended with {code}: {log[-300:]}"
    with np.load(stem + ".npz") as got:
        worst = max(compare(dict(got), reference_of(folder, f"-b{batch}"), TOLERANCE * SUMMING).values())
    if not worst <= 1:
        return f"batch {batch}: outputs differ: {worst:.3g} of the tolerance"
    with open(stem + ".report.json") as file:
        entry = json.load(file)["entry"]
    return "" if entry == f"batch={batch}" else f"the report names entry {entry} for batch {batch}"


def wrong_shape(stem, folder):
    """What is wrong with the message for a batch of 5."""
    with np.load(os.path.join(folder, "inputs-b4.npz")) as arrays:
        np.savez(stem + ".five.npz", **{name: np.concatenate([array, array[:1]]) for name, array in arrays.items()})
    code, log = run([stem, "--inputs", stem + ".five.npz"])
    told = 0 < code < 100 and "no entry takes" in log and "batch=4: " in log and "batch=8: " in log
    return "" if told else f"a batch of 5 ended with {code}: {log[-300:]}"


def attempt(model, ranks, work):
    folder, stem = os.path.join(SMALL, model), os.path.join(work, f"{model}.{ranks}")
    file = os.path.join(folder, "model.onnx")
    compile = [find_tool(), "compile", file, "-o", stem, "--weights", file, *ENTRIES]
    code, log = run([*compile, "--ranks", str(ranks), "--save-plan", stem + ".json"])
    if code:
        return f"compile ended with {code}: {log[-400:]}"
    for batch in (4, 8, 4):
        if message := run_entry(stem, folder, batch):
            return message
    if message := wrong_shape(stem, folder):
        return message
    with open(stem, "rb") as first:
        before = first.read()
    code, log = run([*compile, "--plan", stem + ".json"])
    if code:
        return f"the saved plans are refused: {log[-300:]}"
    with open(stem, "rb") as second:
        return "" if second.read() == before else "the saved plans make another executable"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--ranks", default="1,2,3,4")
    arguments.add_argument("--models", default=",".join(MODELS))
    arguments.add_argument("--jobs", type=int, default=2)
    options = arguments.parse_args()
    cases = [(model, int(ranks)) for model in options.models.split(",") for ranks in options.ranks.split(",")]
    end_without(SMALL, len(cases))
    failed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        for (model, ranks), error in zip(cases, pool.map(lambda case: attempt(*case, work), cases)):
            failed += bool(error)
            print(f"{'FAIL' if error else 'ok'}: {model} x{ranks}{': ' + error if error else ''}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
