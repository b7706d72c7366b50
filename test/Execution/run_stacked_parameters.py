"""Packed parameters, which a training step has as stacks of their pieces: files have their own shapes, and the numbers are those of a step without.

    python test/Execution/run_stacked_parameters.py TOOL FOLDER

Each model is trained on 1 to 3 ranks, packed as exporters leave it, and beside it with one more reader of each packed parameter (its sum
times 0), which therefore stays one matrix. Loss, gradients, final parameters and averages are equal, in the shapes of the model's file;
the trained parameters start another run and go into an evaluation, which equals onnxruntime's. The last line counts.
"""

import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from attention_modules import Case, Sizes, save_module
from programs import error_of, reference
from training_runs import Runs, report, write_model, tool_and_folder

STEPS, WIDTH, HIDDEN, ROWS = 4, 12, 24, 6
SIZES = Sizes(batch=4, target=5, source=7, heads=6, head=4)
MOMENTUM = {"kind": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}
WAYS = [("--ranks 1", {}), ("--ranks 2 --strategy tensor", {"average": 0.9}), ("--ranks 3 --strategy tensor", {"clip_global_norm": 0.1}),
        ("--ranks 2 --strategy data", {"clip_value": 1e-3}), ("--ranks 2 --strategy tensor --target emulated", {}),
        ("--ranks 2 --strategy tensor", {"accumulation": 2})]
# The gradient of a key's bias is rounding alone, of which these optimizers make whole steps: they train the gate.
SCALING = [("--ranks 2 --strategy tensor", {"optimizer": {"kind": kind, "lr": 0.01}}) for kind in ("adamw", "lamb", "adafactor")]


def make_attention(folder, case):
    """The packed parameters are matrices of which the second dimension is packed, and vectors."""
    save_module(os.path.join(folder, "model.onnx"), case, "dynamo", SIZES)
    shapes = {tensor.name: list(tensor.dims) for tensor in onnx.load(os.path.join(folder, "model.onnx")).graph.initializer}
    width = SIZES.width
    return [name for name, shape in shapes.items() if shape and width < shape[-1] < 4 * width and len(shape) < 3]


def make_gate(folder):
    """A gate and what it lets through, packed in the rows of one matrix, as Linear and chunk."""
    random = np.random.default_rng(5)
    weights = {"packed.weight": random.standard_normal((2 * HIDDEN, WIDTH)), "packed.bias": random.standard_normal(2 * HIDDEN),
               "down": random.standard_normal((HIDDEN, WIDTH)) / HIDDEN}
    weights = {name: value.astype(np.float32) for name, value in weights.items()} | {"halves": np.array([HIDDEN, HIDDEN])}
    nodes = [helper.make_node("Gemm", ["x", "packed.weight", "packed.bias"], ["both"], transB=1),
             helper.make_node("Split", ["both", "halves"], ["gate", "up"], axis=1), helper.make_node("Sigmoid", ["gate"], ["open"]),
             helper.make_node("Mul", ["open", "up"], ["hidden"]), helper.make_node("MatMul", ["hidden", "down"], ["y0"])]
    port = (TensorProto.FLOAT, [ROWS, WIDTH])
    write_model(folder, nodes, {"x": port}, {"y0": port}, weights)
    return ["packed.weight", "packed.bias"]


MODELS = {"gate": make_gate, "attention": lambda folder: make_attention(folder, Case("attention", True)),
          "decoder": lambda folder: make_attention(folder, Case("decoder", False))}


def read_whole(folder, whole, packed):
    """Writes the model to the other folder with one more reader of each packed parameter."""
    model = onnx.load(os.path.join(folder, "model.onnx"))
    graph = model.graph
    result = graph.output[0].name
    next(node for node in graph.node if result in node.output).output[0] = "packed/last"
    graph.initializer.append(numpy_helper.from_array(np.float32(0), "packed/zero"))
    last = "packed/last"
    for number, name in enumerate(packed):
        names = [f"packed/{kind}{number}" for kind in ("sum", "nothing", "value")]
        graph.node.extend([helper.make_node("ReduceSum", [name], names[:1], keepdims=0),
                           helper.make_node("Mul", [names[0], "packed/zero"], names[1:2]),
                           helper.make_node("Add", [last, names[1]], names[2:] if number + 1 < len(packed) else [result])])
        last = names[2]
    os.makedirs(whole, exist_ok=True)
    onnx.save(model, os.path.join(whole, "model.onnx"))


