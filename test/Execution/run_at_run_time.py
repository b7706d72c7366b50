"""Hyperparameters that are set between steps: the steps after it are those of a program that has the new values compiled in.

    python test/Execution/run_at_run_time.py TOOL FOLDER

Each recipe of run_optimizers.py, and others with blocks, sharded moments and scaled losses, is compiled twice: as it is, and with other numbers and all of them
named `at_run_time`. The second takes steps with its own numbers, as a program that has those compiled in; then its states go to the first, its hyperparameters are set to the
first's, and both go on alike: what steps tell and all states, within a few roundings, for a known number may have a product and a sum joined otherwise; learning rates to 1e-15.
SGD whose momentum begins as 0 is compared with NumPy. The last lines count, also for how many recipes all bits are equal.
"""

import copy
import json
import os
import subprocess
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from autopar._hyperparameters import Hyperparameters  # noqa: E402
from expected import expect_error  # noqa: E402
from programs import error_of  # noqa: E402
from run_optimizers import BATCH, FEATURES, RECIPES, TARGETS, save_model  # noqa: E402
from training_runs import report, tool_and_folder  # noqa: E402

STEPS = 4  # before the change, and after it
FLAGS = {"kind", "nesterov", "maximize", "amsgrad", "centered", "initial_accumulator_value", "parameters", "frozen", "weight_decay_parameters"}
DEFAULTS = {"sgd": {"lr": 1e-3, "momentum": 0, "dampening": 0, "weight_decay": 0},
            "adam": {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0},
            "adamw": {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01},
            "rmsprop": {"lr": 0.01, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0},
            "adagrad": {"lr": 0.01, "lr_decay": 0, "weight_decay": 0, "eps": 1e-10},
            "lamb": {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-6, "weight_decay": 0},
            "adafactor": {"lr": 0.01, "beta2_decay": -0.8, "eps": [2.0 ** -23, 1e-3], "d": 1, "weight_decay": 0}}
OTHER = {"lr": lambda v: v * 0.4, "momentum": lambda v: 0.35, "dampening": lambda v: 0.15, "weight_decay": lambda v: v + 0.07, "betas": lambda v: [0.6, 0.85],
         "eps": lambda v: [1e-5, 0.02] if isinstance(v, list) else 1e-4, "alpha": lambda v: 0.7, "lr_decay": lambda v: v + 0.02, "beta2_decay": lambda v: -0.55,
         "d": lambda v: v + 0.25, "lr_scale": lambda v: v * 0.7, "clip_global_norm": lambda v: v * 0.3, "clip_value": lambda v: v * 0.6, "average": lambda v: 0.45,
         "loss_scale": lambda v: v * 3, "steps": lambda v: v + 3, "warmup_steps": lambda v: v + 2, "min_lr": lambda v: v + 1e-3, "step_size": lambda v: v + 1,
         "gamma": lambda v: 0.6, "power": lambda v: 1.5}
