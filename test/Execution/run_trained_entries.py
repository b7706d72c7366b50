"""Programs that train and evaluate in a session: what was trained is what is evaluated, after each step.

    python test/Execution/run_trained_entries.py TOOL FOLDER

A net with batch norms, dropout and a parameter that no loss reaches, and a gate with a packed projection, on ranks and on the emulated device: losses are those of the
training alone, bit for bit; outputs are those of the file in eval mode with the parameters as they are, by onnxruntime. The last line counts.
"""

import json
import os
import sys

import numpy as np
import onnxruntime
from safetensors.numpy import load_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from programs import error_of  # noqa: E402
from run_evaluate import RECIPE, ROWS, STEPS, WAYS, draw, write  # noqa: E402
from run_stacked_parameters import MOMENTUM, make_gate  # noqa: E402
from training_runs import Runs, report, tool_and_folder  # noqa: E402


def expected(model, x):
    """The model's outputs by onnxruntime."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, {"x": x})))


class Both:
    """A training with its evaluation, and the training alone."""

    def __init__(self, tool, folder, way, recipe, data, options=()):
        self.folder, self.data = folder, data
        self.runs = Runs(tool, folder, way, recipe)
        self.log, self.final = self.runs.train(data)
        error = error_of(tool, "compile", self.path("model.onnx"), "-o", self.path("both"), "--train", self.path("recipe.json"), "--evaluate", *way.split(), *options)
        assert not error, error

    def path(self, name):
        return os.path.join(self.folder, name)

    def train(self, session, step):
        outputs = session.run({name: array[step] for name, array in self.data.items()}, entry=[None, "train"][step % 2])
        role = {info.role: info.name for info in session.entries[0].outputs}
        loss = float(outputs[role["loss"]])
        assert loss == self.log[step]["loss"], f"step {step}: loss {loss}, that of the training alone {self.log[step]['loss']}"

    def parameters(self, session):
        return {name: session.read_state(name, "model", entry="evaluate") for name in self.final}


def check_norms(tool, folder, way):
    random = np.random.default_rng(3)
    weights = draw(random)
    write(folder, True, weights)
    data = {"x": random.standard_normal((STEPS, ROWS, 3, 4, 4)).astype(np.float32), "labels": random.standard_normal((STEPS, ROWS, 5)).astype(np.float32)}
    both = Both(tool, folder, way, RECIPE, data)
    x = random.standard_normal((ROWS, 3, 4, 4)).astype(np.float32)

    def compare(session):
        now = both.parameters(session)
        write(both.path("reference"), False, now)
        wanted = expected(both.path("reference/model.onnx"), x)
        got = session.run({"x": x})  # the training has labels, too
        assert sorted(got) == ["other", "y"], sorted(got)
        for name in got:
            assert np.allclose(got[name], wanted[name], rtol=1e-4, atol=1e-5), f"{name}: {np.abs(got[name] - wanted[name]).max()}"
        return now

    with autopar.load(both.path("both")) as session:
        assert [entry.name for entry in session.entries] == ["train", "evaluate"]
        before = compare(session)
        assert all(before[name].tobytes() == weights[name].tobytes() for name in both.final)
        for step in range(STEPS):
            both.train(session, step)
            now = compare(session)
        for name, value in both.final.items():
            assert now[name].tobytes() == value.tobytes(), f"parameter {name} differs from the training's alone"
        session.write_state("offset", np.zeros(5, np.float32), "model")
        assert not session.read_state("offset", "model", entry="train").any()
        compare(session)
    # The executable evaluates what it is given.
    np.savez(both.path("inputs.npz"), x=x)
    error = error_of(both.path("both"), "--inputs", both.path("inputs.npz"), "--outputs", both.path("out.npz"), "--weights", both.path("final.safetensors"))
    assert not error, error
    write(both.path("reference"), False, both.final)
    wanted = expected(both.path("reference/model.onnx"), x)
    with np.load(both.path("out.npz")) as got:
        assert np.allclose(got["y"], wanted["y"], rtol=1e-4, atol=1e-5)


def check_gate(tool, folder, way, recipe):
    """A packed projection, in whatever precision: the evaluation is that of a program for it alone with the same parameters."""
    make_gate(folder)
    random = np.random.default_rng(6)
    data = {name: random.standard_normal((STEPS, 6, 12)).astype(np.float32) for name in ("x", "labels")}
    both = Both(tool, folder, way, recipe, data)
    x = data["x"][0]
    with autopar.load(both.path("both")) as session:
        for step in range(STEPS):
            both.train(session, step)
        got = session.run({"x": x})["y0"]
        assert {name: value.tobytes() for name, value in both.parameters(session).items()} == {name: value.tobytes() for name, value in both.final.items()}
    error = error_of(tool, "compile", both.path("model.onnx"), "-o", both.path("alone"), "--precision", recipe.get("precision", "fp32"))
    assert not error, error
    outputs, _ = autopar.Program(both.path("alone")).run({"x": x}, options=["--weights", both.path("final.safetensors")])
    wanted, close = outputs["y0"], 1e-5 if recipe.get("precision", "fp32") == "fp32" else 2e-2
    assert np.abs(got - wanted).max() < close * np.abs(wanted).max(), np.abs(got - wanted).max()
    assert load_file(both.path("final.safetensors"))["packed.weight"].shape == (48, 12)


def check_trainer(folder):
    """After a step the evaluation has the loss of the next step."""
    make_gate(folder)
    random = np.random.default_rng(7)
    x, labels = (random.standard_normal((6, 12)).astype(np.float32) for _ in range(2))
    with autopar.Trainer(os.path.join(folder, "model.onnx"), {"loss": "mse_mean", "optimizer": MOMENTUM}, ranks=2, options=["--evaluate"]) as trainer:
        evaluated = None
        for _ in range(STEPS):
            loss = trainer.step({"x": x, "labels": labels}).loss
            assert evaluated is None or abs(loss - evaluated) < 1e-6 * evaluated, f"loss {loss}, evaluated as {evaluated}"
            evaluated = np.mean(np.square(trainer.session.run({"x": x})["y0"] - labels, dtype=np.float64))


def check_refused(tool, folder):
    """Plans by hand that store what is trained otherwise where it is evaluated."""
    make_gate(folder)
    model, recipe = os.path.join(folder, "model.onnx"), os.path.join(folder, "recipe.json")
    with open(recipe, "w") as file:
        json.dump({"loss": "mse_mean", "optimizer": MOMENTUM}, file)
    plans = {}
    for strategy in ("data", "tensor"):
        path = os.path.join(folder, strategy + ".json")
        error = error_of(tool, "plan", model, "--train", recipe, "--evaluate", "--ranks", "2", "--strategy", strategy, "--json", path)
        assert not error, error
        with open(path) as file:
            plans[strategy] = json.load(file)["entries"]
    mixed = os.path.join(folder, "mixed.json")
    with open(mixed, "w") as file:
        json.dump({"entries": {"train": plans["data"]["train"], "evaluate": plans["tensor"]["evaluate"]}}, file)
    error = error_of(tool, "compile", model, "--train", recipe, "--evaluate", "--plan", mixed, "-o", os.path.join(folder, "none")) or ""
    assert "entry train changes what this entry stores otherwise (packed.weight, packed.bias, down)" in error, error
    assert "in entry evaluate" in error, error
    assert not os.path.exists(os.path.join(folder, "none"))


def main():
    options = tool_and_folder(__doc__)
    checks = []
    for number, way in enumerate(WAYS):
        checks.append((f"norms, {way}", lambda way=way, number=number: check_norms(options.tool, os.path.join(options.folder, f"norms{number}"), way)))
    recipe = {"loss": "mse_mean", "optimizer": MOMENTUM}
    for number, (way, changes) in enumerate([("--ranks 1", {}), ("--ranks 2 --strategy tensor", {}), ("--ranks 3", {}), ("--ranks 2", {"precision": "bf16"}),
                                             ("--ranks 2 --strategy tensor", {"optimizer": {"kind": "adafactor", "lr": 0.01}})]):
        checks.append((f"gate, {way} {changes}", lambda way=way, changes=changes, number=number:
                       check_gate(options.tool, os.path.join(options.folder, f"gate{number}"), way, {**recipe, **changes})))
    checks.append(("trainer", lambda: check_trainer(os.path.join(options.folder, "trainer"))))
    checks.append(("refused", lambda: check_refused(options.tool, os.path.join(options.folder, "refused"))))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
