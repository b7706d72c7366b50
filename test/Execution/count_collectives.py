"""Counts the collectives and messages that plans foretell, and those of the programs that Partition makes of them: both are equal.

    python test/Execution/count_collectives.py [--full] [--models NAME,...] [--jobs N]

Each case (model_matrix.py; run_training.py for training steps) is compiled as far as Partition, and so are small models whose
constraints make several ops read a value in another sharding. A plan's counts are of all stages and micro-batches. Without the shared
models the small ones alone are counted (a failure with AUTOPAR_REQUIRE_SHARED=1). The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from autopar import find_tool  # noqa: E402
from model_matrix import all_models, cases_of, facts_of  # noqa: E402
from run_models import compile_command, run  # noqa: E402
from run_training import WAYS, recipe_of  # noqa: E402
from shared_models import REQUIRED, SHARED, SMALL, absence_of  # noqa: E402

KINDS = "all_reduce|all_gather|reduce_scatter|all_to_all|halo|send"
SAMPLE_EVERY, TRAINED_EVERY = 13, 5  # of the cases without --full
# Besides: reshards of a value to different shardings begin with equal steps.
ALWAYS = ["autoencoder x8 auto free links"]
TRAINED = os.path.join(SHARED, "training")


def counted(program, times):
    """What the functions of @step do in so many micro-batches, by kind."""
    counts, in_step = Counter(), False
    with open(program) as file:
        for line in file:
            if "func.func @" in line:
                in_step = "func.func @step" in line
            if in_step and (found := re.search(rf"autopar\.({KINDS}) ", line)):
                counts[found.group(1)] += times
    return counts


def foretold(plan):
    counts = Counter()
    for collective in plan["collectives"]:
        counts[collective["kind"]] += collective["count"]
    return counts


def difference_of(options, stem, expected):
    """What is wrong with the plan of a model compiled so, "" if nothing is; and how many collectives it has. `expected`: of some kinds."""
    code, text = run([find_tool(), "compile", *options, "--save-plan", stem + ".json", "--stop-after", "partition", "-o", stem + ".mlir"])
    if code:
        return f"compile ended with {code}: {text[-600:]}", 0
    with open(stem + ".json") as file:
        plan = json.load(file)
    told, made = foretold(plan), counted(stem + ".mlir", plan["micro_batches"])
    if unexpected := {kind: made[kind] for kind, count in expected.items() if made[kind] != count}:
        return f"the program has {unexpected}, not {expected}", made.total()
    return "" if told == made else f"the plan has {dict(told)}, the program {dict(made)}", made.total()


def options_of(case, stem):
    """Of one of the matrix's cases, without what it compiles to."""
    command = compile_command(case, os.path.join(SMALL, case.model), stem)[2:]
    for option in ("-o", "--save-plan"):
        at = command.index(option)
        del command[at:at + 2]
    return command


def training_options(case, way, stem):
    recipe = recipe_of(case)
    with open(stem + ".recipe.json", "w") as file:
        json.dump(recipe, file)
    bindings = ["--bind", f"batch={recipe['batch'] // recipe['accumulation']}"] if recipe["symbolic_batch"] else []
    return [os.path.join(TRAINED, case, "model.onnx"), "--train", stem + ".recipe.json", *bindings, *way.split()]


ROWS = [["all"], []]
WEIGHTS = {"w1": [64, 64], "w2": [64, 64], "k1": [4, 4, 3, 3], "k2": [4, 4, 3, 3]}
IMAGE = [1, 4, 32, 32]


@dataclass(frozen=True)
class Readers:
    """A model in which several ops want a value alike, and how many collectives of a kind there are then."""
    nodes: tuple  # op, inputs, output
    sharded: str  # the value, by rows
    strategies: dict  # of nodes along the axis
    expected: dict
    stages: dict = field(default_factory=dict)
    options: tuple = ("--ranks", "2")
    shape: tuple = (64, 64)
    trained: bool = False


