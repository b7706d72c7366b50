"""Models with the tensors of a training, written by `autopar checkpoint export --model`: onnxruntime computes with them what the training's evaluation computes.

    python test/Execution/run_exported_models.py TOOL FOLDER [CASE ...]

Cases of ../shared/training: each is trained with --final and a checkpoint; both become one model, whose loss of the last batch in onnxruntime is that of `compile --evaluate`
with the final parameters. A net made here: batch norms, dropout, external data and averages; a Trainer; what is refused, of which no file may be left. The last line counts.
"""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file, save_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from expected import expect_error  # noqa: E402
from programs import error_of, reference  # noqa: E402
from run_evaluate import RECIPE, ROWS, STEPS, draw, write  # noqa: E402
from run_training import recipe_of  # noqa: E402
from shared_models import SHARED, absence_of  # noqa: E402
from training_runs import Checks, arguments_of_cases, report, write_model  # noqa: E402

TRAINING = os.path.join(SHARED, "training")
WAYS = ["--ranks 1", "--ranks 2", "--ranks 3", "--ranks 2 --strategy data"]
CLOSE = 1e-5
FLOAT = TensorProto.FLOAT


def told_by(tool, *arguments):
    """Exit code and stderr of `autopar checkpoint export`."""
    done = subprocess.run([tool, "checkpoint", "export", *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), f"{done.returncode}: {done.stderr}"
    return done.returncode, done.stderr.strip()


def export(tool, *arguments):
    """What it said: one note."""
    code, told = told_by(tool, *arguments)
    assert code == 0 and told.startswith("autopar: note: ") and "\n" not in told, told
    return told


def run_model(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))


def loss_of(kind, output, labels):
    """The recipe's loss, in f64."""
    y = output.astype(np.float64)
    if kind == "mse_mean":
        return np.mean((y - labels) ** 2)
    if kind == "bce_with_logits_mean":
        return np.mean(np.maximum(y, 0) - y * labels + np.log1p(np.exp(-np.abs(y))))
    if kind.startswith("causal_lm"):
        y, labels = y[:, :-1], labels[:, 1:]
    y, labels = y.reshape(-1, y.shape[-1]), labels.reshape(-1)
    y, labels = y[labels != -100], labels[labels != -100]
    top = y.max(1, keepdims=True)
    return np.mean(top[:, 0] + np.log(np.exp(y - top).sum(1)) - y[np.arange(len(labels)), labels])


#===------------------------------------------------------------------------===#
# Cases of the shared models
#===------------------------------------------------------------------------===#