SCHEDULED = {"step": {"step_size", "gamma", "min_lr"}, "polynomial": {"min_lr", "power"}, "cosine": {"min_lr"}, "linear": {"min_lr"}, "warmup_linear": {"min_lr"}}
ADAMW = {"kind": "adamw", "lr": 0.05, "weight_decay": 0.1}
SHARDED = [{"value": f"fc.weight/{moment}", "sharding": [["data"], []]} for moment in ("exp_avg", "exp_avg_sq")]
OTHERS = [
    ({"optimizer": ADAMW, "accumulation": 3, "clip_global_norm": 0.5}, "--ranks 2"),
    ({"optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9}, "loss_scale": 128, "accumulation": 2}, ""),
    ({"optimizer": ADAMW, "loss_scale": 1}, "--ranks 3"),
    ({"optimizer": ADAMW, "average": 0.8, "schedule": {"kind": "cosine"}}, "--ranks 2 --mesh data=2 --constraints CONSTRAINTS"),
    ({"optimizer": ADAMW, "precision": "fp16"}, "--ranks 2"),
]


def numbers_of(recipe):
    """Names of all that can be set, each with the object that holds it, its key and its value."""
    recipe.setdefault("schedule", {"kind": "constant"})
    optimizer, schedule = recipe["optimizer"], recipe["schedule"]
    listed = "lr_per_step" in schedule
    found = [(key, optimizer, key, optimizer.get(key, default)) for key, default in DEFAULTS[optimizer["kind"]].items()
             if not (key == "lr" and listed) and not (key == "dampening" and optimizer.get("nesterov"))]
    for number, group in enumerate(recipe.get("groups", [])):
        found += [(f"groups[{number}].{key}", group, key, value) for key, value in group.items()
                  if key not in FLAGS and not (key == "dampening" and group.get("nesterov"))]
    found += [(key, recipe, key, recipe[key]) for key in ("clip_global_norm", "clip_value", "average", "loss_scale") if key in recipe]
    if not listed:
        found += [(key, schedule, key, schedule.get(key, {"gamma": 0.1, "power": 1}.get(key, 0))) for key in SCHEDULED.get(schedule["kind"], set()) | {"warmup_steps"}]
        found += [("steps", recipe, "steps", recipe["steps"])] * (schedule["kind"] in SCHEDULED and schedule["kind"] != "step")
    return found


def whole(value):
    """Without nulls, which stand for a default."""
    return [default if each is None else each for each, default in zip(value, (2.0 ** -23, 0.999))] if isinstance(value, list) else value


class Pair:
    """The program of a recipe, and the one whose numbers are others and set at run time."""

    def __init__(self, tool, folder, recipe, way):
        self.tool, self.folder = tool, folder
        self.recipe = copy.deepcopy({"loss": "mse_mean", "steps": 2 * STEPS, **recipe})
        with open(self.path("constraints.json"), "w") as file:
            json.dump({"constraints": SHARDED}, file)
        self.flags = way.replace("CONSTRAINTS", self.path("constraints.json")).split()
        self.other = copy.deepcopy(self.recipe)
        found = numbers_of(self.other)
        if any(group.get("nesterov") for group in self.other.get("groups", [])):  # whose dampening is the optimizer's
            found = [each for each in found if each[0] != "dampening"]
        self.wanted = {name: whole(value) for name, _, _, value in found}
        for _, holder, key, value in found:
            holder[key] = OTHER[key](whole(value))
        self.fixed = copy.deepcopy(self.other)
        self.other["at_run_time"] = list(self.wanted)
        self.data = np.random.default_rng(3)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name, recipe):
        with open(self.path("recipe.json"), "w") as file:
            json.dump(recipe, file)
        error = error_of(self.tool, "compile", self.path("model.onnx"), "--train", self.path("recipe.json"), "-o", self.path(name), *self.flags)
        assert not error, error
        return autopar.load(self.path(name), threads=1)

    def batch(self):
        rows = BATCH * self.recipe.get("accumulation", 1)
        return {"x": self.data.standard_normal((rows, FEATURES)).astype(np.float32), "labels": self.data.standard_normal((rows, TARGETS)).astype(np.float32)}


def states_of(session):
    return {(info.name, info.role): session.read_state(info.name, info.role) for info in session.states if info.role != "hyperparameter"}


class Comparison:
    """Of two programs; knows whether all bits were equal."""

    def __init__(self):
        self.exact = True

    def check(self, what, wanted, value, relative=1e-6, absolute=1e-7):
        self.exact &= wanted.tobytes() == value.tobytes()
        assert np.allclose(value, wanted, rtol=relative, atol=absolute), f"{what} is {value!r}, not {wanted!r}"


def compare(one, other, steps, pair, comparison, when):
    """`other` may keep states that `one` has not."""
    exact_roles = {info.name for info in one.outputs if info.role == "learning_rate"}
    for step in range(steps):
        batch = pair.batch()
        mine, its = one.run(batch), other.run(batch)
        for name, value in mine.items():
            comparison.check(f"{when}, step {step}: {name}", value, its[name], *((1e-15, 0) if name in exact_roles else ()))
    for key, value in states_of(one).items():
        comparison.check(f"{when}: state {key}", value, other.read_state(*key))


def check_recipe(tool, folder, recipe, way, exact):
    comparison = Comparison()
    pair = Pair(tool, folder, recipe, way)
    with pair.compile("other", pair.other) as other:
        with pair.compile("fixed", pair.fixed) as fixed:
            compare(fixed, other, STEPS, pair, comparison, "before")
        hyperparameters = Hyperparameters(other)
        assert set(hyperparameters) == set(pair.wanted), f"{sorted(hyperparameters)} for {sorted(pair.wanted)}"
        with pair.compile("wanted", pair.recipe) as wanted:
            states = states_of(other)
            for info in wanted.states:
                wanted.write_state(info.name, states[info.name, info.role], info.role)
            for name, value in pair.wanted.items():
                hyperparameters[name] = value
            compare(wanted, other, STEPS, pair, comparison, "after")
        exact.append(comparison.exact)
        for name, value in pair.wanted.items():
            assert hyperparameters[name] == (tuple(value) if isinstance(value, list) else value), f"{name} has become {hyperparameters[name]}"


def check_momentum(folder):
    """As PyTorch: a momentum of 0 has no buffer, or leaves it; its first step takes the gradient without dampening."""
    recipe = {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.1, "dampening": 0.3}, "at_run_time": ["momentum", "dampening"]}
    random = np.random.default_rng(4)
    with autopar.Trainer(os.path.join(folder, "model.onnx"), recipe) as trainer:
        w, b, buffer = trainer["fc.weight"].astype(np.float64), trainer["fc.bias"].astype(np.float64), None
        for momentum in (0, 0, 0.9, 0.9, 0, 0.5, 0.5):
            batch = {"x": random.standard_normal((BATCH, FEATURES)).astype(np.float32), "labels": random.standard_normal((BATCH, TARGETS)).astype(np.float32)}
            trainer.set("momentum", momentum)
            trainer.step(batch)
            slope = 2 * (batch["x"] @ w.T + b - batch["labels"]) / batch["labels"].size
            step = gradient = np.concatenate([(slope.T @ batch["x"]).ravel(), slope.sum(0)])
            if momentum:
                step = buffer = gradient if buffer is None else momentum * buffer + 0.7 * gradient
            w, b = w - 0.1 * step[:w.size].reshape(w.shape), b - 0.1 * step[w.size:]
            for name, value in (("fc.weight", w), ("fc.bias", b)):
                assert np.allclose(trainer[name], value, rtol=1e-5, atol=1e-6), f"{name} differs at momentum {momentum}"


