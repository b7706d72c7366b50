"""Mutants of partitioned training steps: what breaks the sum of gradients, the norm or an update must not pass the checker.

    python test/Execution/run_training_mutants.py FOLDER [--mutants N]

A model with a table that embeds tokens and gives the logits, too, trained with clipping in two blocks. autopar-property-tests, which
must be on the PATH, makes the mutants; each kind that training steps have must be there. Ends with its counts.
"""

import argparse
import os
import subprocess

import numpy as np
from onnx import TensorProto, helper

from training_runs import Runs, write_model

WAYS = ["--ranks 2 --strategy data", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2", "--ranks 3 --strategy data"]
RECIPE = {"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 0.01}, "clip_global_norm": 0.5, "accumulation": 2}
ROWS, WORDS, WIDTH, HIDDEN = 12, 10, 8, 12


def write_tied(folder):
    node = helper.make_node
    nodes = [node("Gather", ["table", "x"], ["e"], name="e"), node("MatMul", ["e", "w1"], ["z"], name="z"), node("Tanh", ["z"], ["h"], name="h"),
             node("MatMul", ["h", "w2"], ["u"], name="u"), node("Transpose", ["table"], ["t"], perm=[1, 0], name="t"),
             node("MatMul", ["u", "t"], ["y"], name="y")]
    random = np.random.Generator(np.random.PCG64(3))
    weights = {name: random.standard_normal(shape).astype(np.float32) for name, shape in
               (("table", (WORDS, WIDTH)), ("w1", (WIDTH, HIDDEN)), ("w2", (HIDDEN, WIDTH)))}
    write_model(folder, nodes, {"x": (TensorProto.INT64, [ROWS])}, {"y": (TensorProto.FLOAT, [ROWS, WORDS])}, weights)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder")
    arguments.add_argument("--mutants", default="20", help="of each kind and program (default: 20)")
    options = arguments.parse_args()
    write_tied(options.folder)
    files = []
    for number, way in enumerate(WAYS):
        runs = Runs("autopar", options.folder, way, RECIPE)
        files.append(runs.path(f"{number}.mlir"))
        error = runs.compile("--stop-after", "plan", "-o", files[-1])
        assert not error, error
    done = subprocess.run(["autopar-property-tests", "--mutations", "--mutants", options.mutants, *files], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    rows = [line.split(None, 4) for line in done.stdout.splitlines() if " training: " in line]
    assert len(rows) == 6 and all(int(row[1]) > 0 for row in rows), "a kind of mutant is not there"
    assert all(int(row[3]) == 0 for row in rows), "a mutant is missed"
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