TANH, PRODUCTS, SUM = ("Tanh", "x", "n"), (("MatMul", "n w1", "a"), ("MatMul", "n w2", "b")), ("Add", "a b", "y")
OF_INPUT = (("MatMul", "x w1", "a"), ("MatMul", "x w2", "b"), SUM)
COLUMNS = {"a": "split 1", "b": "split 1"}  # of the weight: n is read whole
TWO_STAGES = ("--ranks", "4", "--strategy", "layer,auto", "--mesh", "layer=2,all=2", "--micro-batches", "1")
THREE_STAGES = ("--ranks", "6", "--strategy", "layer,auto", "--mesh", "layer=3,all=2", "--micro-batches", "2")
SMALL_MODELS = {
    "two readers": Readers((TANH, *PRODUCTS, SUM), "n", COLUMNS, {"all_gather": 1}),
    "a reader of both operands": Readers((TANH, ("MatMul", "n n", "y")), "n", {"y": "replicated"}, {"all_gather": 1}),
    "two readers of an input": Readers(OF_INPUT, "x", COLUMNS, {"all_gather": 1}),
    "two readers that want it in two ways": Readers((TANH, *PRODUCTS, SUM), "n", {"a": "split 1", "b": "split 2"}, {"all_gather": 1, "all_to_all": 1}),
    "two readers, trained": Readers((TANH, *PRODUCTS, SUM), "n", COLUMNS, {}, trained=True),
    # Gathered where it is made, and sent once.
    "two readers in the next stage": Readers((TANH, *PRODUCTS, SUM), "n", COLUMNS, {"all_gather": 1, "send": 1}, dict(n=0, a=1, b=1, y=1), TWO_STAGES),
    "two readers in two stages": Readers((TANH, *PRODUCTS, SUM), "n", COLUMNS, {}, dict(n=0, a=1, b=2, y=2), THREE_STAGES),
    "an input that two stages read": Readers(OF_INPUT, "x", COLUMNS, {"all_gather": 2}, dict(a=0, b=1, y=1), TWO_STAGES),
    # What lies outside of the image is 0 for a convolution, the least number for a maximum.
    "windows of two fills": Readers((TANH, ("Conv", "n k1", "a"), ("Conv", "n k2", "b"), ("MaxPool", "n", "c"), SUM[:2] + ("d",), ("Add", "c d", "y")), "", {},
                                      {"halo": 2}, options=("--ranks", "2", "--strategy", "spatial"), shape=tuple(IMAGE)),
}


def write_model(path, model):
    nodes = []
    for kind, inputs, result in model.nodes:
        window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]} if kind in ("Conv", "MaxPool") else {}
        nodes.append(helper.make_node(kind, inputs.split(), [result], name=result, **window))
    used = {name for _, inputs, _ in model.nodes for name in inputs.split()}
    weights = [numpy_helper.from_array(np.ones(shape, np.float32), name) for name, shape in WEIGHTS.items() if name in used]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, model.shape) for name in "xy"]
    graph = helper.make_graph(nodes, "readers", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def small_options(model, stem):
    write_model(stem + ".onnx", model)
    constraints = [{"value": model.sharded, "sharding": ROWS}] if model.sharded else []
    constraints += [{"node": node, "strategy": {"all": choice}} for node, choice in model.strategies.items()]
    constraints += [{"node": node, "stage": stage} for node, stage in model.stages.items()]
    with open(stem + ".constraints.json", "w") as file:
        json.dump({"constraints": constraints}, file)
    with open(stem + ".recipe.json", "w") as file:
        json.dump({"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.1}}, file)
    trained = ["--train", stem + ".recipe.json"] if model.trained else []
    return [stem + ".onnx", "--constraints", stem + ".constraints.json", *model.options, *trained]


def jobs_of(models, full):
    """Name of each case, what gives its options, and how many collectives of some kinds it has."""
    for name, model in SMALL_MODELS.items():
        yield name, lambda stem, model=model: small_options(model, stem), model.expected
    if absence_of(SMALL):
        return
    cases = [case for model in models or all_models(SMALL) for case in cases_of(model, facts_of(os.path.join(SMALL, model, "model.onnx")))]
    cases = [case for case in cases if case.ranks > 1]
    for case in [case for number, case in enumerate(cases) if full or number % SAMPLE_EVERY == 0 or str(case) in ALWAYS]:
        yield str(case), lambda stem, case=case: options_of(case, stem), {}
    trained = [case for case in sorted(os.listdir(TRAINED)) if os.path.exists(os.path.join(TRAINED, case, "run.json"))]
    pairs = [(case, way) for case in trained for way in WAYS[1:] if not models]
    for case, way in pairs[::1 if full else TRAINED_EVERY]:
        yield f"{case} trained {way}", lambda stem, case=case, way=way: training_options(case, way, stem), {}


def guarded(options, stem, expected):
    try:
        return difference_of(options(stem), stem, expected)
    except (OSError, ValueError) as error:
        return str(error), 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--full", action="store_true", help="every case; without it a sample")
    arguments.add_argument("--models", default="", help="only these models, separated by commas")
    arguments.add_argument("--jobs", type=int, default=2)
    options = arguments.parse_args()
    absence = absence_of(SMALL)
    jobs = list(jobs_of([name for name in options.models.split(",") if name], options.full))
    failed, everything = int(bool(absence) and REQUIRED), 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda job: guarded(job[1][1], os.path.join(work, str(job[0])), job[1][2]), enumerate(jobs))
        for (name, *_), (error, count) in zip(jobs, results):
            everything += count
            failed += bool(error)
            if error:
                print(f"FAIL: {name}: {error}", flush=True)
    if absence:
        print(absence)
    print(f"{everything} collectives and messages")
    print(f"{len(jobs) + int(bool(absence) and REQUIRED) - failed} passed, {failed} failed, {int(bool(absence) and not REQUIRED)} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
