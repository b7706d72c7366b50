"""The derivative of each training case's loss along a random direction of all its parameters, in f64, against the central difference.

    python test/Execution/run_directional.py TOOL FOLDER [CASE ...]

Without names, every case of ../shared/training. Ends with the counts of autopar-property-tests, which does the work and must be on the PATH.
"""

import os
import subprocess
import sys

from run_training import recipe_of
from shared_models import SHARED, end_without


def main():
    tool, folder, *cases = sys.argv[1:]
    training = os.path.join(SHARED, "training")
    end_without(training)
    os.makedirs(folder, exist_ok=True)
    files = []
    for case in cases or sorted(os.listdir(training)):
        path = {name: os.path.join(training, case, name) for name in ("model.onnx", "run.json")}
        if not os.path.exists(path["run.json"]):
            continue
        bindings = ["--bind", "batch=4"] if recipe_of(case)["symbolic_batch"] else []
        files.append(os.path.join(folder, case + ".mlir"))
        subprocess.run([tool, "compile", path["model.onnx"], "--train", path["run.json"], *bindings, "--stop-after", "import", "-o", files[-1]],
                       check=True)
    return subprocess.run(["autopar-property-tests", "--derivatives", *files], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