def check_case(tool, case, way, work):
    os.makedirs(work)
    recipe, folder = recipe_of(case), os.path.join(TRAINING, case)
    path = {name: os.path.join(work, name) for name in ("train", "evaluate", "final.safetensors", "run", "final.onnx", "run.onnx", "recipe.json", "in.npz", "out.npz", "all.safetensors")}
    model, data = os.path.join(folder, "model.onnx"), os.path.join(folder, "data.npz")
    with open(path["recipe.json"], "w") as file:
        json.dump(recipe, file)

    def sized(batch):
        return ["--bind", f"batch={batch}"] if recipe["symbolic_batch"] else []
    error = (error_of(tool, "compile", model, "-o", path["train"], "--train", path["recipe.json"], *sized(recipe["batch"] // recipe["accumulation"]), *way.split())
             or error_of(path["train"], "--data", data, "--steps", str(recipe["steps"]), "--final", path["final.safetensors"], "--checkpoint", path["run"])
             or error_of(tool, "compile", model, "-o", path["evaluate"], "--evaluate", *sized(recipe["batch"])))
    assert not error, error
    export(tool, path["final.safetensors"], "-o", path["final.onnx"], "--model", model)
    export(tool, path["run"], "-o", path["run.onnx"], "--model", model)
    with open(path["final.onnx"], "rb") as one, open(path["run.onnx"], "rb") as other:
        assert one.read() == other.read(), "the exports of --final and of the checkpoint differ"
    final = load_file(path["final.safetensors"])
    check_form(onnx.load(path["final.onnx"]), onnx.load(model), final)
    save_file({**arrays_of(onnx.load(model)), **final}, path["all.safetensors"])  # what was not trained, too

    with np.load(data) as arrays:
        last = {name: array[-1] for name, array in arrays.items()}
    inputs = {port.name: last[port.name] for port in onnx.load(model).graph.input}
    np.savez(path["in.npz"], **inputs)
    error = error_of(path["evaluate"], "--weights", path["all.safetensors"], "--inputs", path["in.npz"], "--outputs", path["out.npz"])
    assert not error, error
    with np.load(path["out.npz"]) as outputs:
        wanted = loss_of(recipe["loss"], outputs[recipe["output"]], last[recipe["labels"]])
    got = loss_of(recipe["loss"], run_model(path["run.onnx"], inputs)[recipe["output"]], last[recipe["labels"]])
    difference = abs(got - wanted) / abs(wanted)
    print(f"{case}: evaluation {wanted:.7f}, onnxruntime {got:.7f}, difference {difference:.1e}", file=sys.stderr, flush=True)
    assert difference <= CLOSE, f"the evaluation's loss is {wanted}, onnxruntime's {got}"


def arrays_of(model):
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def check_form(got, model, final):
    """An evaluation's form, names, trained tensors and all others as they were."""
    onnx.checker.check_model(got, full_check=True)
    for node in got.graph.node:
        assert node.op_type != "Dropout", node.name
        if node.op_type == "BatchNormalization":
            assert len(node.output) == 1 and not any(attribute.name == "training_mode" and attribute.i for attribute in node.attribute), node
    for side in ("input", "output"):
        assert [port.name for port in getattr(got.graph, side)] == [port.name for port in getattr(model.graph, side)]
    assert got.metadata_props == model.metadata_props and got.producer_name == model.producer_name and got.graph.name == model.graph.name
    mine, theirs = arrays_of(got), {**arrays_of(model), **final}
    for name, value in mine.items():
        assert value.dtype == theirs[name].dtype and value.tobytes() == theirs[name].tobytes(), f"tensor {name} is not as trained"
    assert set(final) <= set(mine)


#===------------------------------------------------------------------------===#
# A model that is made here
#===------------------------------------------------------------------------===#


class Trained:
    """A net with batch norms and dropout, whose weights lie beside it; it is trained, with averages."""

    def __init__(self, tool, work):
        self.tool, self.work, random = tool, work, np.random.default_rng(4)
        self.folder = os.path.join(work, "model")
        write(self.folder, True, draw(random))
        model = onnx.load(self.path("model/model.onnx"))
        helper.set_model_props(model, {"made by": "a test"})
        onnx.save_model(model, self.path("model/model.onnx"), save_as_external_data=True, location="weights.bin", size_threshold=8)
        data = {"x": random.standard_normal((STEPS, ROWS, 3, 4, 4)).astype(np.float32), "labels": random.standard_normal((STEPS, ROWS, 5)).astype(np.float32)}
        self.x = data["x"][-1]
        np.savez(self.path("data.npz"), **data)
        with open(self.path("recipe.json"), "w") as file:
            json.dump({**RECIPE, "average": 0.5}, file)
        error = error_of(tool, "compile", self.model, "-o", self.path("train"), "--train", self.path("recipe.json"), "--ranks", "2") or \
            error_of(self.path("train"), "--data", self.path("data.npz"), "--steps", str(STEPS), "--final", self.path("final.safetensors"), "--checkpoint", self.path("run"))
        assert not error, error
        self.final = load_file(self.path("final.safetensors"))

    def path(self, name):
        return os.path.join(self.work, name)

    @property
    def model(self):
        return self.path("model/model.onnx")

    def wanted(self, tensors):
        """What the net computes in eval mode with these tensors."""
        write(self.path("reference"), False, tensors)
        return reference(self.path("reference"), {"x": self.x})

    def compare(self, path, tensors):
        got, wanted = run_model(path, {"x": self.x}), self.wanted(tensors)
        for name in ("y", "other"):
            assert np.allclose(got[name], wanted[name], rtol=1e-5, atol=1e-6), f"{name}: {np.abs(got[name] - wanted[name]).max()}"
        assert np.array_equal(got["mean0"], tensors["running_mean0"])


def check_external(tool, work):
    """External data stay external, in a file of their own; the folder can be moved."""
    trained = Trained(tool, work)
    with open(trained.path("model/weights.bin"), "rb") as file:
        before = file.read()
    os.makedirs(trained.path("out"))
    told = export(tool, trained.path("run"), "-o", trained.path("out/trained.onnx"), "--model", trained.model)
    for words in (f"{len(trained.final)} tensors replaced", "2 BatchNormalization nodes on running statistics", "1 Dropout node taken out", "trained.onnx.data"):
        assert words in told, f"no {words!r} in: {told}"
    assert sorted(os.listdir(trained.path("out"))) == ["trained.onnx", "trained.onnx.data"]
    with open(trained.path("model/weights.bin"), "rb") as file:
        assert file.read() == before
    shutil.move(trained.path("out"), trained.path("moved"))
    bare = onnx.load(trained.path("moved/trained.onnx"), load_external_data=False)
    outside = {tensor.name: {entry.key: entry.value for entry in tensor.external_data} for tensor in bare.graph.initializer if tensor.external_data}
    large = {name for name, value in trained.final.items() if value.nbytes >= 8}
    assert set(outside) == large, (sorted(outside), sorted(large))
    assert all(entry["location"] == "trained.onnx.data" for entry in outside.values()), outside
    check_form(onnx.load(trained.path("moved/trained.onnx")), onnx.load(trained.model), trained.final)
    trained.compare(trained.path("moved/trained.onnx"), trained.final)
    # Again over itself, from the file; then the averages.
    export(tool, trained.path("final.safetensors"), "-o", trained.path("moved/trained.onnx"), "--model", trained.model)
    trained.compare(trained.path("moved/trained.onnx"), trained.final)
    told = export(tool, trained.path("run"), "-o", trained.path("averaged.onnx"), "--model", trained.model, "--averages")
    assert "of the last step, without an average: 'running_mean0', 'running_mean1', 'running_var0' and 2 more" in told, told
    averaged = load_file(trained.path("final.average.safetensors"))
    assert not np.array_equal(averaged["dense"], trained.final["dense"])
    trained.compare(trained.path("averaged.onnx"), averaged)
    # Its own compiler reads it without --evaluate.
    np.savez(trained.path("in.npz"), x=trained.x)
    error = error_of(tool, "compile", trained.path("averaged.onnx"), "-o", trained.path("program")) or \
        error_of(trained.path("program"), "--inputs", trained.path("in.npz"), "--outputs", trained.path("out.npz"))
    assert not error, error
    with np.load(trained.path("out.npz")) as got:
        assert np.allclose(got["y"], trained.wanted(averaged)["y"], rtol=1e-4, atol=1e-5)
    # Tensors that are not trained lie outside, too, and are copied; where it is missing the export says so, and leaves nothing.
    save_file({"dense": trained.final["dense"]}, trained.path("some.safetensors"))
    told = export(tool, trained.path("some.safetensors"), "-o", trained.path("some.onnx"), "--model", trained.model)
    assert "1 tensor replaced; initializers as in the model, for the training has no state of them: 'filter', 'bias', 'offset' and 9 more" in told, told
    check_form(onnx.load(trained.path("some.onnx")), onnx.load(trained.model), {"dense": trained.final["dense"]})
    os.rename(trained.path("model/weights.bin"), trained.path("model/hidden"))
    listed = sorted(os.listdir(work))
    code, told = told_by(tool, trained.path("some.safetensors"), "-o", trained.path("none.onnx"), "--model", trained.model)
    assert code == 1 and "tensor 'filter'" in told and "'weights.bin' cannot be opened" in told, told
    assert sorted(os.listdir(work)) == listed
    export(tool, trained.path("run"), "-o", trained.path("whole.onnx"), "--model", trained.model)  # all that lies outside is trained


def check_trainer(tool, work):
    os.makedirs(work)
    weights = draw(np.random.default_rng(9))
    write(work, True, weights)
    random, model = np.random.default_rng(10), os.path.join(work, "model.onnx")
    x, labels = random.standard_normal((ROWS, 3, 4, 4)).astype(np.float32), random.standard_normal((ROWS, 5)).astype(np.float32)
    out = os.path.join(work, "trained.onnx")
    with autopar.Trainer(model, {**RECIPE, "average": 0.5}, evaluate=True) as trainer:
        for _ in range(3):
            trainer.step({"x": x, "labels": labels})
        wanted = trainer.evaluate({"x": x})["y"]
        trainer.export_onnx(out)
        assert np.allclose(run_model(out, {"x": x})["y"], wanted, rtol=1e-5, atol=1e-6)
        trainer.export_onnx(out, averages=True)
        tensors = {name: trainer.average(name) if name in trainer._averages else trainer[name] for name in trainer.parameters}
        write(os.path.join(work, "reference"), False, tensors)
        assert np.allclose(run_model(out, {"x": x})["y"], reference(os.path.join(work, "reference"), {"x": x})["y"], rtol=1e-5, atol=1e-6)
        expect_error(lambda: trainer.export_onnx(model), "is the model that is read; name another file")
    with autopar.Trainer(onnx.load(model), RECIPE) as trainer:
        trainer.step({"x": x, "labels": labels})
        expect_error(lambda: trainer.export_onnx(out), "give it as model=")
        expect_error(lambda: trainer.export_onnx(out, averages=True, model=model), "the recipe has no 'average'")
        trainer.export_onnx(out, model)
        assert np.array_equal(arrays_of(onnx.load(out))["dense"], trainer["dense"])


#===------------------------------------------------------------------------===#
# Refusals
#===------------------------------------------------------------------------===#


def check_refusals(tool, work):
    trained = Trained(tool, work)
    final, run, model = trained.path("final.safetensors"), trained.path("run"), trained.model
    step = os.path.join(run, f"step-{STEPS:08}")

    def file_of(name, tensors):
        save_file(tensors, trained.path(name))
        return trained.path(name)
    large = file_of("shape.safetensors", {**trained.final, "dense": np.zeros((5, 63), np.float32)})
    double = file_of("type.safetensors", {**trained.final, "dense": trained.final["dense"].astype(np.float64)})
    more = file_of("more.safetensors", {**trained.final, "w0": np.zeros(2, np.float32), "w1": np.zeros(2, np.float32)})
    none = file_of("none.safetensors", {})
    inside = write_inside(trained)
    os.link(trained.path("model/weights.bin"), trained.path("model/copy.onnx.data"))
    os.symlink("elsewhere.onnx", trained.path("link.onnx"))
    os.symlink(os.path.join("run", os.path.basename(step), "manifest.json"), trained.path("inside.onnx"))
    with open(trained.path("text"), "w") as file:
        file.write("no tensors")
    out = trained.path("out.onnx")
    kept = {folder: sorted(os.listdir(trained.path(folder))) for folder in (".", "model", "run", step)}
    with open(model, "rb") as file:
        before = file.read()
    with_model = ["--model", model]
    for arguments, said in [
            ([large, "-o", out, *with_model], ["tensor 'dense' is f32[5,63] in '", "shape.safetensors', but f32[5,64] in '", "give the model that was trained"]),
            ([double, "-o", out, *with_model], ["tensor 'dense' is f64[5,64] in '", "but f32[5,64] in '"]),
            ([more, "-o", out, *with_model], ["more.safetensors' has 'w0' and 1 more tensor, of which '", "has no initializer: give the model that was trained"]),
            ([none, "-o", out, *with_model], ["none.safetensors' has no parameters"]),
            ([run, "-o", model, *with_model], ["is the model that is read; name another file"]),
            ([run, "-o", trained.path("model/weights.bin"), *with_model], ["has weights of the model that is read"]),
            ([run, "-o", trained.path("model/copy.onnx"), *with_model], ["copy.onnx.data' has weights of the model that is read"]),
            ([run, "-o", os.path.join(step, "out.onnx"), *with_model], ["is within the checkpoint itself; name another place"]),
            ([run, "-o", trained.path("inside.onnx"), *with_model], ["is within the checkpoint itself; name another place"]),
            ([final, "-o", final + ".onnx.gz", *with_model], ["the copy is not packed; name it .onnx"]),
            ([final, "-o", final, *with_model], ["with --model a copy of the model is written; name it .onnx"]),
            ([final, "-o", "-", *with_model], ["is no plain file: the model has external data, which are written beside it"]),
            ([final, "-o", trained.path("link.onnx"), *with_model], ["link.onnx' is no plain file"]),
            ([final, "-o", trained.path("no/folder.onnx"), *with_model], ["cannot write '", "No such file or directory"]),
            ([run, "-o", out], ["add --model with the one that was trained"]),
            ([final, "-o", trained.path("copy.safetensors")], ["is a file of tensors already; add --model"]),
            ([run, *with_model], ["no output given; add -o FILE"]),
            ([final, "-o", out, *with_model, "--averages"], ["--averages is for checkpoints", "'.average' before its extension"]),
            ([os.path.join(step, "rank-0000.safetensors"), "-o", out, *with_model], ["is a part of a checkpoint: give its folder"]),
            ([trained.path("text"), "-o", out, *with_model], ["is neither a checkpoint's folder nor a safetensors file"]),
            ([trained.path("nowhere"), "-o", out, *with_model], ["there is no folder '"]),
            ([run, "-o", out, "--model", trained.path("text")], ["not an ONNX model"]),
            ([run, "-o", out, "--model", trained.path("nowhere.onnx")], ["it cannot be read: No such file or directory"])]:
        code, told = told_by(tool, *arguments)
        assert code == 1 and told.count("\n") == 0, f"{arguments}: {code} {told}"
        for words in said:
            assert words in told, f"{arguments}: no {words!r} in: {told}"
        assert {folder: sorted(os.listdir(trained.path(folder))) for folder in kept} == kept, f"{arguments}: files were left"
    with open(model, "rb") as file:
        assert file.read() == before
    told = told_by(tool, run, "-o", "/dev/full", "--model", inside)
    assert told[0] == 1 and "cannot write '/dev/full': No space left on device" in told[1], told
    # The tensors alone are written without --model; the note says where averages are missing.
    code, told = told_by(tool, run, "-o", trained.path("averaged.safetensors"), "--averages")
    averaged = load_file(trained.path("averaged.safetensors"))
    assert code == 0 and all(np.array_equal(averaged[name], value) for name, value in load_file(trained.path("final.average.safetensors")).items()), told


def write_inside(trained):
    """The model with its weights inside."""
    os.makedirs(trained.path("inside"))
    onnx.save(onnx.load(trained.model), trained.path("inside/model.onnx"))
    return trained.path("inside/model.onnx")


def check_no_average(tool, work):
    """A recipe without an average, a frozen parameter and a model whose weights lie inside."""
    write_model(work, [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "b"], ["y"])], {"x": (FLOAT, [4, 3])}, {"y": (FLOAT, [4, 3])},
                {"w": np.eye(3, dtype=np.float32), "b": np.zeros(3, np.float32)})
    path = {name: os.path.join(work, name) for name in ("model.onnx", "recipe.json", "train", "run", "data.npz", "out.onnx")}
    with open(path["recipe.json"], "w") as file:
        json.dump({"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.1}, "trainable": ["w"]}, file)
    x = np.random.default_rng(5).standard_normal((2, 4, 3)).astype(np.float32)
    np.savez(path["data.npz"], x=x, labels=2 * x)
    error = error_of(tool, "compile", path["model.onnx"], "-o", path["train"], "--train", path["recipe.json"]) or \
        error_of(path["train"], "--data", path["data.npz"], "--steps", "2", "--checkpoint", path["run"])
    assert not error, error
    told = export(tool, path["run"], "-o", path["out.onnx"], "--model", path["model.onnx"], "--averages")
    assert "the checkpoint has no averages, for its recipe has no 'average'" in told and "has no state of them: 'b'" in told, told
    assert not np.array_equal(arrays_of(onnx.load(path["out.onnx"]))["w"], np.eye(3))
    with open(path["out.onnx"], "rb") as file:
        whole = file.read()
    done = subprocess.run([tool, "checkpoint", "export", path["run"], "-o", "-", "--model", path["model.onnx"]], capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stdout == whole


def main():
    options = arguments_of_cases(__doc__).parse_args()
    checks = Checks(options.folder)
    checks.add("external data", lambda work: check_external(options.tool, work))
    checks.add("a Trainer", lambda work: check_trainer(options.tool, work))
    checks.add("refusals", lambda work: check_refusals(options.tool, work))
    checks.add("no averages", lambda work: check_no_average(options.tool, work))
    if absence := absence_of(TRAINING):
        print(absence)
    cases = [] if absence else options.cases or sorted(case for case in os.listdir(TRAINING) if os.path.exists(os.path.join(TRAINING, case, "run.json")))
    for number, case in enumerate(cases):
        way = WAYS[number % len(WAYS)]
        checks.add(f"{case}, {way}", lambda work, case=case, way=way: check_case(options.tool, case, way, work))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
