"""Training in fp16 with losses that are scaled: steps whose gradients are not finite are skipped on all ranks.

    python test/Execution/run_loss_scale.py TOOL FOLDER

A model of two layers. A step of data that overflows must leave parameters, optimizer and schedule as they were, as a run without that
step shows, and halve a dynamic scale, which 2,000 other steps in a row double. Gradients whose squares no f32 holds are finite. The last
line counts.
"""

import os
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

from programs import said_of_run
from training_runs import Runs, report, write_model, tool_and_folder

WAYS = ["--ranks 1", "--ranks 3", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2", "--ranks 2 --target emulated --strategy data"]
STEPS, BAD, GROWTH = 8, (0, 3), 2000
RECIPE = {"loss": "mse_mean", "optimizer": {"kind": "adam", "lr": 0.01}, "schedule": {"kind": "cosine", "warmup_steps": 2},
          "steps": STEPS, "clip_global_norm": 1.0, "precision": "fp16"}


def write_layers(folder, random):
    node = helper.make_node
    nodes = [node("MatMul", ["x", "w1"], ["z"], name="z"), node("Relu", ["z"], ["h"], name="h"), node("MatMul", ["h", "w2"], ["y"], name="y")]
    weights = {name: random.standard_normal(shape).astype(np.float32) / 2 for name, shape in (("w1", (5, 8)), ("w2", (8, 4)))}
    write_model(folder, nodes, {"x": (TensorProto.FLOAT, [12, 5])}, {"y": (TensorProto.FLOAT, [12, 4])}, weights)


def check_skips(runs, data, overflowing):
    log, final = runs.train(overflowing)
    assert [step for step, line in enumerate(log) if line["skipped"]] == list(BAD), log
    scales = [65536 / 2 ** sum(bad < step for bad in BAD) for step in range(len(log))]
    assert [line["loss_scale"] for line in log] == scales, log
    others = [step for step in range(len(log)) if step not in BAD]
    whole_log, whole = runs.train(data)
    assert not any(line["skipped"] for line in whole_log), whole_log
    for key in ("loss", "learning_rate", "grad_norm"):
        np.testing.assert_allclose([log[step][key] for step in others], [line[key] for line in whole_log], rtol=2e-3)
    for name, value in whole.items():
        np.testing.assert_allclose(final[name], value, rtol=2e-3, atol=1e-4)


def told(runs):
    """What the program says of the training on data that is there already, without a log."""
    text = subprocess.run([runs.path("model"), "--data", runs.path("data.npz"), "--steps", str(STEPS), "--final", runs.path("last.safetensors")],
                          check=True, capture_output=True, text=True, timeout=300).stderr
    return said_of_run(text)


def check_static(runs, data):
    """A scale of which all gradients overflow changes nothing; one that they do not overflow of, only roundings."""
    log, final = runs.train(data, loss_scale=1e30)
    assert all(line["skipped"] and line["loss_scale"] == np.float32(1e30) for line in log), log
    first = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in onnx.load(runs.path("model.onnx")).graph.initializer}
    for name, value in first.items():
        assert np.array_equal(final[name], value), name
    assert "warning: all 8 steps were skipped" in told(runs), "a run without a log does not tell that it learned nothing"
    scaled, unscaled = (runs.train(data, loss_scale=scale)[1] for scale in (1024, 1))
    for name, value in scaled.items():
        np.testing.assert_allclose(unscaled[name], value, rtol=2e-2, atol=1e-3)
    assert told(runs) == "", told(runs)


def check_growth(runs, data):
    log, _ = runs.train({name: np.tile(array, (GROWTH // STEPS * 2, 1, 1)) for name, array in data.items()}, optimizer={"kind": "sgd", "lr": 1e-4})
    scales = [line["loss_scale"] for line in log]
    skipped = [line["skipped"] for line in log]
    finite = 0
    for step in range(1, len(log)):
        finite = 0 if skipped[step - 1] else finite + 1
        want = scales[step - 1] * (0.5 if skipped[step - 1] else 2 if finite and finite % GROWTH == 0 else 1)
        assert scales[step] == want, (step, scales[step], want)
    assert any(later > earlier for earlier, later in zip(scales, scales[1:])), "it never grew"


def check_large(tool, folder, way, type, label, **recipe):
    """One weight of 0, whose gradient is -2 * label: its norm is that, and a step along it is taken."""
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="y")
    real = helper.tensor_dtype_to_np_dtype(type)
    write_model(folder, [node], {"x": (type, [4, 1])}, {"y": (type, [4, 1])}, {"w": np.zeros((1, 1), real)})
    recipe = {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 1}, "trainable": ["w"], **recipe}
    log, final = Runs(tool, folder, way, recipe).train({"x": np.ones((1, 4, 1), real), "labels": np.full((1, 4, 1), label, real)})
    assert not log[0].get("skipped"), log
    np.testing.assert_allclose(log[0]["grad_norm"], -2 * label, rtol=1e-6)
    np.testing.assert_allclose(log[0]["loss"], label ** 2, rtol=1e-6)
    np.testing.assert_allclose(final["w"], recipe.get("clip_global_norm", -2 * label) * -1.0, rtol=1e-5)


def main():
    options = tool_and_folder(__doc__)
    random = np.random.Generator(np.random.PCG64(11))
    write_layers(options.folder, random)
    data = {"x": random.standard_normal((STEPS, 12, 5)).astype(np.float32), "labels": random.standard_normal((STEPS, 12, 4)).astype(np.float32)}
    overflowing = {name: np.insert(array, [bad - number for number, bad in enumerate(BAD)], 3e4, axis=0) for name, array in data.items()}
    checks = []
    for way in WAYS:
        runs = Runs(options.tool, options.folder, way, RECIPE)
        checks += [(f"{way}, skips", lambda runs=runs: check_skips(runs, data, overflowing)),
                   (f"{way}, static", lambda runs=runs: check_static(runs, data))]
    for way in ("--ranks 1", "--ranks 2 --strategy data", "--ranks 2 --target emulated --strategy data"):
        large = lambda way=way, **how: check_large(options.tool, os.path.join(options.folder, "large"), way, **how)
        checks += [(f"{way}, large", lambda large=large: large(type=TensorProto.FLOAT, label=-5e19, loss_scale=2)),
                   (f"{way}, clipped", lambda large=large: large(type=TensorProto.FLOAT, label=-5e19, clip_global_norm=1.0)),
                   (f"{way}, double", lambda large=large: large(type=TensorProto.DOUBLE, label=-5e24, clip_global_norm=1.0)),
                   (f"{way}, double, scaled", lambda large=large: large(type=TensorProto.DOUBLE, label=-5e24, loss_scale=2))]
    checks.append((f"{WAYS[0]}, growth", lambda: check_growth(Runs(options.tool, options.folder, WAYS[0], RECIPE), data)))
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
