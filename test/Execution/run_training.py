"""Training runs against PyTorch's, step by step: losses, gradient norms and final parameters of the cases in ../shared/training.

    python test/Execution/run_training.py TOOL FOLDER [CASE ...] [--full | --least-memory] [--target emulated]

Without names, every case; without --full each on one way of running it and a sample of the others. A case
of symbolic batch also runs in 2 and 4 blocks of its rows, which changes no number. Each loss, norm and tensor must be within five
times the tolerance that its run.json measured. The last line counts. With --least-memory each case, in its own blocks, runs by `data` on
2, 3 and 4 ranks under the least memory limit for which there is a plan; a line tells how many copies the plan makes again.
"""

import itertools
import json
import os

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import load_file

from programs import error_of
from shared_models import SHARED, end_without
from training_runs import arguments_of_cases

MARGIN = 5
MOMENTUM = 0.9  # of the references' batch norms, by the block
WAYS = ["--ranks 1", "--ranks 2", "--ranks 3", "--ranks 4", "--ranks 2 --strategy data", "--ranks 4 --strategy data",
        "--ranks 2 --strategy tensor", "--ranks 4 --strategy tensor", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2"]


MOST_LIMITS = 60  # of a case with --least-memory
DATA_WAYS = ["--ranks 2 --strategy data", "--ranks 3 --strategy data", "--ranks 4 --strategy data"]


def worst(got, want, tolerance):
    """The largest relative difference, and where, if it is above the margin."""
    difference = np.abs(np.asarray(got, np.float64) - want) / np.maximum(np.abs(want), 1e-30)
    step = int(np.argmax(difference))
    return None if difference[step] <= MARGIN * tolerance else f"step {step} differs by {difference[step]:.2e}"


def compare(folder, recipe, out):
    """What is wrong with the log and the final parameters in `out`, or None. In low precision the losses alone are compared: what
    rounds differs between implementations."""
    with open(out + ".jsonl") as file:
        log = [json.loads(line) for line in file]
    low = recipe["precision"] != "fp32"
    for key, name in [("loss", "losses")] if low else [("loss", "losses"), ("grad_norm", "grad_norms")]:
        want = np.load(os.path.join(folder, name + ".npy"))
        if len(log) != len(want):
            return f"the log has {len(log)} lines, not {len(want)}"
        if wrong := worst([line[key] for line in log], want, recipe["tolerance"][key]):
            return f"{key}: {wrong}"
    if low:
        return None
    got, want = load_file(out + ".safetensors"), load_file(os.path.join(folder, "final.safetensors"))
    for name in [name for name in want if name.endswith(".population")]:  # as ONNX defines the variance
        want[name.removesuffix(".population")] = want.pop(name)
    # The export ran the model once: the file's running statistics are not the 0 and 1 with which the reference began.
    initial = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(os.path.join(folder, "model.onnx")).graph.initializer}
    running = [name for name in want if name.endswith((".running_mean", ".running_var"))]
    if sorted(got) != sorted(recipe["trainable"] + running):
        return f"the final parameters are {sorted(got)}"
    for name in running:
        want[name] = want[name] + MOMENTUM ** (recipe["steps"] * recipe["accumulation"]) * (initial[name] - name.endswith("var"))
    for name, tensor in got.items():
        size = np.linalg.norm(want[name].astype(np.float64))
        difference = np.linalg.norm(tensor.astype(np.float64) - want[name]) / size
        if not difference <= MARGIN * recipe["final"].get(name, {"tolerance": 1e-5})["tolerance"]:
            return f"{name} differs by {difference:.2e}"
    return None


def sample(cases):
    """Each case on one rank and in another way."""
    return [(case, WAYS[way]) for number, case in enumerate(cases) for way in (0, 1 + number % (len(WAYS) - 1))]


def recipe_of(case):
    with open(os.path.join(SHARED, "training", case, "run.json")) as file:
        return json.load(file)


def blocks_of(case):
    """Into how many blocks the case's rows are cut, each of these."""
    recipe = recipe_of(case)
    return [1, 2, 4] if recipe["symbolic_batch"] else [recipe["accumulation"]]


def compile_with_least_memory(*command):
    """Compiles under ever lower limits, each a byte less than the plan before takes, until there is no plan; what is wrong, or None. The last
    program stays."""
    plan, limit = command[command.index("--save-plan") + 1], []
    for tries in range(MOST_LIMITS):
        if error := error_of(*command, *limit):
            return None if tries and "within the memory limit" in error else error
        with open(plan) as file:
            limit = ["--memory-limit", str(json.load(file)["predicted_peak_memory_bytes"] - 1)]
    return f"there are plans below {MOST_LIMITS} limits"


def regathers_of(plan):
    with open(plan) as file:
        return sum(len(op.get("regathers", [])) for op in json.load(file)["ops"].values())


def attempt(tool, folder, recipe, out, way, compile_by=error_of):
    """Trains a folder's model by the recipe in one way and compares the run with the folder's; what is wrong, or None."""
    path = {name: os.path.join(folder, name) for name in ("model.onnx", "data.npz")}
    with open(out + ".json", "w") as file:
        json.dump(recipe, file)
    bindings = ["--bind", f"batch={recipe['batch'] // recipe['accumulation']}"] if recipe["symbolic_batch"] else []
    if error := compile_by(tool, "compile", path["model.onnx"], "-o", out, "--train", out + ".json", "--save-plan", out + ".plan.json", *bindings,
                           *way.split()):
        return error
    if error := error_of(out, "--data", path["data.npz"], "--steps", str(recipe["steps"]), "--log", out + ".jsonl", "--final", out + ".safetensors"):
        return error
    return compare(folder, recipe, out)


def main():
    arguments = arguments_of_cases(__doc__)
    arguments.add_argument("--target")
    arguments.add_argument("--least-memory", action="store_true")
    options = arguments.parse_args()
    training = os.path.join(SHARED, "training")
    end_without(training)
    cases = options.cases or sorted(os.listdir(training))
    cases = [case for case in cases if os.path.exists(os.path.join(training, case, "run.json"))]
    os.makedirs(options.folder, exist_ok=True)
    cases = [(case, blocks) for case in cases for blocks in blocks_of(case)]
    own = [(case, blocks) for case, blocks in cases if blocks == recipe_of(case)["accumulation"]]
    others = [case for case in cases if case not in own]
    # Other blocks than the case's own are not sampled on one rank.
    if options.least_memory:
        pairs = list(itertools.product(own, DATA_WAYS))
    else:
        pairs = list(itertools.product(cases, WAYS)) if options.full else sample(own) + sample(others)[1::2]
    failed = 0
    for number, ((case, blocks), way) in enumerate(pairs):
        if options.target:
            way += f" --target {options.target}"
        recipe = dict(recipe_of(case), accumulation=blocks)
        out = os.path.join(options.folder, str(number))
        error = attempt(options.tool, os.path.join(training, case), recipe, out, way, compile_with_least_memory if options.least_memory else error_of)
        failed += error is not None
        if options.least_memory and not error:
            way += f", {regathers_of(out + '.plan.json')} copies made again"
        name = f"{case} of {blocks} blocks {way}" if blocks > 1 else f"{case} {way}"
        print(f"FAIL: {name}: {error}" if error else f"ok: {name}", flush=True)
    print(f"{len(pairs) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
