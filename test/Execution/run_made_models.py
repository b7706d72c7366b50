"""Models that the repository makes itself, compiled for several ranks and compared with onnxruntime.

    python test/Execution/run_made_models.py AUTOPAR WORK_FOLDER

One case per model is computed in each low precision, with a tolerance for its digits. On the emulated GPU an mlp whose sizes are no
multiples of what its GEMMs want: the compiler must pad them. One line per case: ok, FAIL (numbers differ) or error (compiler or program ended with one); the last line counts them.
"""

import itertools
import os
import subprocess
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import models  # noqa: E402
from autopar.compare import compare  # noqa: E402
from programs import compile_and_run, reference  # noqa: E402

STRATEGIES = {"mlp": ["auto", "data", "row", "column", "tensor", "layer"],
              "convnet": ["auto", "data", "tensor", "channel", "spatial"]}
# Rounding errors of the type, some times over.
PRECISIONS = {"tf32": 1e-4, "bf16": 5e-2, "fp16": 1e-2}


ODD = {"batch": 360, "sizes": (515, 1027, 1030, 1001)}
ODD_PRECISIONS = {**PRECISIONS, "tf32": 5e-3}  # a CPU does not round to tf32
ODD_WAYS = [(1, "auto"), (2, "data"), (3, "row"), (2, "column"), (2, "layer")]


def attempt(tool, folder, expected, ranks, strategy, precision="fp32", tolerance=1e-4, target="cpu"):
    error = compile_and_run(tool, folder, "--ranks", str(ranks), "--strategy", strategy, "--precision", precision, "--target", target)
    if error:
        return "error", error
    with np.load(os.path.join(folder, "out.npz")) as actual:
        worst = max(compare(dict(actual), expected, tolerance if ranks == 1 else 5 * tolerance).values())
    return ("ok" if worst <= 1 else "FAIL"), f"{worst:.3g} of the tolerance"


def make(work, name, model, **sizes):
    """The folder of a model, and what onnxruntime computes of its inputs."""
    folder = os.path.join(work, name)
    os.makedirs(folder, exist_ok=True)
    getattr(models, model)(folder, **sizes)
    with np.load(os.path.join(folder, "inputs.npz")) as inputs:
        return folder, reference(folder, dict(inputs))


def is_padded(tool, folder, precision):
    """Whether a GEMM of rows that are not aligned was padded."""
    command = [tool, "compile", os.path.join(folder, "model.onnx"), "--target", "emulated", "--precision", precision]
    done = subprocess.run(command + ["--stop-after", "schedule", "-o", "-"], capture_output=True, text=True, timeout=120)
    return "autopar.pad" in done.stdout


def main():
    tool, work = sys.argv[1:]
    counts = {"ok": 0, "FAIL": 0, "error": 0}
    for name, strategies in STRATEGIES.items():
        folder, expected = make(work, name, name)
        for ranks, strategy in [(1, "auto")] + [(2 + i % 3, s) for i, s in enumerate(strategies)]:
            kind, why = attempt(tool, folder, expected, ranks, strategy)
            counts[kind] += 1
            print(f"{kind}: {name} x{ranks} {strategy}: {why}", flush=True)
        for precision, tolerance in PRECISIONS.items():
            kind, why = attempt(tool, folder, expected, 2, strategies[1], precision, tolerance)
            counts[kind] += 1
            print(f"{kind}: {name} x2 {strategies[1]} {precision}: {why}", flush=True)
    folder, expected = make(work, "odd", "mlp", **ODD)
    for (precision, tolerance), (ranks, strategy) in itertools.product(ODD_PRECISIONS.items(), ODD_WAYS):
        kind, why = attempt(tool, folder, expected, ranks, strategy, precision, tolerance, "emulated")
        if ranks == 1 and not is_padded(tool, folder, precision):
            kind, why = "FAIL", "nothing is padded"
        counts[kind] += 1
        print(f"{kind}: odd x{ranks} {strategy} {precision} emulated: {why}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return counts["ok"] != sum(counts.values())


if __name__ == "__main__":
    sys.exit(main())
