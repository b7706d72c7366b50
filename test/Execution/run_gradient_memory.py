"""The memory of gradients is free after their last reader, and --gradients still writes those of the first step, against NumPy in float64.

    python test/Execution/run_gradient_memory.py TOOL FOLDER

A net of 16 equal layers. Where no gradient is clipped, the arena holds few of their gradients at a time; the program is one whether
somebody asks for --gradients or not, and its numbers are the same. The last line counts.
"""

import json
import os
import subprocess

import numpy as np
from onnx import TensorProto, helper
from safetensors.numpy import load_file

from training_runs import Runs, report, write_model, tool_and_folder

LAYERS, WIDTH, ROWS, STEPS = 16, 96, 8, 3
LAYER_BYTES = 4 * WIDTH * WIDTH
SGD = {"kind": "sgd", "lr": 0.1}
ADAMW = {"kind": "adamw", "lr": 0.01, "weight_decay": 0.1}
# Recipe, way, and the most bytes of the arena as layers' gradients of a rank; None: all are there at once.
CASES = [({"optimizer": SGD}, "--ranks 1", 4), ({"optimizer": ADAMW}, "--ranks 1", 4), ({"optimizer": SGD}, "--ranks 2 --strategy data", 4),
         ({"optimizer": SGD}, "--ranks 1 --memory-limit 720KiB", 4),  # the weights and 4 layers' gradients
         ({"optimizer": ADAMW}, "--ranks 4 --strategy data", 4), ({"optimizer": SGD}, "--ranks 3", 8),
         # Weights are in blocks, and few copies of them are there at a time.
         ({"optimizer": SGD}, "--ranks 4 --strategy data --memory-limit 500KiB", 6),
         ({"optimizer": ADAMW}, "--ranks 3 --strategy data --memory-limit 1000KiB", 10),
         ({"optimizer": SGD}, "--ranks 4 --strategy data --memory-limit 300KiB --target emulated", 5),
         ({"optimizer": SGD, "clip_value": 1e-3}, "--ranks 1", 4),
         ({"optimizer": ADAMW, "clip_global_norm": 1.0}, "--ranks 1", None), ({"optimizer": ADAMW, "loss_scale": 1024}, "--ranks 1", None),
         ({"optimizer": SGD, "accumulation": 2}, "--ranks 2 --strategy data", None),
         ({"optimizer": SGD}, "--ranks 1 --target emulated", 4), ({"optimizer": ADAMW}, "--ranks 2 --target emulated --strategy data", None),
         ({"optimizer": ADAMW, "clip_global_norm": 1.0}, "--ranks 3 --target emulated", None)]


def make_model(folder, random, rows):
    names = [f"w{i}" for i in range(LAYERS)]
    weights = {name: (random.standard_normal((WIDTH, WIDTH)) * (2 / WIDTH) ** 0.5).astype(np.float32) for name in names}
    nodes, below = [], "x"
    for name in names:
        nodes += [helper.make_node("MatMul", [below, name], ["a" + name]), helper.make_node("Relu", ["a" + name], ["b" + name])]
        below = "b" + name
    port = (TensorProto.FLOAT, [rows, WIDTH])
    write_model(folder, nodes, {"x": port}, {below: port}, weights)
    return weights


def gradients_of(x, labels, weights):
    """Of the mean squared error."""
    layers = [w.astype(np.float64) for w in weights.values()]
    inputs = [x.astype(np.float64)]
    for w in layers:
        inputs.append(np.maximum(inputs[-1] @ w, 0))
    slope, gradients = 2 * (inputs[-1] - labels) / labels.size, {}
    for name, w, below, above in reversed(list(zip(weights, layers, inputs, inputs[1:]))):
        slope = slope * (above > 0)
        gradients[name] = below.T @ slope
        slope = slope @ w.T
    return gradients


class Net:
    def __init__(self, tool, folder, recipe, way, layers):
        random = np.random.default_rng(11)
        self.rows, self.layers = ROWS // recipe.get("accumulation", 1), layers
        self.weights = make_model(folder, random, self.rows)
        shape = (STEPS, ROWS, WIDTH)
        self.data = {"x": random.standard_normal(shape).astype(np.float32), "labels": random.standard_normal(shape).astype(np.float32)}
        self.runs = Runs(tool, folder, way, {"loss": "mse_mean", "schedule": {"kind": "constant"}, "steps": STEPS, **recipe})

    def check(self):
        _, final = self.runs.train(self.data)
        got, want = self.runs.gradients(), gradients_of(self.data["x"][0], self.data["labels"][0], self.weights)
        assert got.keys() == want.keys(), f"the gradients are those of {sorted(got)}"
        for name, gradient in want.items():
            error = np.abs(got[name] - gradient).max() / np.abs(gradient).max()
            assert error < 2e-5, f"the gradient of {name} differs by {error:.1e}"
        self.check_without(final)

    def check_without(self, final):
        """The same program, without --gradients."""
        path = self.runs.path
        subprocess.run([path("model"), "--data", path("data.npz"), "--steps", str(STEPS), "--final", path("alone.safetensors"),
                        "--json", path("report.json")], check=True, capture_output=True, timeout=100)
        alone = load_file(path("alone.safetensors"))
        assert all(np.array_equal(alone[name], final[name]) for name in final), "asking for gradients changes the parameters"
        with open(path("report.json")) as file:
            arena = max(rank["arena"] for rank in json.load(file)["memory_bytes"])
        assert self.layers is None or arena < self.layers * LAYER_BYTES, f"the arena has {arena / LAYER_BYTES:.1f} layers' gradients"


def main():
    options = tool_and_folder(__doc__)
    checks = []
    for number, (recipe, way, layers) in enumerate(CASES):
        net = Net(options.tool, os.path.join(options.folder, str(number)), recipe, way, layers)
        checks.append((f"{recipe} {way}", net.check))
    raise SystemExit(report(checks))


if __name__ == "__main__":
    main()
