"""Parameters and inputs that are called as what the program has of its own: each trains as under any other name.

    python test/Execution/run_names.py TOOL FOLDER

Also: data never become parameters or states, --weights tells what it leaves out, and an inference program takes scalars that were
trained. The last line counts.
"""

import os
import subprocess

import numpy as np
from onnx import TensorProto, helper
from safetensors.numpy import load_file, save_file

from programs import error_of, reference, said_of_run
from training_runs import Runs, report, write_model, tool_and_folder

WAYS = ["--ranks 1", "--ranks 3", "--ranks 2 --target emulated --strategy data"]
STEPS = 5
RECIPE = {"loss": "mse_mean", "optimizer": {"kind": "adam", "lr": 0.05}, "schedule": {"kind": "cosine", "warmup_steps": 2}, "steps": STEPS}
NAMES = ["loss", "grad_norm", "learning_rate", "loss_scale", "skipped", "optimizer/step", "random/step", "loss_scale/scale", "__metadata__",
         "__metadata__'", "step", "v/exp_avg", "labels/violated"]
FLOAT = TensorProto.FLOAT
random = np.random.Generator(np.random.PCG64(3))
W, V, S = (random.standard_normal(shape).astype(np.float32) for shape in ((5, 6), (6, 4), ()))
DATA = {"x": random.standard_normal((STEPS, 12, 5)).astype(np.float32), "labels": random.standard_normal((STEPS, 12, 4)).astype(np.float32)}


def write_layers(folder, name, v="v", x="x"):
    node = helper.make_node
    nodes = [node("MatMul", [x, name], ["h"]), node("Dropout", ["h", "ratio", "drops"], ["d"]), node("MatMul", ["d", v], ["a"]),
             node("Mul", ["a", "s"], ["y"])]
    write_model(folder, nodes, {x: (FLOAT, [12, 5])}, {"y": (FLOAT, [12, 4])},
                {name: W, v: V, "s": S, "ratio": np.float32(0.25), "drops": np.bool_(True)})


def trained(runs, name, v="v", x="x", data=None, **recipe):
    write_layers(runs.folder, name, v, x)
    log, final = runs.train(data or {x: DATA["x"], "labels": DATA["labels"]}, **recipe)
    gradients = runs.gradients()
    return [[line[key] for key in ("loss", "grad_norm", "learning_rate")] for line in log], final, gradients


def in_files(name):
    """safetensors keeps one name for itself."""
    return name + "'" if name.startswith("__metadata__") else name


def check_name(runs, name, **recipe):
    plain, final, gradients = trained(runs, "w", **recipe)
    log, renamed, others = trained(runs, name, **recipe)
    assert log == plain, (log, plain)
    for want, got in ((final, renamed), (gradients, others)):
        assert {in_files(name) if key == "w" else key for key in want} == set(got), sorted(got)
        assert all(got[in_files(name) if key == "w" else key].tobytes() == value.tobytes() for key, value in want.items())
    # The parameters come back by their names.
    os.replace(runs.path("final.safetensors"), runs.path("before.safetensors"))
    error = error_of(runs.path("model"), "--data", runs.path("data.npz"), "--steps", "1", "--weights", runs.path("before.safetensors"),
                     "--final", runs.path("final.safetensors"))
    assert not error, error
    assert (load_file(runs.path("final.safetensors"))[in_files(name)] != renamed[in_files(name)]).any()


def check_labels(runs):
    """A parameter called `labels` beside the data's; an input called `loss`; labels called as a parameter is."""
    plain = trained(runs, "w")
    parameter = trained(runs, "labels")
    assert parameter[0] == plain[0] and (parameter[1]["labels"] == plain[1]["w"]).all()
    assert trained(runs, "w", x="loss")[0] == plain[0]
    assert trained(runs, "w", data={"x": DATA["x"], "w": DATA["labels"]}, labels="w")[0] == plain[0]


def check_data(runs):
    """An array of a parameter's or a state's name is an error; a file of no step says so."""
    write_layers(runs.folder, "w")
    error = runs.compile()
    assert not error, error
    for name, value in (("w", W), ("v", V), ("optimizer/step", np.int64(3)), ("random/step", np.int64(3)), ("w/exp_avg", W)):
        said = runs.run({**DATA, name: value}) or ""
        assert f"the model has no input '{name}'" in said, said
    said = runs.run({name: array[:0] for name, array in DATA.items()}) or ""
    assert "has no step" in error_of(runs.path("model"), "--data", runs.path("data.npz"), "--steps", "1"), said


