"""Imports models and compares what their IR computes with references.

    python test/Frontend/Inputs/run_reference.py AUTOPAR_IMPORT FOLDER [...]

A FOLDER of a model has model.onnx, inputs.npz, outputs.npz; of a model with the symbolic dimension `batch` the files end in -b4.
The tolerance is |y - ref| <= 1e-4 * (std + |ref|). A folder of such folders stands for all of them.
Prints one line per model and ends with 1 if one differs; one that the importer refuses is no difference.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx


def run(tool, folder, inputs, outputs, options):
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False).graph
    weights = {t.name for t in model.initializer}
    names = [i.name for i in model.input if i.name not in weights]
    with tempfile.TemporaryDirectory() as work:
        for i, name in enumerate(names):
            inputs[name].tofile(os.path.join(work, f"in.{i}"))
        command = [tool, os.path.join(folder, "model.onnx"), "--prepare", "--run", work] + options
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or done.stderr:
            return "error: " + (done.stderr or f"exit code {done.returncode}").strip().splitlines()[0]
        worst = 0.0
        for i, output in enumerate(model.output):
            expected = outputs[output.name]
            actual = np.fromfile(os.path.join(work, f"out.{i}"), expected.dtype).reshape(expected.shape)
            expected, actual = expected.astype(np.float64), actual.astype(np.float64)
            limit = 1e-4 * (expected.std() + np.abs(expected)) + 1e-30
            difference = np.where(expected == actual, 0, np.abs(actual - expected) / limit)
            worst = max(worst, np.nan_to_num(difference, nan=np.inf).max(initial=0))
        return f"{'ok' if worst <= 1 else 'WRONG'}: {worst:.3g} of the tolerance"


def main():
    tool, folders = shutil.which(sys.argv[1]) or sys.argv[1], []
    for folder in sys.argv[2:]:
        inner = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        folders += [f for f in inner if os.path.isdir(f)] or [folder]
    bad = False
    for folder in folders:
        dyn = not os.path.exists(os.path.join(folder, "inputs.npz"))
        end = "-b4" if dyn else ""
        arrays = [np.load(os.path.join(folder, f"{kind}{end}.npz")) for kind in ("inputs", "outputs")]
        result = run(tool, folder, *arrays, ["--bind", "batch=4"] if dyn else [])
        print(os.path.basename(os.path.normpath(folder)), result, flush=True)
        bad |= result.startswith("WRONG")
    return bad


if __name__ == "__main__":
    sys.exit(main())
