"""Compares the results of two builds of the compiler byte for byte: outputs of models, losses and final states of trainings.

    python test/Execution/compare_results.py OTHER_TOOL [TOOL] [--only TEXT]

A case is a model of ../shared/models/small or a training of ../shared/training, and options of `autopar compile`. Both compilers make
a program of it, and both programs run on the same inputs. Each output tensor must have the same bytes. Each line of a training's log must
have the same loss and norm, and each final tensor the same bytes. A line per case, FAIL with the names of what differs; then
"N passed, N failed, N skipped".
"""

import argparse
import json
import os
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from programs import error_of  # noqa: E402
from shared_models import SHARED, SMALL, end_without  # noqa: E402

MODELS = ("mlp", "gpt2-tiny", "resnet50-narrow", "bert-tiny", "mixtral-tiny")
TRAININGS = ("mlp-adamw", "gpt2-tiny-adamw-cosine", "resnet-narrow-sgd-momentum")
WAYS = ("--ranks 1", "--ranks 2", "--ranks 3", "--ranks 2 --target emulated")
SECONDS = 600  # that a command may take
NUMBERS = ("step", "loss", "grad_norm", "learning_rate")


def results_of_model(tool, name, way, work):
    """The output tensors by name."""
    folder, program, outputs = os.path.join(SMALL, name), os.path.join(work, "program"), os.path.join(work, "out.npz")
    run([tool, "compile", os.path.join(folder, "model.onnx"), "-o", program, *way.split()])
    run([program, "--inputs", os.path.join(folder, "inputs.npz"), "--outputs", outputs])
    return dict(np.load(outputs))


def results_of_training(tool, name, way, work):
    """The final tensors by name, and the numbers of each line of the log."""
    folder, program = os.path.join(SHARED, "training", name), os.path.join(work, "program")
    log, final = os.path.join(work, "log.jsonl"), os.path.join(work, "final.safetensors")
    recipe = os.path.join(folder, "run.json")
    run([tool, "compile", os.path.join(folder, "model.onnx"), "--train", recipe, "-o", program, *way.split()])
    with open(recipe) as file:
        steps = json.load(file)["steps"]
    run([program, "--data", os.path.join(folder, "data.npz"), "--steps", str(steps), "--log", log, "--final", final])
    with open(log) as file:
        lines = [json.loads(line) for line in file]
    return {**load_file(final), **{key: np.array([line[key] for line in lines]) for key in NUMBERS if key in lines[0]}}


def run(command):
    if error := error_of(*command, timeout=SECONDS):
        sys.exit(f"{' '.join(command)}: {error}")


def same(first, second):
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", help="the compiler to compare with")
    parser.add_argument("tool", nargs="?", help="the compiler (default: the build's)")
    parser.add_argument("--only", default="", metavar="TEXT", help="the cases whose name and options contain it")
    options = parser.parse_args()
    cases = [(results, name, way) for results, names in ((results_of_model, MODELS), (results_of_training, TRAININGS))
             for name in names for way in WAYS if options.only in f"{name} {way}"]
    end_without(SMALL, len(cases))
    if not cases:
        parser.error("there is nothing to compare")
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        for results, name, way in cases:
            first, second = (results(tool, name, way, work) for tool in (options.tool or find_tool(), options.other))
            differing = sorted(key for key in {*first, *second}
                               if key not in first or key not in second or not same(first[key], second[key]))
            failed += bool(differing)
            print(f"{name} {way}: {len(first)} results{' FAIL: ' * bool(differing)}{', '.join(differing)}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