def check_weights(runs):
    """What --weights leaves out is told, once, of a training alone."""
    write_layers(runs.folder, "w")
    runs.train(DATA, precision="fp16", loss_scale="dynamic")
    os.replace(runs.path("final.safetensors"), runs.path("before.safetensors"))
    command = [runs.path("model"), "--data", runs.path("data.npz"), "--steps", "1"]
    done = subprocess.run([*command, "--weights", runs.path("before.safetensors")], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and done.stderr.count("warning: --weights") == 1, done
    for word in ("'optimizer/step'", "'exp_avg' of 2 parameters", "'exp_avg_sq' of 2 parameters", "the loss scale", "'random/step'"):
        assert word in done.stderr, done.stderr
    assert "--weights" not in subprocess.run(command, capture_output=True, text=True, timeout=100).stderr


def check_scalar(runs):
    """An inference program takes what was trained, a scalar, too."""
    write_layers(runs.folder, "w")
    error = runs.compile(trainable=["w", "v", "s"]) or runs.run(DATA)
    assert not error, error
    final = load_file(runs.path("final.safetensors"))
    assert final["s"] != S
    error = error_of(runs.tool, "compile", runs.path("model.onnx"), "-o", runs.path("infer"), *runs.way.split(), "--evaluate") or ""
    if "--evaluate" in error:  # not there yet: dropout off by the model
        write_inference(runs.folder, W, V, S)
        error = error_of(runs.tool, "compile", runs.path("model.onnx"), "-o", runs.path("infer"), *runs.way.split())
    assert not error, error
    np.savez(runs.path("in.npz"), x=DATA["x"][0])
    done = subprocess.run([runs.path("infer"), "--inputs", runs.path("in.npz"), "--outputs", runs.path("out.npz"), "--weights",
                           runs.path("final.safetensors")], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and not said_of_run(done.stderr), done
    # Without the scalar in the file, the model has it.
    save_file({"w": final["w"], "v": final["v"]}, runs.path("others.safetensors"))
    error = error_of(runs.path("infer"), "--inputs", runs.path("in.npz"), "--outputs", runs.path("others.npz"), "--weights",
                     runs.path("others.safetensors"))
    assert not error, error
    np.testing.assert_allclose(np.load(runs.path("others.npz"))["y"] / S, np.load(runs.path("out.npz"))["y"] / final["s"], rtol=1e-4, atol=1e-5)
    write_inference(runs.folder, final["w"], final["v"], final["s"])
    np.testing.assert_allclose(np.load(runs.path("out.npz"))["y"], reference(runs.folder, {"x": DATA["x"][0]})["y"], rtol=1e-4, atol=1e-5)


def write_inference(folder, w, v, s):
    node = helper.make_node
    nodes = [node("MatMul", ["x", "w"], ["h"]), node("MatMul", ["h", "v"], ["a"]), node("Mul", ["a", "s"], ["y"])]
    write_model(folder, nodes, {"x": (FLOAT, [12, 5])}, {"y": (FLOAT, [12, 4])}, {"w": w, "v": v, "s": s})


def main():
    options = tool_and_folder(__doc__)
    checks = []
    for way in WAYS:
        runs = Runs(options.tool, options.folder, way, RECIPE)
        names = NAMES if way == WAYS[0] else NAMES[::4]
        checks += [(f"{way}: {name}", lambda runs=runs, name=name: check_name(runs, name)) for name in names]
        checks += [(f"{way}: loss_scale/scale, scaled",
                    lambda runs=runs: check_name(runs, "loss_scale/scale", precision="fp16", loss_scale="dynamic")),
                   (f"{way}: labels", lambda runs=runs: check_labels(runs)),
                   (f"{way}: data", lambda runs=runs: check_data(runs)),
                   (f"{way}: weights", lambda runs=runs: check_weights(runs)),
                   (f"{way}: scalar", lambda runs=runs: check_scalar(runs))]
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
