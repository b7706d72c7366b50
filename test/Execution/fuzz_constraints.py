"""Asks for random parts of plans: each constraints file is met by a right program or refused with a clear error.

    python test/Execution/fuzz_constraints.py [--count N] [--seed N] [--first N] [--models NAME,...] [--jobs N]

A case has one to four constraints on tensors and nodes of a model of ../shared/models/small, by name or glob. The plan must meet them (it
is read again with them), and the program's outputs must be the model's. The last line counts.
"""

import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fuzz import error_of_run, main_of  # noqa: E402
from run_models import find_tool, run  # noqa: E402
from shared_models import SMALL  # noqa: E402

MESHES = [(2, "x=2"), (4, "a=2,b=2"), (4, "x=4"), (3, "x=3"), (2, "layer=2"), (4, "layer=2,x=2"), (4, "")]
TEXTS = ["replicated", "data", "row", "column", "tensor", "channel", "spatial", "split 0", "split 1", "split 2", "pass 0", "dimension 0", "dimension 1",
         "dimension 2"]


def pattern_of(name, rng):
    """The name, or a glob that it matches."""
    kind = rng.random()
    if kind < 0.6:
        return name
    if kind < 0.9:
        return name[: rng.randrange(1, len(name) + 1)] + "*"
    return "".join("?" if c.isdigit() else c for c in name)


def axes_of(mesh):
    names = ["all"]
    for axis in filter(None, mesh.split(",")):
        name, size = axis.split("=")
        if name != "layer":
            names += [name] * 4 + [f"{name}.0", f"{name}.1"] * (size == "4")
    return names


def random_sharding(rank, axes, rng):
    if rng.random() < 0.2:
        return rng.choice([["..."], [[rng.choice(axes)], "..."], ["...", []]])
    dims = [rng.choice([[], [], "*"]) for _ in range(rank)]
    if dims and rng.random() < 0.8:
        dims[rng.randrange(rank)] = [rng.choice(axes)]
    return dims


def random_constraint(plan, mesh, rng):
    axes, result = axes_of(mesh), {}
    if rng.random() < 0.55:
        name = rng.choice(sorted(plan["tensors"]))
        result = {"value": pattern_of(name, rng), "sharding": random_sharding(len(plan["tensors"][name]["dims"]), axes, rng)}
        if rng.random() < 0.15:
            result["partial"] = {rng.choice(axes): "sum"}
    else:
        result = {"node": pattern_of(rng.choice(sorted(plan["ops"])), rng)}
        if "layer" in mesh and rng.random() < 0.5:
            result["stage"] = rng.randrange(2)
        else:
            result["strategy"] = {rng.choice(axes): rng.choice(TEXTS)}
    if rng.random() < 0.2:
        result["forbid"] = True
    return result


def attempt(number, seed, models, plans, work):
    """What happened, and what went wrong or ""."""
    rng = random.Random(f"{seed}.{number}")
    model, (ranks, mesh) = rng.choice(sorted(models)), rng.choice(MESHES)
    stem, file = os.path.join(work, str(number)), os.path.join(SMALL, model, "model.onnx")
    with open(stem + ".constraints.json", "w") as out:
        json.dump({"constraints": [random_constraint(plans[model], mesh, rng) for _ in range(rng.choice([1, 1, 2, 4]))]}, out)
    asked = ["--constraints", stem + ".constraints.json"]
    code, log = run([find_tool(), "compile", file, "-o", stem, "--weights", file, "--ranks", str(ranks), "--save-plan", stem + ".json",
                     *(["--mesh", mesh] if mesh else []), *asked])
    if code:
        clear = 0 < code < 100 and log.startswith("autopar: error: ") and ("constraint" in log or "micro-batch" in log)
        return "refused", "" if clear else f"compile ended with {code}: {log[-400:]}"
    code, log = run([find_tool(), "plan", file, "--plan", stem + ".json", *asked])
    if code:
        return "ran", f"the plan does not meet what was asked: {log[-400:]}"
    return "ran", error_of_run(model, stem)


def plan_of(model, work):
    path = os.path.join(work, model + ".json")
    run([find_tool(), "plan", os.path.join(SMALL, model, "model.onnx"), "--json", path])
    with open(path) as file:
        return json.load(file)


def prepare(models, options, work, pool):
    plans = dict(zip(models, pool.map(lambda model: plan_of(model, work), models)))
    return lambda number: attempt(number, options.seed, models, plans, work)


if __name__ == "__main__":
    sys.exit(main_of(__doc__, "mlp,mlp-uneven,gpt2-uneven,lenet,moe-tiny", prepare))
