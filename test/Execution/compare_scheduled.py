"""Compares what plan files say of their programs with what the scheduled programs have.

    python test/Execution/compare_scheduled.py [--random N] [--strategies auto,data] [--ranks 2,3,4] [--targets cpu,gpu]
        [--only TEXT] [--seconds S] [--jobs N] [--all] [--require-equal]

A case is a model of the shared folder (small ones, full-size graphs, training steps) or a random one, a number of ranks, a target
and a strategy; random models are each planned in one way that is drawn for them, of those that they can follow. `autopar plan` writes its plan file, and
`autopar simulate --json` compiles that as far as the schedule and counts the program. Both are compared by

    collectives   kind, axes, bytes of one, and how many a step has
    messages      bytes of one, and how many a step has
    kernels       launches of each stage in a micro-batch, library calls among them
    weights       bytes of each stage after loading; loading: the most bytes of weights while they are loaded
    arena         bytes of each stage
    buffers       bytes of each stage through which collectives and messages go
    peak          the memory of a device of each stage

A row for each case names what differs, as planned and as scheduled; equal cases have a row with --all. Cases that the compiler refuses,
or that take more than --seconds, are skipped with a reason. Then, for each quantity, the cases that differ in it, and a last line: "N
equal, N unequal, N skipped". The exit code is 1 for unequal cases only with --require-equal.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import onnx

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from model_matrix import all_models, facts_of  # noqa: E402
from random_models import runs  # noqa: E402
from random_models.generate import generate  # noqa: E402
from run_training import recipe_of  # noqa: E402
from shared_models import GRAPHS, SHARED, SMALL, absence_of  # noqa: E402

TRAINED = os.path.join(SHARED, "training")
GPU = "a100-80gb"
STAGE_QUANTITIES = {"kernels": "kernels", "weights": "weight_bytes", "loading": "loading_bytes", "arena": "arena_bytes",
                    "buffers": "communication_bytes"}
QUANTITIES = ["collectives", "messages", *STAGE_QUANTITIES, "peak"]
SHOWN = 3  # collectives and messages of a case, of each side


@dataclass(frozen=True)
class Case:
    kind: str  # small, graph, trained or random
    model: str
    ranks: int
    target: str
    strategy: str

    def __str__(self):
        return f"{self.model} {self.kind} x{self.ranks} {self.target} {self.strategy}"

    def devices(self):
        return ["--ranks", str(self.ranks)] if self.target == "cpu" else ["--cluster", f"1x{self.ranks}:{GPU}"]


class Skipped(Exception):
    """Says why a case has no program."""


def said(command, seconds):
    """Runs a command; what it refuses, and what takes too long, is skipped."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Skipped(f"{command[1]} takes more than {seconds:g} s") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:] or ["no words"]
        raise Skipped(f"{command[1]} ended with {done.returncode}: {errors[0]}")


def model_of(case, stem):
    """The path of a case's model, and the options beside it for plan and for simulate."""
    if case.kind == "graph":
        return os.path.join(GRAPHS, case.model + ".onnx.gz"), [], []
    if case.kind == "small":
        path = os.path.join(SMALL, case.model, "model.onnx")
        return path, ["--bind", "batch=4"] if facts_of(path).symbolic else [], []
    if case.kind == "trained":
        recipe = recipe_of(case.model)
        with open(stem + ".recipe.json", "w") as file:
            json.dump(recipe, file)
        train = ["--train", stem + ".recipe.json"]
        bindings = ["--bind", f"batch={recipe['batch'] // recipe['accumulation']}"] if recipe["symbolic_batch"] else []
        return os.path.join(TRAINED, case.model, "model.onnx"), train + bindings, train
    seed, number = case.model.split(".")
    onnx.save(generate(seed, int(number), "fp32").model, stem + ".onnx")
    return stem + ".onnx", [], []


def sides_of(case, stem, seconds):
    """What the plan file of a case says, and what its program has."""
    path, options, again = model_of(case, stem)
    tool = find_tool()
    said([tool, "plan", path, *case.devices(), "--strategy", case.strategy, *options, "--json", stem + ".plan.json"], seconds)
    said([tool, "simulate", stem + ".plan.json", "--model", path, *again, "--json", stem + ".json"], seconds)
    with open(stem + ".plan.json") as file:
        plan = json.load(file)
    with open(stem + ".json") as file:
        program = json.load(file)["program"]
    return {"collectives": plan["collectives"], "stages": plan["program"], "peaks": plan["predicted_stage_memory_bytes"]}, \
        {**program, "peaks": list(map(peak_of, program["stages"]))}


def peak_of(stage):
    return max(stage["loading_bytes"], stage["weight_bytes"] + stage["arena_bytes"]) + stage["communication_bytes"]


