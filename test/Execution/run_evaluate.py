"""One export trains and evaluates: a file for training, compiled with --evaluate, against onnxruntime on the file in eval mode.

    python test/Execution/run_evaluate.py TOOL FOLDER

A net with batch norms, dropout and a parameter that no loss reaches is trained; then the same file, compiled with --evaluate, computes with the
initial and with the final parameters what onnxruntime computes without training_mode. The last line counts.
"""

import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from safetensors.numpy import load_file

from programs import error_of
from training_runs import Runs, report, write_model, tool_and_folder

WAYS = ["--ranks 1", "--ranks 2 --strategy data", "--ranks 3", "--ranks 2 --target emulated"]
RECIPE = {"loss": "mse_mean", "output": "y", "optimizer": {"kind": "adamw", "lr": 0.01, "weight_decay": 0.1}}
FLOAT = TensorProto.FLOAT
STEPS, ROWS, CHANNELS = 4, 6, 4


def norm(number, given, made, training):
    outputs = [made, f"mean{number}", f"variance{number}"] if training else [made]
    return helper.make_node("BatchNormalization", [given, *(f"{part}{number}" for part in ("scale", "bias", "running_mean", "running_var"))],
                            outputs, name=f"norm{number}", **({"training_mode": 1} if training else {}))


def write(folder, training, weights):
    """conv, norm, relu, dropout, dense, norm; the new statistics of the first norm are an output, as some exports have them."""
    node = helper.make_node
    mode = "yes" if training else "no"
    nodes = [node("Conv", ["x", "filter", "bias"], ["c"], name="conv", pads=[1, 1, 1, 1]), norm(0, "c", "n", training), node("Relu", ["n"], ["r"], name="relu"),
             node("Dropout", ["r", "ratio", mode], ["d"], name="dropout"), node("Flatten", ["d"], ["f"], name="flatten"),
             node("Gemm", ["f", "dense", "offset"], ["g"], name="dense", transB=1), norm(1, "g", "y", training),
             node("Mul", ["f", "unused"], ["other"], name="other")]
    outputs = {"y": (FLOAT, [ROWS, 5]), "other": (FLOAT, [ROWS, CHANNELS * 16]), **({"mean0": (FLOAT, [CHANNELS])} if training else {})}
    constants = {"ratio": np.float32(0.4), mode: np.bool_(training)}
    write_model(folder, nodes, {"x": (FLOAT, [ROWS, 3, 4, 4])}, outputs, {**weights, **constants})


def draw(random):
    def real(*shape):
        return random.standard_normal(shape).astype(np.float32)

    weights = {"filter": real(CHANNELS, 3, 3, 3) / 3, "bias": real(CHANNELS), "dense": real(5, CHANNELS * 16) / 8, "offset": real(5),
               "unused": real(CHANNELS * 16)}
    for number, channels in ((0, CHANNELS), (1, 5)):
        weights |= {f"scale{number}": 1 + real(channels) / 4, f"bias{number}": real(channels), f"running_mean{number}": real(channels) / 4,
                    f"running_var{number}": 0.5 + random.random(channels, np.float32)}
    return weights


class Evaluation:
    def __init__(self, tool, folder, way):
        self.tool, self.folder, self.way, self.random = tool, folder, way, np.random.default_rng(3)
        self.weights = draw(self.random)
        self.x = self.random.standard_normal((ROWS, 3, 4, 4)).astype(np.float32)
        write(folder, True, self.weights)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compare(self, weights, *run):
        """The program against onnxruntime with these weights."""
        write(self.path("reference"), False, weights)
        session = onnxruntime.InferenceSession(self.path("reference/model.onnx"), providers=["CPUExecutionProvider"])
        np.savez(self.path("inputs.npz"), x=self.x)
        error = error_of(self.path("evaluate"), "--inputs", self.path("inputs.npz"), "--outputs", self.path("out.npz"), *run)
        assert not error, error
        with np.load(self.path("out.npz")) as got:
            assert sorted(got.files) == ["other", "y"], got.files
            for name, want in zip(["y", "other"], session.run(["y", "other"], {"x": self.x})):
                assert np.allclose(got[name], want, rtol=1e-4, atol=1e-5), np.abs(got[name] - want).max()

    def check(self):
        error = error_of(self.tool, "compile", self.path("model.onnx"), "-o", self.path("evaluate"), "--evaluate", *self.way.split())
        assert not error, error
        self.compare(self.weights)
        data = {"x": self.random.standard_normal((STEPS, ROWS, 3, 4, 4)).astype(np.float32),
                "labels": self.random.standard_normal((STEPS, ROWS, 5)).astype(np.float32)}
        _, final = Runs(self.tool, self.folder, self.way, RECIPE).train(data)
        assert sorted(final) == sorted(self.weights), sorted(final)
        changed = {name for name, value in final.items() if not np.array_equal(value, self.weights[name])}
        assert changed == set(self.weights) - {"unused"}, changed
        self.compare(final, "--weights", self.path("final.safetensors"))


