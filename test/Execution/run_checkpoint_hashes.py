"""Checkpoints have the hashes of recipe and model. Checkpoints that are given as weights.

    python test/Execution/run_checkpoint_hashes.py TOOL FOLDER

The last line counts.
"""

import json
import os
import subprocess
import sys
import warnings

import onnx

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from run_checkpoints import perceptron, saved  # noqa: E402
from training_runs import Checks, report, tool_and_folder  # noqa: E402


def check_hashes(tool, work):
    """A checkpoint knows recipe and model by their hashes: a change that no state shows is a warning, once."""
    training, program, folder = saved(tool, os.path.join(work, "saved"))

    def told(other, out, steps, *options):
        done = subprocess.run(other.command(other.compile("--ranks 1"), out, steps, "--resume", folder, *options), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if " not as when the checkpoint " in line]
    with open(training.path("first.jsonl")) as file:
        ran = json.loads(file.readline())["run"]
    with open(os.path.join(folder, "step-00000012", "manifest.json")) as file:
        hashes = json.load(file)["hashes"]
    assert hashes == {"model": ran["model_hash"], "recipe": ran["recipe_hash"]}, (hashes, ran)
    listed = subprocess.run([tool, "checkpoint", "inspect", folder], capture_output=True, text=True, timeout=60).stdout
    assert f"model.onnx, graph {hashes['model']}\nrecipe      {hashes['recipe']}\n" in listed, listed
    rate = perceptron(tool, os.path.join(work, "rate"), optimizer={"kind": "adamw", "lr": 2e-2})
    assert told(training, "same", 13) == []
    warned = told(rate, "rate", 13)
    assert len(warned) == 1 and "warning: the recipe is not as when" in warned[0] and "another learning rate or evaluation?" in warned[0], warned
    assert told(rate, "anew", 13, "--resume-ignoring", "optimizer") == []
    model = onnx.load(rate.model)
    next(node for node in model.graph.node if node.op_type == "Relu").op_type = "Tanh"
    onnx.save(model, rate.model)
    warned = told(rate, "tanh", 13)
    assert len(warned) == 1 and "warning: model and recipe are not as when" in warned[0], warned
    with autopar.Trainer(training.model, rate.recipe) as trainer, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trainer.resume(folder)
        assert [str(one.message).split(" (")[0].split(" when")[0] for one in caught] == ["the recipe is not as"], caught


def check_weights(tool, work):
    """A checkpoint is no file of weights: the error says how to make one, and that one is taken."""
    training, program, folder = saved(tool, os.path.join(work, "saved"))
    newest = os.path.join(folder, "step-00000012")
    for path, what in ((folder, "is a folder of checkpoints"), (newest, "is a checkpoint"), (os.path.join(newest, "rank-0001.safetensors"), "is a part of a checkpoint")):
        error = training.run(program, "begun", 1, "--weights", path) or "it ran"
        assert what in error and "autopar checkpoint export " in error and "--resume " in error, error
    exported = training.path("weights.safetensors")
    subprocess.run([tool, "checkpoint", "export", folder, "-o", exported], check=True, timeout=60)
    os.symlink(exported, os.path.join(folder, "weights.safetensors"))  # beside checkpoints it is one
    for path in (exported, folder):
        error = training.run(program, "begun", 1, "--weights", path)
        assert not error, error


def main():
    options = tool_and_folder(__doc__)
    checks = Checks(options.folder)
    checks.add("hashes", lambda work: check_hashes(options.tool, work))
    checks.add("checkpoints as weights", lambda work: check_weights(options.tool, work))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
