"""Gradients of the -train models of ../shared/models/small against PyTorch's, by every way of running them.

    python test/Execution/run_gradients.py TOOL FOLDER [MODEL ...] [--full] [--target emulated]

Each gradient must be within 1e-4 of the reference's norm (and the norm of all: keys' biases have none), the loss within 1e-5. Without
--full each model on one way and a sample of the others. The last line counts.
"""

import argparse
import itertools
import json
import os

import numpy as np
from safetensors.numpy import load_file

from programs import error_of
from run_training import WAYS, sample
from shared_models import SMALL, end_without


def attempt(tool, model, out, way):
    """What is wrong with the first step's loss and gradients, or None."""
    folder = os.path.join(SMALL, model)
    with np.load(os.path.join(folder, "train.npz")) as reference:
        want = {name: reference[name] for name in reference.files}
    with np.load(os.path.join(folder, "inputs.npz")) as file:
        inputs = {name: file[name] for name in file.files}
    gradients = {name.removeprefix("grad:"): value for name, value in want.items() if name.startswith("grad:")}
    with open(out + ".json", "w") as file:
        json.dump({"loss": "masked_cross_entropy_mean", "optimizer": {"kind": "sgd"}, "trainable": sorted(gradients)}, file)
    np.savez(out + ".npz", **{name: value[None] for name, value in {**inputs, "labels": want["labels"]}.items()})
    if error := error_of(tool, "compile", os.path.join(folder, "model.onnx"), "-o", out, "--train", out + ".json", *way.split()):
        return error
    if error := error_of(out, "--data", out + ".npz", "--steps", "1", "--log", out + ".jsonl", "--gradients", out + ".safetensors"):
        return error
    with open(out + ".jsonl") as file:
        loss = json.loads(file.readline())["loss"]
    if not abs(loss - want["loss"]) <= 1e-5 * abs(want["loss"]):
        return f"the loss is {loss}, not {want['loss']}"
    got = load_file(out + ".safetensors")
    if sorted(got) != sorted(gradients):
        return f"there are gradients of {sorted(got)}"
    all_of_it = np.sqrt(sum((value.astype(np.float64) ** 2).sum() for value in gradients.values()))
    for name, value in gradients.items():
        difference = np.linalg.norm(got[name].astype(np.float64) - value)
        if not difference <= 1e-4 * np.linalg.norm(value) + 1e-6 * all_of_it:
            return f"{name} differs by {difference / np.linalg.norm(value):.1e}"
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("models", nargs="*")
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--target")
    options = arguments.parse_args()
    end_without(SMALL)
    os.makedirs(options.folder, exist_ok=True)
    models = options.models or sorted(name for name in os.listdir(SMALL) if name.endswith("-train"))
    pairs = list(itertools.product(models, WAYS))
    failed = 0
    pairs = pairs if options.full else sample(models)
    for number, (model, way) in enumerate(pairs):
        way += f" --target {options.target}" if options.target else ""
        error = attempt(options.tool, model, os.path.join(options.folder, str(number)), way)
        failed += error is not None
        print(f"FAIL: {model} {way}: {error}" if error else f"ok: {model} {way}", flush=True)
    print(f"{len(pairs) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
