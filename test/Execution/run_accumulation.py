"""Accumulation of training cases whose batch is fixed, against PyTorch's: the graph's batch is a block, a step has 2 or 4 of them.

    python test/Execution/run_accumulation.py TOOL FOLDER [CASE ...]

../shared/training/train.py makes data of longer steps and trains on it in PyTorch, which must be installed as onnxruntime must; margins are those of
run_training.py. Without names: batch norm, whose statistics are those of a block, and a masked loss, whose mean is that of a block's
labels. The last line counts.
"""

import argparse
import importlib.util
import os
import shutil

import numpy as np
from safetensors.numpy import save_file

from run_training import attempt, recipe_of
from shared_models import SHARED, end_without

# In 4 blocks resnet-narrow has, from step 8 on, an activation so near 0 that rounding decides its gradient: some ways pass, some do not.
CASES = {"resnet-narrow-sgd-momentum": [2], "bert-tiny-mlm-adamw": [2, 4]}
WAYS = ["--ranks 1", "--ranks 2 --strategy data", "--ranks 3", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2", "--ranks 2 --target emulated"]


def load(path):
    spec = importlib.util.spec_from_file_location("train", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_reference(train, case, blocks, folder):
    """The files of a case, of steps of so many blocks; the recipe."""
    given = train.CASES[case]
    longer = {**given, "batch": given["batch"] * blocks, "accumulation": blocks}
    data = longer["data"](np.random.default_rng(longer.get("seed", 1)), longer["steps"], longer["batch"])
    losses, norms, final = train.train(longer, data)
    os.makedirs(folder, exist_ok=True)
    np.savez(os.path.join(folder, "data.npz"), **data)
    np.save(os.path.join(folder, "losses.npy"), losses)
    np.save(os.path.join(folder, "grad_norms.npy"), norms)
    save_file(final, os.path.join(folder, "final.safetensors"))
    shutil.copy(os.path.join(SHARED, "training", case, "model.onnx"), folder)
    return dict(recipe_of(case), accumulation=blocks, batch=longer["batch"], mean_over="block")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("cases", nargs="*")
    options = arguments.parse_args()
    source = os.path.join(SHARED, "training", "train.py")
    end_without(source)
    train = load(source)
    failed = runs = 0
    for case in options.cases or CASES:
        for blocks in CASES.get(case, [2, 4]):
            folder = os.path.join(options.folder, f"{case}-{blocks}")
            recipe = make_reference(train, case, blocks, folder)
            for way in WAYS:
                error = attempt(options.tool, folder, recipe, os.path.join(folder, "out"), way)
                runs += 1
                failed += error is not None
                name = f"{case} of {blocks} blocks {way}"
                print(f"FAIL: {name}: {error}" if error else f"ok: {name}", flush=True)
    print(f"{runs - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