def check_python(folder):
    """Names and values that are none; a scheduler's loop."""
    recipe = {"loss": "mse_mean", "optimizer": {"kind": "adamw", "lr": 0.05}, "clip_global_norm": 1.0, "steps": 8, "schedule": {"kind": "cosine"},
              "groups": [{"parameters": ["fc.bias"], "weight_decay": 0}], "at_run_time": ["optimizer.lr", "betas", "clip_global_norm", "schedule.warmup_steps", "groups[0].weight_decay"]}
    batch = {"x": np.ones((BATCH, FEATURES), np.float32), "labels": np.zeros((BATCH, TARGETS), np.float32)}
    with autopar.Trainer(os.path.join(folder, "model.onnx"), recipe, ranks=2) as trainer:
        known = {"lr": 0.05, "betas": (0.9, 0.999), "clip_global_norm": 1.0, "warmup_steps": 0.0, "groups[0].weight_decay": 0.0}
        assert trainer.hyperparameters == known and repr(trainer.hyperparameters) == repr(dict(trainer.hyperparameters))
        refused = {"lr": (-1, float("nan"), float("inf"), "small", None, True, [0.1], np.zeros(1)), "betas": (0.9, (0.9,), (0.9, 1.0), (0.5, -0.1), (0.5, "a")),
                   "clip_global_norm": (0, -1), "warmup_steps": (1.5, -1), "groups[0].weight_decay": (-0.1,)}
        for name, values in refused.items():
            for value in values:
                expect_error(lambda: trainer.set(name, value), f"hyperparameter '{name}")
        assert trainer.hyperparameters == known, "a refused value was kept in part"
        expect_error(lambda: trainer.set("lr", -1), "must be a number of 0 or more, and is given -1")
        expect_error(lambda: trainer.set("betas", (0.5, 1.0)), "'betas[1]' must be a number of 0 or more and below 1, and is given 1")
        expect_error(lambda: trainer.set("clip_global_norm", 0), "must be a number above 0, and is given 0")
        expect_error(lambda: trainer.set("warmup_steps", 1.5), "must be an integer of 0 or more, and is given 1.5")
        expect_error(lambda: trainer.set("eps", 1), "no hyperparameter 'eps' is set at run time", "'betas'", "'at_run_time' can name others")
        expect_error(lambda: trainer.hyperparameters["momentum"], "no hyperparameter 'momentum'")
        assert "optimizer.lr" in trainer.hyperparameters and trainer.hyperparameters.get("eps", 7) == 7 and trainer.hyperparameters.get("lr") == 0.05
        assert trainer.step(batch).learning_rate == 0.05
        for value in (np.float32(0.25), np.asarray(0.5), 1):
            trainer.hyperparameters["lr"] = value
            assert trainer.hyperparameters["lr"] == float(value)
        trainer.set("optimizer.betas", np.asarray([0.5, 0.75]))
        assert trainer.hyperparameters["betas"] == (0.5, 0.75)
        assert trainer.step(batch).learning_rate == 1 * (1 + np.cos(np.pi / 8)) / 2, "the schedule starts from the lr that was set"
    with autopar.Trainer(os.path.join(folder, "model.onnx"), {"loss": "mse_mean", "optimizer": {"kind": "sgd"}}) as trainer:
        assert len(trainer.hyperparameters) == 0
        expect_error(lambda: trainer.set("lr", 1), "the recipe names none in 'at_run_time'")