def communication(side, messages):
    """How often a step has each collective, or each message, as text."""
    return Counter({f"{item['kind']} {','.join(item['axis'])} {item['bytes']}": item["count"]
                    for item in side["collectives"] if (item["kind"] == "send") == messages})


def excess_text(more, less):
    """The collectives that `more` has beyond those of `less`, a few of them by name."""
    items = [f"{count} x {' '.join(name.split())}" for name, count in sorted((more - less).items())]
    rest = len(items) - SHOWN
    return "; ".join(items[:SHOWN]) + (f"; {rest} more" if rest > 0 else "") or "nothing"


def differences(planned, scheduled):
    """The quantities that differ, each with both sides as text."""
    found = {}
    for name in ("collectives", "messages"):
        left, right = (communication(side, name == "messages") for side in (planned, scheduled))
        if left != right:
            found[name] = f"planned alone: {excess_text(left, right)}, scheduled alone: {excess_text(right, left)}"
    for name, key in STAGE_QUANTITIES.items():
        left, right = ([stage[key] for stage in side["stages"]] for side in (planned, scheduled))
        if left != right:
            found[name] = f"{' '.join(map(str, left))} planned, {' '.join(map(str, right))} scheduled"
    if planned["peaks"] != scheduled["peaks"]:
        found["peak"] = f"{planned['peaks']} planned, {scheduled['peaks']} scheduled"
    return found


def instead(case, reason):
    """A random case whose strategy no op can follow, with one that the message names; None for others."""
    named = re.search(r"can follow strategy '.*those that can be followed: ([a-z, ]*)", reason)
    if case.kind != "random" or not named:
        return None
    return replace(case, strategy=random.Random(f"{case.model}.instead").choice(named.group(1).split(", ")))


def compared(case, work, number, seconds):
    """The case as it was planned, and its differences, or why it has none."""
    stem = os.path.join(work, str(number))
    try:
        return case, differences(*sides_of(case, stem, seconds)), ""
    except Skipped as reason:
        other = instead(case, str(reason))
        return compared(other, work, number, seconds) if other else (case, None, str(reason)[:200])
    finally:
        for name in os.listdir(work):
            if name.startswith(f"{number}."):
                os.remove(os.path.join(work, name))


def shared_cases(options):
    trained = sorted(case for case in os.listdir(TRAINED) if os.path.exists(os.path.join(TRAINED, case, "run.json")))
    graphs = sorted(name.removesuffix(".onnx.gz") for name in os.listdir(GRAPHS) if name.endswith(".onnx.gz"))
    for kind, models in (("small", all_models(SMALL)), ("trained", trained), ("graph", graphs)):
        for model in models:
            for target in options.targets:
                for strategy in options.strategies:
                    yield from (Case(kind, model, ranks, target, strategy) for ranks in options.ranks)


def random_cases(options):
    """Models by their numbers, each planned in one way."""
    for number in range(options.first, options.first + options.random):
        draw = random.Random(f"{options.seed}.{number}.scheduled")
        yield Case("random", f"{options.seed}.{number}", draw.choice(options.ranks), draw.choice(options.targets),
                   draw.choice(runs.STRATEGIES + ["layer"]))


def parse():
    def words(text):
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="also so many random models")
    parser.add_argument("--seed", default="1", help="of the random models")
    parser.add_argument("--first", type=int, default=0, help="number of the first random model")
    parser.add_argument("--strategies", type=words, default=["auto"], help="of shared models, separated by commas (default: auto)")
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in words(text)], default=[2, 3, 4])
    parser.add_argument("--targets", type=words, default=["cpu", "gpu"])
    parser.add_argument("--only", default="", metavar="TEXT", help="the cases whose row contains it")
    parser.add_argument("--seconds", type=float, default=120, help="that one command may take")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="a row for equal cases, too")
    parser.add_argument("--require-equal", action="store_true", help="end with 1 if a case is unequal")
    return parser.parse_args()


def main():
    options = parse()
    absence = absence_of(SMALL)
    cases = [case for case in [*([] if absence else shared_cases(options)), *random_cases(options)] if options.only in str(case)]
    counts, by_quantity = Counter(equal=0, unequal=0, skipped=0), Counter()
    if absence:
        print(absence)
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda item: compared(item[1], work, item[0], options.seconds), enumerate(cases))
        for case, found, reason in results:
            kind = "skipped" if found is None else "unequal" if found else "equal"
            counts[kind] += 1
            by_quantity.update(list(found or {}))
            if kind == "skipped":
                print(f"skipped  {case}: {reason}", flush=True)
            elif found or options.all:
                print(f"{kind:8} {case}{': ' * bool(found)}{'; '.join(f'{name} {text}' for name, text in (found or {}).items())}", flush=True)
    print("cases that differ in " + ", ".join(f"{name} {by_quantity[name]}" for name in QUANTITIES))
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return int(options.require_equal and counts["unequal"] > 0)


if __name__ == "__main__":
    sys.exit(main())
