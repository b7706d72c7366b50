"""`--check-numerics`: a run ends at its first NaN or infinity and names step, tensor and op, on any number of ranks.

    python test/Execution/run_numerics.py TOOL FOLDER

The last line counts.
"""

import argparse
import json

import numpy as np
from onnx import TensorProto, helper

from training_runs import Runs, report, write_model

WAYS = ["--ranks 1", "--ranks 3", "--ranks 5 --strategy data", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2", "--ranks 2 --target emulated"]
RECIPE = {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 1e-3}}
ROWS, STEPS, AT = 12, 6, 3


def write_log(folder):
    """y = log(relu(x w1 + b1)) w2: a log of 0 where a row is far below 0. What it is made of is positive else."""
    node = helper.make_node
    nodes = [node("MatMul", ["x", "w1"], ["z"], name="first"), node("Add", ["z", "b1"], ["a"], name="bias"), node("Relu", ["a"], ["h"], name="relu"),
             node("Log", ["h"], ["l"], name="logarithm"), node("MatMul", ["l", "w2"], ["y"], name="second")]
    random = np.random.Generator(np.random.PCG64(1))
    weights = {"w1": np.abs(random.standard_normal((5, 8))).astype(np.float32), "b1": np.ones(8, np.float32),
               "w2": random.standard_normal((8, 4)).astype(np.float32)}
    write_model(folder, nodes, {"x": (TensorProto.FLOAT, [ROWS, 5])}, {"y": (TensorProto.FLOAT, [ROWS, 4])}, weights)


def check(runs, value, message, **recipe):
    """What the run says if one number of step AT's data is this one; a message of None: it ends well."""
    blocks = recipe.get("accumulation", 1)
    error = runs.compile("--check-numerics", **recipe)
    assert not error, error
    data = {"x": np.ones((STEPS, ROWS, 5), np.float32), "labels": np.ones((STEPS, ROWS, 4), np.float32)}
    data["x"][AT, 7, 2] = value
    if blocks > 1:
        data = {name: np.concatenate([np.ones_like(array)] * (blocks - 1) + [array], axis=1) for name, array in data.items()}
    said = runs.run(data)
    if "loss_scale" in recipe:  # what it lets pass is there
        with open(runs.path("log.jsonl")) as file:
            assert any(json.loads(line)["skipped"] for line in file), "no gradient overflowed"
    assert said is None if message is None else said and f"step {AT}: the first number that is not finite: {message}" in said, said


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    options = arguments.parse_args()
    write_log(options.folder)
    checks = []
    for way in WAYS:
        runs = Runs(options.tool, options.folder, way, RECIPE)
        checks += [(f"{way}: all finite", lambda runs=runs: check(runs, 1, None)),
                   (f"{way}: NaN in data", lambda runs=runs: check(runs, np.nan, "NaN in input 'x', which node 'first' reads")),
                   (f"{way}: log of 0", lambda runs=runs: check(runs, -1000, "Inf in tensor 'l' of node 'logarithm' (unary)")),
                   (f"{way}: gradients of fp16", lambda runs=runs: check(runs, 1, None, precision="fp16", loss_scale=2.0 ** 40)),
                   (f"{way}: NaN in blocks", lambda runs=runs: check(runs, np.nan, "NaN in input 'x', which node 'first' reads", accumulation=2))]
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
