"""Trainings from Python, batch by batch: the cases of ../shared/training equal the executable's log, bit for bit.

    python test/Execution/run_trainers.py TOOL FOLDER [CASE ...] [--full]

Each case trains on one rank and, by turns, on 2 and 3 and on two emulated ones; with --full on all of these. Losses, norms and rates of each step and all parameters at the end
are those of the executable; medians of a step's time are printed beside its. With --torch the batches come from a DataLoader with two workers. The last line counts.
"""

import json
import os
import statistics
import sys
import time

import numpy as np
from safetensors.numpy import load_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from programs import error_of  # noqa: E402
from run_training import recipe_of  # noqa: E402
from shared_models import SHARED, end_without  # noqa: E402
from training_runs import arguments_of_cases, report  # noqa: E402

WAYS = [(1, []), (2, []), (3, []), (2, ["--target", "emulated"])]  # ranks and further options
TRAINING = os.path.join(SHARED, "training")


def loader(data):
    """The batches of a torch DataLoader with workers, as dicts of tensors."""
    import torch

    class Steps(torch.utils.data.Dataset):
        def __len__(self):
            return len(next(iter(data.values())))

        def __getitem__(self, step):
            return {name: torch.from_numpy(np.ascontiguousarray(array[step])) for name, array in data.items()}

    return torch.utils.data.DataLoader(Steps(), batch_size=None, num_workers=2)


def executable(tool, case, recipe, work, flags):
    """The log, the final parameters and the seconds of each step."""
    paths = {name: os.path.join(work, name) for name in ("recipe.json", "program", "log.jsonl", "final.safetensors")}
    with open(paths["recipe.json"], "w") as file:
        json.dump(recipe, file)
    folder = os.path.join(TRAINING, case)
    error = error_of(tool, "compile", os.path.join(folder, "model.onnx"), "-o", paths["program"], "--train", paths["recipe.json"], *flags)
    assert not error, error
    error = error_of(paths["program"], "--data", os.path.join(folder, "data.npz"), "--steps", str(recipe["steps"]), "--log", paths["log.jsonl"],
                     "--final", paths["final.safetensors"])
    assert not error, error
    with open(paths["log.jsonl"]) as file:
        return [json.loads(line) for line in file], load_file(paths["final.safetensors"])


def name_of(case, way):
    return " ".join([case, "on", str(way[0]), "ranks" if way[0] > 1 else "rank", *way[1]])


def check(tool, case, way, work, from_loader):
    ranks, further = way
    recipe = recipe_of(case)
    flags = further + (["--bind", f"batch={recipe['batch'] // recipe['accumulation']}"] if recipe["symbolic_batch"] else [])
    os.makedirs(work, exist_ok=True)
    log, final = executable(tool, case, recipe, work, ["--ranks", str(ranks), *flags])
    with np.load(os.path.join(TRAINING, case, "data.npz")) as arrays:
        data = dict(arrays)
    batches = loader(data) if from_loader else [{name: array[step] for name, array in data.items()} for step in range(recipe["steps"])]
    seconds = []
    with autopar.Trainer(os.path.join(TRAINING, case, "model.onnx"), recipe, ranks=ranks, options=flags) as trainer:
        for batch, line in zip(batches, log):
            start = time.perf_counter()
            step = trainer.step(batch)
            seconds.append(time.perf_counter() - start)
            for key in ("loss", "grad_norm", "learning_rate"):
                if key in line:
                    assert getattr(step, key) == line[key], f"step {step.number}: {key} {getattr(step, key)!r}, the log has {line[key]!r}"
        assert step.number == len(log) - 1
        for name, value in final.items():
            assert trainer[name].tobytes() == value.tobytes(), f"parameter {name} differs"
        assert sorted(trainer.parameters) == sorted(final), f"parameters {trainer.parameters}"
    theirs, ours = statistics.median(line["seconds"] for line in log[1:]), statistics.median(seconds[1:])
    print(f"{name_of(case, way)}: {len(log)} steps equal; a step of the executable {theirs * 1e6:.0f} us, of Python {ours * 1e6:.0f} us", flush=True)


def main():
    arguments = arguments_of_cases(__doc__)
    arguments.add_argument("--torch", action="store_true", help="batches come from a torch DataLoader, which needs the package torch")
    options = arguments.parse_args()
    end_without(TRAINING)
    cases = options.cases or sorted(case for case in os.listdir(TRAINING) if os.path.exists(os.path.join(TRAINING, case, "run.json")))
    checks = []
    for number, case in enumerate(cases):
        for way in WAYS if options.full else (WAYS[0], WAYS[1 + number % (len(WAYS) - 1)]):
            work = os.path.join(options.folder, str(len(checks)))
            checks.append((name_of(case, way), lambda case=case, way=way, work=work: check(options.tool, case, way, work, options.torch)))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