def data_of(model, accumulation):
    random, arrays = np.random.default_rng(3), {}
    for port in [*model.graph.input, model.graph.output[0]]:
        shape = [dim.dim_value for dim in port.type.tensor_type.shape.dim]
        shape[0] *= accumulation
        name = port.name if port in model.graph.input else "labels"
        arrays[name] = random.standard_normal([STEPS, *shape]).astype(np.float32)
    return arrays


def require_equal(got, want, shapes, what):
    assert got.keys() == want.keys(), f"{what} are {sorted(got)}"
    for name, value in want.items():
        assert list(got[name].shape) == shapes[name], f"{what}: {name} has the shape {got[name].shape}"
        error = np.abs(got[name] - value).max() / max(np.abs(value).max(), 1e-3)
        assert error < 1e-4, f"{what}: {name} differs by {error:.1e}"


class Pair:
    """One model on one way, packed and with whole parameters."""

    def __init__(self, tool, folder, make, way, recipe):
        self.tool, self.folder, self.accumulates = tool, folder, "accumulation" in recipe
        os.makedirs(folder)
        recipe = {"loss": "mse_mean", "output": "y0", "optimizer": MOMENTUM, "steps": STEPS, **recipe}
        whole = os.path.join(folder, "whole")
        read_whole(folder, whole, make(folder))
        self.model = onnx.load(os.path.join(folder, "model.onnx"))
        self.runs = [Runs(tool, folder, way, recipe), Runs(tool, whole, "--ranks 1", recipe)]

    def check(self):
        data = data_of(self.model, 2 if self.accumulates else 1)
        shapes = {tensor.name: list(tensor.dims) for tensor in self.model.graph.initializer}
        packed, whole = self.runs
        (log, final), (wanted_log, wanted) = packed.train(data), whole.train(data)
        assert np.allclose([line["loss"] for line in log], [line["loss"] for line in wanted_log], rtol=1e-5), "the losses differ"
        require_equal(final, wanted, shapes, "final parameters")
        require_equal(packed.gradients(), whole.gradients(), shapes, "gradients")
        if "average" in packed.recipe:
            averages = [load_file(runs.path("final.average.safetensors")) for runs in self.runs]
            require_equal(*averages, shapes, "averages")
        if not self.accumulates:
            self.check_weights(final, {name: array[0] for name, array in data.items() if name != "labels"})

    def check_weights(self, final, inputs):
        """The final parameters begin another run, and are evaluated."""
        path, tool = self.runs[0].path, self.tool
        error = error_of(path("model"), "--data", path("data.npz"), "--steps", "1", "--weights", path("final.safetensors"))
        np.savez(path("inputs.npz"), **inputs)
        error = error or error_of(tool, "compile", path("model.onnx"), "-o", path("evaluate"), "--evaluate", "--ranks", "2")
        error = error or error_of(path("evaluate"), "--inputs", path("inputs.npz"), "--weights", path("final.safetensors"),
                                  "--outputs", path("out.npz"))
        assert not error, error
        for tensor in self.model.graph.initializer:
            if tensor.name in final:
                tensor.CopyFrom(numpy_helper.from_array(final[tensor.name], tensor.name))
        onnx.save(self.model, path("model.onnx"))
        wanted = reference(self.folder, inputs)["y0"]
        error = np.abs(np.load(path("out.npz"))["y0"] - wanted).max()
        assert error < 1e-4, f"the evaluation differs by {error:.1e}"


def main():
    options = tool_and_folder(__doc__)
    checks = []
    for name, make in MODELS.items():
        for number, (way, recipe) in enumerate(WAYS + SCALING * (make is make_gate)):
            pair = Pair(options.tool, os.path.join(options.folder, f"{name}{number}"), make, way, recipe)
            checks.append((f"{name} {way} {recipe}", pair.check))
    raise SystemExit(report(checks))


if __name__ == "__main__":
    main()
