"""Every optimizer with each of its options, every schedule, both ways to clip and groups of parameters, against NumPy in float64 over 20 steps.

    python test/Execution/run_optimizers.py TOOL FOLDER [--ranks N] [--options "--target emulated"] [--groups] [--torch]

The formulas here are those of torch.optim (and of You et al. 2020 for LAMB), written down a second time; with --torch PyTorch, where it is
installed, takes their place (but LAMB's, which it has not), with --groups recipes with groups or an average are tried alone. Parameters
must agree to 1e-5 of their norm, learning rates to 1e-12. The last line counts.
"""

import argparse
import fnmatch
import inspect
import json
import math
import os

import numpy as np
import onnx
from onnx import TensorProto, helper
from safetensors.numpy import load_file

from programs import error_of

STEPS, BATCH, FEATURES, TARGETS = 20, 6, 5, 4

OPTIMIZERS = [
    {"kind": "sgd", "lr": 0.1},
    {"kind": "sgd", "lr": 0.1, "momentum": 0.9},
    {"kind": "sgd", "lr": 0.1, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.05},
    {"kind": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
    {"kind": "sgd", "lr": 0.01, "maximize": True},
    {"kind": "adam", "lr": 0.05},
    {"kind": "adam", "lr": 0.05, "betas": [0.7, 0.9], "eps": 1e-3, "weight_decay": 0.1},
    {"kind": "adam", "lr": 0.05, "amsgrad": True},
    {"kind": "adamw", "lr": 0.05},
    {"kind": "adamw", "lr": 0.05, "weight_decay": 0.2, "weight_decay_parameters": ["fc.weight"]},
    {"kind": "adamw", "lr": 0.05, "amsgrad": True, "maximize": True},
    {"kind": "rmsprop", "lr": 0.02},
    {"kind": "rmsprop", "lr": 0.02, "alpha": 0.8, "momentum": 0.5, "weight_decay": 0.1, "eps": 1e-4},
    {"kind": "rmsprop", "lr": 0.02, "centered": True},
    {"kind": "adagrad", "lr": 0.1},
    {"kind": "adagrad", "lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-6},
    {"kind": "lamb", "lr": 0.05},
    {"kind": "lamb", "lr": 0.05, "betas": [0.8, 0.95], "weight_decay": 0.1},
    {"kind": "adafactor", "lr": 0.05},
    {"kind": "adafactor", "lr": 0.5, "beta2_decay": -0.5, "d": 1.5, "weight_decay": 0.1, "eps": [None, 0.01]},
]
SGD = {"kind": "sgd", "lr": 0.1}
RECIPES = [{"optimizer": optimizer} for optimizer in OPTIMIZERS] + [
    {"optimizer": SGD, "schedule": {"kind": "constant", "warmup_steps": 5}},
    {"optimizer": SGD, "schedule": {"kind": "step", "step_size": 4, "gamma": 0.5, "min_lr": 0.02, "warmup_steps": 2}},
    {"optimizer": SGD, "schedule": {"kind": "cosine", "min_lr": 0.01}},
    {"optimizer": SGD, "schedule": {"kind": "cosine", "min_lr": 0.01, "warmup_steps": 4}},
    {"optimizer": SGD, "schedule": {"kind": "linear", "min_lr": 0.01, "warmup_steps": 3}},
    {"optimizer": SGD, "schedule": {"kind": "polynomial", "power": 2, "min_lr": 0.01, "warmup_steps": 3}},
    {"optimizer": SGD, "schedule": {"kind": "warmup_linear", "warmup_steps": 3}},
    {"optimizer": SGD, "schedule": {"kind": "constant", "lr_per_step": [0.1, 0.3, 0.05]}},
    {"optimizer": SGD, "clip_global_norm": 0.5},
    {"optimizer": SGD, "clip_value": 0.1},
    {"optimizer": {"kind": "adamw", "lr": 0.05}, "clip_global_norm": 0.2, "clip_value": 0.05, "schedule": {"kind": "linear"}},
    {"optimizer": {"kind": "adamw", "lr": 0.05, "weight_decay": 0.2}, "groups": [{"parameters": ["*.bias"], "weight_decay": 0, "lr_scale": 0.1}]},
    {"optimizer": {"kind": "sgd", "lr": 0.1}, "schedule": {"kind": "cosine", "min_lr": 0.01, "warmup_steps": 3},
     "groups": [{"parameters": ["fc.w*"], "lr": 0.02, "momentum": 0.9, "nesterov": True}, {"parameters": ["*", "!fc.weight"], "lr_scale": 3, "weight_decay": 0.1}]},
    {"optimizer": {"kind": "adam", "lr": 0.05}, "clip_global_norm": 0.5,
     "groups": [{"parameters": ["fc.weight"], "betas": [0.5, None], "eps": 1e-3, "amsgrad": True}, {"parameters": ["fc.bias"], "maximize": True, "lr": 0.01}]},
    {"optimizer": {"kind": "rmsprop", "lr": 0.02}, "schedule": {"kind": "constant", "lr_per_step": [0.1, 0.03]},
     "groups": [{"parameters": ["fc.bias"], "lr_scale": 0.5, "centered": True}]},
    {"optimizer": {"kind": "sgd", "lr": 0.1, "weight_decay": 0.1}, "clip_global_norm": 0.5, "groups": [{"parameters": ["*.we?ght"], "frozen": True}]},
    {"optimizer": {"kind": "adamw", "lr": 0.05}, "average": 0.9},
    {"optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9}, "average": 0.25, "groups": [{"parameters": ["fc.bias"], "lr_scale": 0.1}]},
    {"optimizer": {"kind": "sgd", "lr": 0.1}, "average": 0, "groups": [{"parameters": ["fc.bias"], "frozen": True}]},
]
DEFAULTS = {"momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False, "betas": [0.9, 0.999], "eps": 1e-8,
            "amsgrad": False, "alpha": 0.99, "centered": False, "lr_decay": 0, "initial_accumulator_value": 0, "beta2_decay": -0.8, "d": 1}
OWN_DEFAULTS = {"adamw": {"weight_decay": 0.01}, "adagrad": {"eps": 1e-10}, "lamb": {"eps": 1e-6}, "adafactor": {"eps": [None, 1e-3]}}


def group_of(recipe, name):
    """The hyperparameters that the parameter has of its own."""
    for group in recipe.get("groups", []):
        chosen = False
        for glob in group["parameters"]:
            if fnmatch.fnmatchcase(name, glob.lstrip("!")):
                chosen = not glob.startswith("!")
        if chosen:
            return group
    return {}


def learning_rate(recipe, step, group={}):
    lr, schedule = group.get("lr", recipe["optimizer"]["lr"]), recipe.get("schedule", {"kind": "constant"})
    if "lr_per_step" in schedule:
        return schedule["lr_per_step"][min(step, len(schedule["lr_per_step"]) - 1)]
    warm, low, kind = schedule.get("warmup_steps", 0), schedule.get("min_lr", 0), schedule["kind"]
    if step < warm:
        return lr * (step + 1) / warm
    f = (step - warm) / max(1, STEPS - warm)
    if kind == "step":
        return max(low, lr * schedule.get("gamma", 0.1) ** ((step - warm) // schedule["step_size"]))
    if kind == "cosine":
        return low + (lr - low) * 0.5 * (1 + math.cos(math.pi * f))
    if kind in ("linear", "warmup_linear"):
        return low + (lr - low) * (1 - f)
    return low + (lr - low) * (1 - f) ** schedule["power"] if kind == "polynomial" else lr


def update(kind, o, w, g, lr, t, s):
    """The parameter after step t, counted from 1; `s` is its state."""
    decay = o["weight_decay"]
    g = -g if o["maximize"] else g
    if kind in ("sgd", "adam", "rmsprop", "adagrad"):
        g = g + decay * w
    if kind == "sgd":
        if o["momentum"]:
            s["v"] = g if t == 1 else o["momentum"] * s["v"] + (1 - o["dampening"]) * g
            g = g + o["momentum"] * s["v"] if o["nesterov"] else s["v"]
        return w - lr * g
    if kind in ("adam", "adamw", "lamb"):
        b1, b2 = o["betas"]
        s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
        s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
        m, v = s["m"] / (1 - b1 ** t), s["v"]
        if o["amsgrad"]:
            v = s["max"] = np.maximum(s.get("max", 0), v)
        r = m / (np.sqrt(v / (1 - b2 ** t)) + o["eps"])
        if kind == "lamb":
            r = r + decay * w
            norms = np.linalg.norm(w), np.linalg.norm(r)
            return w - lr * (norms[0] / norms[1] if all(norms) else 1) * r
        return (w * (1 - lr * decay) if kind == "adamw" else w) - lr * r
    if kind == "rmsprop":
        s["v"] = o["alpha"] * s.get("v", 0) + (1 - o["alpha"]) * g * g
        v = s["v"]
        if o["centered"]:
            s["a"] = o["alpha"] * s.get("a", 0) + (1 - o["alpha"]) * g
            v = v - s["a"] ** 2
        r = g / (np.sqrt(v) + o["eps"])
        if o["momentum"]:
            r = s["b"] = o["momentum"] * s.get("b", 0) + r
        return w - lr * r
    if kind == "adagrad":
        s["s"] = s.get("s", o["initial_accumulator_value"]) + g * g
        return w - lr / (1 + (t - 1) * o["lr_decay"]) * g / (np.sqrt(s["s"]) + o["eps"])
    rest, eps1, eps2 = t ** o["beta2_decay"], float(np.finfo(np.float32).eps), o["eps"][1]
    rate = max(eps2, np.linalg.norm(w) / math.sqrt(w.size)) * min(lr, 1 / math.sqrt(t))
    if w.ndim > 1:
        s["r"] = s.get("r", 0) * (1 - rest) + rest * (g * g).mean(-1, keepdims=True)
        s["c"] = s.get("c", 0) * (1 - rest) + rest * (g * g).mean(-2, keepdims=True)
        v = s["r"] * s["c"] / np.maximum(s["r"].mean(-2, keepdims=True), eps1)
    else:
        v = s["v"] = s.get("v", 0) * (1 - rest) + rest * g * g
    r = g / np.sqrt(np.maximum(v, eps1 * eps1))
    return w * (1 - lr * decay) - rate / max(1, np.linalg.norm(r) / math.sqrt(r.size) / o["d"]) * r


def own_hyperparameters(recipe, name):
    given = recipe["optimizer"]
    o = {**DEFAULTS, **OWN_DEFAULTS.get(given["kind"], {}), **given}
    group = group_of(recipe, name)
    own = {**(o if name in o.get("weight_decay_parameters", [name]) else {**o, "weight_decay": 0}), **group}
    own["betas"] = [o["betas"][i] if beta is None else beta for i, beta in enumerate(own["betas"])]
    return own


def gradients_of(recipe, w, x, y):
    slope = 2 * (x @ w["fc.weight"].T + w["fc.bias"] - y) / y.size
    gradients = {"fc.weight": slope.T @ x, "fc.bias": slope.sum(0)}
    return {name: g for name, g in gradients.items() if not group_of(recipe, name).get("frozen")}


def expected(recipe, data, values):
    """Learning rates, norms, the trained parameters after the last step and their averages."""
    w = {name: value.astype(np.float64) for name, value in values.items()}
    states, averages, rates, norms = {name: {} for name in w}, {}, [], []
    decay = recipe.get("average", 0)
    for step in range(STEPS):
        gradients = gradients_of(recipe, w, data["x"][step].astype(np.float64), data["labels"][step].astype(np.float64))
        norms.append(math.sqrt(sum((g ** 2).sum() for g in gradients.values())))
        rates.append(learning_rate(recipe, step))
        for name, g in gradients.items():
            g = g * min(1, recipe.get("clip_global_norm", math.inf) / (norms[-1] + 1e-6))
            g = np.clip(g, -recipe.get("clip_value", math.inf), recipe.get("clip_value", math.inf))
            group = group_of(recipe, name)
            rate = learning_rate(recipe, step, group) * group.get("lr_scale", 1)
            w[name] = update(recipe["optimizer"]["kind"], own_hyperparameters(recipe, name), w[name], g, rate, step + 1, states[name])
            averages[name] = w[name] + decay * (averages.get(name, w[name]) - w[name])
    return rates, norms, {name: w[name] for name in gradients}, averages


def expected_by_torch(recipe, data, values):
    """The same from torch.optim and torch.optim.swa_utils in float64; None where PyTorch has no such optimizer."""
    import torch
    from torch.optim import swa_utils
    kinds = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop", "adagrad": "Adagrad", "adafactor": "Adafactor"}
    if recipe["optimizer"]["kind"] not in kinds:
        return None
    model = torch.nn.Module()
    model.fc = torch.nn.Linear(FEATURES, TARGETS, dtype=torch.float64)
    model.load_state_dict({name: torch.tensor(value, dtype=torch.float64) for name, value in values.items()})
    trained = {name: p for name, p in model.named_parameters() if not group_of(recipe, name).get("frozen")}
    kind = getattr(torch.optim, kinds[recipe["optimizer"]["kind"]])
    known = inspect.signature(kind).parameters
    options = {name: {key: value for key, value in own_hyperparameters(recipe, name).items() if key in known} for name in trained}
    optimizer = kind([{"params": [p], **options[name]} for name, p in trained.items()],
                     **{key: value for key, value in recipe["optimizer"].items() if key in known})
    average = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(recipe.get("average", 0)))
    rates, norms = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model.fc(torch.tensor(data["x"][step]).double()), torch.tensor(data["labels"][step]).double()).backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(trained.values(), recipe.get("clip_global_norm", math.inf))))
        torch.nn.utils.clip_grad_value_(trained.values(), recipe.get("clip_value", math.inf))
        rates.append(learning_rate(recipe, step))
        for name, own in zip(trained, optimizer.param_groups):
            group = group_of(recipe, name)
            own["lr"] = learning_rate(recipe, step, group) * group.get("lr_scale", 1)
        optimizer.step()
        average.update_parameters(model)
    arrays = [{name: p.detach().numpy() for name, p in of.named_parameters() if name in trained} for of in (model, average.module)]
    return rates, norms, *arrays


def save_model(path, values):
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "fc.weight", "fc.bias"], ["y"], name="fc", transB=1)], "linear",
        [tensor("x", TensorProto.FLOAT, [BATCH, FEATURES])], [tensor("y", TensorProto.FLOAT, [BATCH, TARGETS])],
        [onnx.numpy_helper.from_array(value, name) for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def differences(path, want):
    """What is wrong with the tensors of a file, or None."""
    got = load_file(path)
    if sorted(got) != sorted(want):
        return f"{os.path.basename(path)} has {sorted(got)}"
    for name in want:
        difference = np.linalg.norm(got[name] - want[name]) / np.linalg.norm(want[name])
        if not difference <= 1e-5:
            return f"{name} of {os.path.basename(path)} differs by {difference:.1e}"
    return None


def attempt(options, recipe, data, known):
    """What is wrong, or None."""
    path = {name: os.path.join(options.folder, name) for name in
            ("model.onnx", "recipe.json", "program", "data.npz", "log", "final.safetensors", "final.average.safetensors")}
    with open(path["recipe.json"], "w") as file:
        json.dump({"loss": "mse_mean", "steps": STEPS, **recipe}, file)
    for command in ([options.tool, "compile", path["model.onnx"], "--train", path["recipe.json"], "--ranks", str(options.ranks),
                     *options.options.split(), "-o", path["program"]],
                    [path["program"], "--data", path["data.npz"], "--steps", str(STEPS), "--log", path["log"], "--final", path["final.safetensors"]]):
        if error := error_of(*command):
            return error
    rates, norms, want, averages = known
    with open(path["log"]) as file:
        log = [json.loads(line) for line in file]
    if not np.allclose([line["learning_rate"] for line in log], rates, rtol=1e-12, atol=0):
        return "the learning rates differ"
    if not np.allclose([line["grad_norm"] for line in log], norms, rtol=1e-5, atol=0):
        return "the gradient norms differ"
    error = differences(path["final.safetensors"], want)
    return error if error or "average" not in recipe else differences(path["final.average.safetensors"], averages)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--ranks", type=int, default=1)
    arguments.add_argument("--options", default="")
    arguments.add_argument("--groups", action="store_true")
    arguments.add_argument("--torch", action="store_true")
    options = arguments.parse_args()
    random = np.random.default_rng(7)
    values = {"fc.weight": random.standard_normal((TARGETS, FEATURES)).astype(np.float32), "fc.bias": random.standard_normal(TARGETS).astype(np.float32)}
    data = {"x": random.standard_normal((STEPS, BATCH, FEATURES)).astype(np.float32), "labels": random.standard_normal((STEPS, BATCH, TARGETS)).astype(np.float32)}
    save_model(os.path.join(options.folder, "model.onnx"), values)
    np.savez(os.path.join(options.folder, "data.npz"), **data)
    failed = passed = 0
    for recipe in [recipe for recipe in RECIPES if not options.groups or "groups" in recipe or "average" in recipe]:
        known = (expected_by_torch if options.torch else expected)(recipe, data, values)
        if known is None:
            continue
        error = attempt(options, recipe, data, known)
        failed += error is not None
        passed += error is None
        print(f"FAIL: {json.dumps(recipe)}: {error}" if error else f"ok: {json.dumps(recipe)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
