"""Edits plan files in many random ways: each leads to a right program or to a clear error.

    python test/Execution/fuzz_plans.py [--count N] [--seed N] [--models NAME,...] [--jobs N]

Plans that are wrong in form (a key, a name, a number, a type) must be refused with exit code 1 to 99 and a message; plans that change
what an op does, how a tensor is sharded or which stage an op is in must be refused so, or compile into a program whose
outputs are those of the model. A signal, an exit code of 100 or more, an error without words and a wrong number fail. The seed
and number of a case make it again. The models are those of ../shared/models/small. The last line counts.
"""

import copy
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fuzz import error_of_run, main_of  # noqa: E402
from run_models import find_tool, run  # noqa: E402
from shared_models import SMALL  # noqa: E402

BASES = [["--ranks", "2"], ["--ranks", "4", "--mesh", "a=2,b=2"], ["--ranks", "3", "--strategy", "data"], ["--ranks", "4", "--strategy", "tensor"],
         ["--ranks", "2", "--strategy", "layer"], ["--ranks", "4", "--mesh", "layer=2,data=2", "--micro-batches", "2"]]
JUNK = [None, True, -1, 0, 1, 2, 3, 1 << 40, 0.5, "", "x", "split 0", "time", [], {}, [[]], ["x"], {"x": "sum"}]


def sub_axes_of(plan):
    names = []
    for axis in plan["mesh"]:
        names.append(axis["axis"])
        if axis["size"] == 4:
            names += [axis["axis"] + ".0", axis["axis"] + ".1"]
    return names or ["x"]


def change_strategy(plan, rng):
    op = plan["ops"][rng.choice(sorted(plan["ops"]))]["strategy"]
    sub_axis = rng.choice(sub_axes_of(plan))
    if op and rng.random() < 0.3:
        del op[rng.choice(sorted(op))]
    else:
        op[sub_axis] = f"{rng.choice(['split', 'split', 'split', 'pass'])} {rng.randrange(4)}"


def change_tensor(plan, rng):
    tensor = plan["tensors"][rng.choice(sorted(plan["tensors"]))]
    sub_axis = rng.choice(sub_axes_of(plan))
    for dim in tensor["dims"]:
        if sub_axis in dim:
            dim.remove(sub_axis)
    kind = rng.random()
    if kind < 0.6 and tensor["dims"]:
        dim = rng.choice(tensor["dims"])
        dim.insert(rng.randrange(len(dim) + 1), sub_axis)
    elif kind < 0.8:
        tensor.setdefault("partial", {})[sub_axis] = rng.choice(["sum", "sum", "sum", "max", "min", "prod"])
    else:
        tensor.pop("partial", None)


def change_stage(plan, rng):
    op = plan["ops"][rng.choice(sorted(plan["ops"]))]
    op["stage"] = rng.choice([0, 0, 1, 1, 1, 2])


def change_mesh(plan, rng):
    axis = rng.choice(plan["mesh"])
    axis[rng.choice(["axis", "size"])] = rng.choice(["q", "time", 1, 2, 3, 4, 8])


def change_anything(plan, rng):
    """A random key or item anywhere is removed, doubled under another name, or becomes junk."""
    holder = plan
    while True:
        keys = sorted(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = rng.choice(keys)
        if isinstance(holder[key], (dict, list)) and holder[key] and rng.random() < 0.7:
            holder = holder[key]
            continue
        break
    kind = rng.random()
    if kind < 0.3:
        del holder[key]
    elif kind < 0.5 and isinstance(holder, dict):
        holder[rng.choice(["", "x", key + "#9", key.upper()])] = copy.deepcopy(holder[key])
    else:
        holder[key] = rng.choice(JUNK)


CHANGES = [change_strategy] * 4 + [change_tensor] * 4 + [change_stage, change_mesh, change_anything, change_anything]


def move_many(plan, rng):
    """Many tensors are sharded otherwise: all of that is legal where there are no micro-batches."""
    for name in rng.sample(sorted(plan["tensors"]), rng.randrange(1, 1 + len(plan["tensors"]))):
        tensor = plan["tensors"][name]
        tensor.pop("partial", None)
        for dim in tensor["dims"]:
            dim.clear()
        for axis in plan["mesh"]:
            halves = [axis["axis"] + ".0", axis["axis"] + ".1"] if axis["size"] == 4 and rng.random() < 0.5 else [axis["axis"]]
            for sub_axis in halves:
                if tensor["dims"] and axis["size"] > 1 and rng.random() < 0.8:
                    rng.choice(tensor["dims"]).append(sub_axis)


def mutate_text(text, rng):
    place = rng.randrange(len(text))
    return rng.choice([text[:place], text[:place] + rng.choice('{}[]",:0x') + text[place + 1:]])


def edited(plan, rng):
    if rng.random() < 0.05:
        return mutate_text(json.dumps(plan), rng)
    plan = copy.deepcopy(plan)
    if rng.random() < 0.3 and plan["micro_batches"] == 1:
        move_many(plan, rng)
        return json.dumps(plan)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        try:
            rng.choice(CHANGES)(plan, rng)
        except (KeyError, TypeError, IndexError, AttributeError):
            pass  # an earlier change took away what this one edits
    return json.dumps(plan)


class Fuzz:
    def __init__(self, work, seed):
        self.work, self.seed, self.plans = work, seed, {}

    def plan_of(self, model, base):
        path = os.path.join(self.work, f"{model}.{BASES.index(base)}.json")
        folder = os.path.join(SMALL, model)
        code, log = run([find_tool(), "plan", os.path.join(folder, "model.onnx"), "--json", path, *base])
        if code:
            return None
        with open(path) as file:
            return json.load(file)

    def attempt(self, number, models):
        """What happened, and what went wrong or ""."""
        rng = random.Random(f"{self.seed}.{number}")
        model, base = rng.choice(sorted(models)), rng.choice(BASES)
        plan = self.plans.get((model, BASES.index(base)))
        if plan is None:
            return "no base", ""
        stem = os.path.join(self.work, str(number))
        with open(stem + ".json", "w") as file:
            file.write(edited(plan, rng))
        file = os.path.join(SMALL, model, "model.onnx")
        code, log = run([find_tool(), "compile", file, "-o", stem, "--weights", file, "--plan", stem + ".json"])
        if code:
            clear = 0 < code < 100 and log.startswith("autopar: error: ") and len(log) > 30
            inner = "equality" in log or "should have" in log
            return "refused", "" if clear and not inner else f"compile ended with {code}: {log[-300:]}"
        return "ran", error_of_run(model, stem)


def prepare(models, options, work, pool):
    fuzz = Fuzz(work, options.seed)
    pairs = [(model, base) for model in models for base in BASES]
    for (model, base), plan in zip(pairs, pool.map(lambda pair: fuzz.plan_of(*pair), pairs)):
        fuzz.plans[model, BASES.index(base)] = plan
    return lambda number: fuzz.attempt(number, models)


if __name__ == "__main__":
    sys.exit(main_of(__doc__, "mlp,mlp-uneven,gpt2-uneven,lenet", prepare))