def write_folded(folder):
    """An export in eval mode: the weight has a name that the exporter made up."""
    nodes = [helper.make_node("MatMul", ["x", "onnx::MatMul_7"], ["y"], name="/fc/MatMul")]
    write_model(folder, nodes, {"x": (FLOAT, [2, 3])}, {"y": (FLOAT, [2, 3])}, {"onnx::MatMul_7": np.eye(3, dtype=np.float32)})


def check_listed(tool, folder):
    """The file lists its parameters: a scalar is trained; what is left as it is comes from the model, where final parameters lack it."""
    write_model(folder, [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Mul", ["a", "scale"], ["b"]),
                         helper.make_node("Add", ["b", "positions"], ["y"])], {"x": (FLOAT, [4, 3])}, {"y": (FLOAT, [4, 3])},
                {"w": np.eye(3, dtype=np.float32), "scale": np.float32(2), "positions": np.arange(12, dtype=np.float32).reshape(4, 3)})
    path = {name: os.path.join(folder, name) for name in ("model.onnx", "evaluate", "final.safetensors", "inputs.npz", "out.npz")}
    model = onnx.load(path["model.onnx"])
    helper.set_model_props(model, {"autopar.parameters": '["w", "scale"]'})
    onnx.save(model, path["model.onnx"])
    x = np.random.default_rng(5).standard_normal((2, 4, 3)).astype(np.float32)
    _, final = Runs(tool, folder, "--ranks 2", RECIPE).train({"x": x, "labels": x})
    assert sorted(final) == ["scale", "w"] and final["scale"] != 2, final
    np.savez(path["inputs.npz"], x=x[0])
    error = error_of(tool, "compile", path["model.onnx"], "-o", path["evaluate"], "--evaluate") or error_of(
        path["evaluate"], "--weights", path["final.safetensors"], "--inputs", path["inputs.npz"], "--outputs", path["out.npz"])
    assert not error, error
    with np.load(path["out.npz"]) as got:
        want = x[0] @ final["w"] * final["scale"] + np.arange(12).reshape(4, 3)
        assert np.allclose(got["y"], want, rtol=1e-5), got["y"] - want


def check_made_up(tool, folder):
    """Final parameters do not fit; the message says which export does."""
    from safetensors.numpy import save_file

    write_folded(folder)
    program = os.path.join(folder, "program")
    error = error_of(tool, "compile", os.path.join(folder, "model.onnx"), "-o", program)
    assert not error, error
    save_file({"fc.weight": np.eye(3, dtype=np.float32)}, os.path.join(folder, "final.safetensors"))
    error = error_of(program, "--weights", os.path.join(folder, "final.safetensors")) or ""
    assert "has no tensor 'onnx::MatMul_7', a name that an exporter made up" in error and "export_for_training" in error, error


def main():
    options = tool_and_folder(__doc__)
    checks = [(way, Evaluation(options.tool, os.path.join(options.folder, str(number)), way).check) for number, way in enumerate(WAYS)]
    checks.append(("listed", lambda: check_listed(options.tool, os.path.join(options.folder, "listed"))))
    checks.append(("made-up names", lambda: check_made_up(options.tool, os.path.join(options.folder, "folded"))))
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
