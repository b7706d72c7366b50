"""Times `autopar plan` on full-size graphs beside what it may take, and how its time grows with layers and devices.

    python test/Execution/plan_times.py [--rounds 3] [--only TEXT]

The cases take turns; a time is the median of the rounds in wall-clock seconds, beside the least and the most. A line per case: its time
and its bound, peak resident memory; then the growth between two cases where both were timed, and its bound. Times are this host's: it
is no test, and the exit code is 1 only where a plan cannot be made or required graphs are absent. Graphs come from
../shared/models/graphs, layers from autopar.models.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

import numpy as np
from onnx import TensorProto

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool, models  # noqa: E402
from plan_graphs import measure  # noqa: E402
from shared_models import GRAPHS, end_without  # noqa: E402

SECONDS = 600  # that a plan may take before it is given up
NODE = "8x8:h100-80gb"
RECIPE = {"loss": "causal_lm_shifted_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 1e-4}}
# name: the graph or (layers, distinct), the cluster, other options, the most seconds (0: only its growth counts)
CASES = {
    "llama-3-8b": ("llama-3-8b", NODE, [], 3),
    "llama-3-70b": ("llama-3-70b", "64x8:h100-80gb", [], 6),
    "mixtral-8x7b": ("mixtral-8x7b", NODE, [], 6),
    "gpt3-175b": ("gpt3-175b", "128x8:a100-80gb", [], 6),
    "resnet50": ("resnet50", "256x8:a100-80gb", [], 10),
    "three axes": ("gpt3-175b", "16x8:a100-80gb", ["--mesh", "x=8,y=4,z=4"], 10),
    "training": ("gpt3-13b", "4x8:v100-32gb@12.5", ["--precision", "fp16", "--train", RECIPE], 5),
    "16,384 devices": ("llama-3-8b", "2048x8:h100-80gb", [], 0),
    "12 layers": ((12, False), NODE, [], 0),
    "1,000 layers": ((1000, False), NODE, [], 0),
    "24 distinct": ((24, True), NODE, [], 0),
    "48 distinct": ((48, True), NODE, [], 0),
}
GROWTH = [("1,000 layers", "12 layers", 3), ("16,384 devices", "llama-3-8b", 5), ("48 distinct", "24 distinct", 2.5)]


def distinct_layers(folder, layers, batch=8, sequence=512, hidden=2048, heads=16):
    """Attention and a feed-forward part per layer, all of other widths."""
    b = models.Builder()
    b.constant("merged", np.array([batch, sequence, -1]))
    x = "x"
    for i in range(layers):
        size, inner = 64 + 2 * i, 4 * hidden + 64 * i

        def linear(y, part, n, k, i=i):
            return b.node("MatMul", y, b.weight(f"h{i}.{part}", k, n))

        shape = b.constant(f"heads{i}", np.array([batch, sequence, heads, size]))
        q, k, v = (b.node("Transpose", b.node("Reshape", linear(x, part, heads * size, hidden), shape), perm=[0, 2, 1, 3])
                   for part in "qkv")
        weights = b.node("Softmax", b.node("MatMul", q, b.node("Transpose", k, perm=[0, 1, 3, 2])), axis=-1)
        y = b.node("Reshape", b.node("Transpose", b.node("MatMul", weights, v), perm=[0, 2, 1, 3]), "merged")
        x = b.node("Add", x, linear(y, "o", hidden, heads * size))
        x = b.node("Add", x, linear(b.node("Relu", linear(x, "up", inner, hidden)), "down", hidden, inner))
    kind = TensorProto.FLOAT
    b.save(folder, [("x", kind, [batch, sequence, hidden])], [(x, kind, [batch, sequence, hidden])], {})


def path_of(model, work):
    if isinstance(model, str):
        return os.path.join(GRAPHS, f"{model}.onnx.gz")
    layers, distinct = model
    folder = os.path.join(work, f"{layers}-{distinct}")
    if not os.path.exists(folder):
        models.Builder.draws_weights = False
        (distinct_layers if distinct else models.llama)(folder, layers=layers)
    return os.path.join(folder, "model.onnx")


def command_of(tool, name, work):
    """The command of a case; what it needs is made in `work`."""
    model, cluster, options, _ = CASES[name]
    recipe = os.path.join(work, "recipe.json")
    with open(recipe, "w") as file:
        json.dump(RECIPE, file)
    options = [recipe if option is RECIPE else option for option in options]
    precision = [] if "--precision" in options else ["--precision", "bf16"]
    return [tool, "plan", path_of(model, work), "--cluster", cluster, *precision, *options]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--only", default="", metavar="TEXT", help="the cases whose name contains it")
    options = arguments.parse_args()
    end_without(GRAPHS, len(CASES))
    names = [name for name in CASES if options.only in name]
    if options.rounds < 1 or not names:
        arguments.error("there is nothing to time: one round at least, of one of " + ", ".join(CASES))
    seconds = {name: [] for name in names}
    peaks = dict.fromkeys(names, 0)
    with tempfile.TemporaryDirectory() as work:
        for _ in range(options.rounds):
            for name in names:
                code, wall, _, peak, text = measure(command_of(find_tool(), name, work), SECONDS)
                if code:
                    sys.exit(f"{name}: " + (text.strip()[-500:] or f"ended with {code} after {wall:.0f} s"))
                seconds[name].append(wall)
                peaks[name] = max(peaks[name], peak)
    print(f"{'case':16} {'cluster':20} {'s':>6} {'least':>6} {'most':>6} {'bound':>6} {'GiB':>5}")
    for name, times in seconds.items():
        bound = CASES[name][3] or ""
        print(f"{name:16} {CASES[name][1]:20} {statistics.median(times):6.2f} {min(times):6.2f} {max(times):6.2f} {bound:>6} "
              f"{peaks[name] / 2**30:5.2f}")
    for large, small, bound in GROWTH:
        if large in seconds and small in seconds:
            ratio = statistics.median(seconds[large]) / statistics.median(seconds[small])
            print(f"{large} beside {small}: {ratio:.2f} times, at most {bound}")


if __name__ == "__main__":
    main()