def check_executable(tool, folder):
    """--set is the recipe's value; the log tells the rate that a step had."""
    recipe = {"optimizer": {"kind": "sgd", "lr": 0.1}, "at_run_time": ["lr", "momentum", "weight_decay"]}
    pair = Pair(tool, folder, {"optimizer": recipe["optimizer"]}, "--ranks 2")
    batches = [pair.batch() for _ in range(STEPS)]
    np.savez(pair.path("data.npz"), **{name: np.stack([batch[name] for batch in batches]) for name in batches[0]})

    def run(name, made, *options):
        pair.compile(name, {"loss": "mse_mean", **made}).close()
        done = subprocess.run([pair.path(name), "--data", pair.path("data.npz"), "--steps", str(STEPS), "--log", pair.path("log"), "--final", pair.path("final.safetensors"),
                               *options], capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        with open(pair.path("log")) as log, open(pair.path("final.safetensors"), "rb") as final:
            return [{key: value for key, value in json.loads(line).items() if key not in ("seconds", "run")} for line in log], final.read()

    wanted = run("wanted", {"optimizer": {"kind": "sgd", "lr": 0.025, "momentum": 0.5}})
    assert wanted[0][0]["learning_rate"] == 0.025
    assert run("other", recipe, "--set", "lr=0.025", "--set=momentum=0.5") == wanted, "--set is not the recipe's value"
    for given, why in (("lr", "--set lr: is not NAME=NUMBER"), ("lr=", "is not NAME=NUMBER"), ("lr=fast", "is not NAME=NUMBER"),
                       ("lr=-1", "--set lr=-1: hyperparameter 'lr' must be a number of 0 or more, and is given -1"), ("lr=nan", "and is given nan"),
                       ("rl=1", "--set rl=1: no hyperparameter 'rl' is set at run time; those are 'lr', 'weight_decay', 'momentum'; did you mean 'lr'?")):
        said = run("other", recipe, "--set", given)
        assert isinstance(said, str) and why in said, f"no {why!r} in: {said}"
    said = run("wanted", {"optimizer": {"kind": "sgd"}}, "--set", "lr=1")
    assert isinstance(said, str) and "the program has no hyperparameter that is set at run time" in said, said


def main():
    options = tool_and_folder(__doc__)
    random = np.random.default_rng(7)
    save_model(os.path.join(options.folder, "model.onnx"), {"fc.weight": random.standard_normal((TARGETS, FEATURES)).astype(np.float32),
                                                            "fc.bias": random.standard_normal(TARGETS).astype(np.float32)})
    ways = ["", "--ranks 2", "--ranks 3", "--ranks 2 --target emulated", "--ranks 2 --strategy data"]
    cases = [(recipe, ways[number % len(ways)]) for number, recipe in enumerate(RECIPES)] + OTHERS
    exact = []
    checks = [(f"{json.dumps(recipe)} {way}", lambda recipe=recipe, way=way: check_recipe(options.tool, options.folder, recipe, way, exact)) for recipe, way in cases]
    checks += [("momentum", lambda: check_momentum(options.folder)), ("Python", lambda: check_python(options.folder)),
               ("executable", lambda: check_executable(options.tool, options.folder))]
    failed = report(checks)
    print(f"all bits equal for {sum(exact)} of {len(exact)} recipes")
    sys.exit(failed)


if __name__ == "__main__":
    main()
