"""What a step of a Trainer costs beside one of the executable, with the same plan and the same batches.

    python test/Execution/measure_trainers.py TOOL FOLDER [CASE ...] [--ranks 1,2] [--steps 200] [--turns 7]

Cases are those of ../shared/training, all by default. The data of a case are repeated to that many steps. By turns a process of the executable and a Trainer take them; the first
tenth does not count. Printed are the medians over the turns of a turn's median step, and the least of these, in microseconds; and what a Trainer's step takes over the
step of its own session, which does not depend on where each process has its memory.
"""

import json
import os
import statistics
import sys
import time

import numpy as np

from programs import error_of
from run_trainers import TRAINING, autopar
from run_training import recipe_of
from shared_models import end_without
from training_runs import arguments_of_cases


def seconds_of_executable(program, data, steps, log):
    error = error_of(program, "--data", data, "--steps", str(steps), "--log", log)
    assert not error, error
    with open(log) as file:
        return [json.loads(line)["seconds"] for line in file]


def seconds_of_trainer(model, recipe, ranks, flags, batches, over_own):
    seconds = []
    with autopar.Trainer(model, recipe, ranks=ranks, options=flags) as trainer:
        for batch in batches:
            start = time.perf_counter()
            trainer.step(batch)
            seconds.append(time.perf_counter() - start)
        over_own.append((statistics.median(seconds) - trainer.session.report()["seconds_per_step"]["median"]) * 1e6)
    return seconds


def measure(options, case, ranks):
    recipe = recipe_of(case)
    flags = ["--bind", f"batch={recipe['batch'] // recipe['accumulation']}"] if recipe["symbolic_batch"] else []
    os.makedirs(options.folder, exist_ok=True)
    model = os.path.join(TRAINING, case, "model.onnx")
    paths = {name: os.path.join(options.folder, name) for name in ("recipe.json", "program", "data.npz", "log.jsonl")}
    with open(paths["recipe.json"], "w") as file:
        json.dump(recipe, file)
    with np.load(os.path.join(TRAINING, case, "data.npz")) as arrays:
        data = {name: np.resize(array, (options.steps, *array.shape[1:])) for name, array in arrays.items()}
    np.savez(paths["data.npz"], **data)
    batches = [{name: array[step] for name, array in data.items()} for step in range(options.steps)]
    error = error_of(options.tool, "compile", model, "-o", paths["program"], "--train", paths["recipe.json"], "--ranks", str(ranks), *flags)
    assert not error, error
    medians, over_own = {"the executable": [], "Python": []}, []
    ways = {"the executable": lambda: seconds_of_executable(paths["program"], paths["data.npz"], options.steps, paths["log.jsonl"]),
            "Python": lambda: seconds_of_trainer(model, recipe, ranks, flags, batches, over_own)}
    for turn in range(options.turns):
        for name in list(ways)[:: -1 if turn % 2 else 1]:
            medians[name].append(statistics.median(ways[name]()[options.steps // 10 :]) * 1e6)
    theirs, ours = medians.values()
    print(f"{case} on {ranks} rank{'s' if ranks > 1 else ''}: a step of the executable {statistics.median(theirs):.0f} us (least {min(theirs):.0f}), of Python "
          f"{statistics.median(ours):.0f} us (least {min(ours):.0f}): {statistics.median(ours) - statistics.median(theirs):+.0f} us, least {min(ours) - min(theirs):+.0f} us; "
          f"{statistics.median(over_own):+.0f} us over its own step", flush=True)


def main():
    arguments = arguments_of_cases(__doc__)
    arguments.add_argument("--ranks", default="1,2")
    arguments.add_argument("--steps", type=int, default=200)
    arguments.add_argument("--turns", type=int, default=7)
    options = arguments.parse_args()
    end_without(TRAINING)
    for case in options.cases or sorted(case for case in os.listdir(TRAINING) if os.path.exists(os.path.join(TRAINING, case, "run.json"))):
        for ranks in map(int, options.ranks.split(",")):
            measure(options, case, ranks)


if __name__ == "__main__":
    sys.exit(main())
