"""A thousand steps of the largest training case: the same losses twice, no growth of memory, near runs on other ranks.

    python test/Execution/run_stability.py TOOL FOLDER [CASE] [--steps N]

Over the case's own steps losses are within five times its tolerance of PyTorch's; of the last tenth of the steps the mean losses on
1, 2 and 4 ranks are within 2% of each other. A process may take 1% more memory at the end than a run of a tenth of the steps. Data
start over at their end. The last line counts.
"""

import argparse
import json
import os
import subprocess

import numpy as np

from programs import error_of
from run_training import MARGIN, recipe_of
from shared_models import SHARED, end_without
from training_runs import report

WAYS = ["--ranks 1", "--ranks 2", "--ranks 4"]


def largest(training):
    """The case with the most parameters; of equal ones the first in summary.json."""
    with open(os.path.join(training, "summary.json")) as file:
        return max(json.load(file), key=lambda row: row["parameters"])["case"]


class Case:
    def __init__(self, tool, folder, name, steps):
        self.tool, self.folder, self.name, self.steps = tool, folder, name, steps
        self.source = os.path.join(SHARED, "training", name)
        self.losses = {}

    def compile(self, way):
        program = os.path.join(self.folder, "program" + str(WAYS.index(way)))
        recipe = recipe_of(self.name)
        bindings = ["--bind", f"batch={recipe['batch'] // recipe['accumulation']}"] if recipe["symbolic_batch"] else []
        error = error_of(self.tool, "compile", os.path.join(self.source, "model.onnx"), "-o", program, "--train",
                         os.path.join(self.source, "run.json"), *bindings, *way.split())
        assert not error, error
        return program

    def run(self, program, steps):
        """Losses, and the most bytes that a process of the run held."""
        log = program + ".jsonl"
        process = subprocess.Popen([program, "--data", os.path.join(self.source, "data.npz"), "--steps", str(steps), "--log", log], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, f"{program} ended with {status}"
        with open(log) as file:
            return [json.loads(line)["loss"] for line in file], usage.ru_maxrss * 1024

    def check_way(self, way):
        program = self.compile(way)
        _, before = self.run(program, self.steps // 10)
        losses, after = self.run(program, self.steps)
        again, _ = self.run(program, self.steps)
        assert losses == again, "two runs differ"
        assert after <= before * 1.01, f"{before} bytes after {self.steps // 10} steps, {after} after {self.steps}"
        want = np.load(os.path.join(self.source, "losses.npy"))
        difference = np.max(np.abs(np.array(losses[:len(want)]) - want) / want)
        assert difference <= MARGIN * recipe_of(self.name)["tolerance"]["loss"], f"losses differ from the reference by {difference:.2e}"
        self.losses[way] = np.mean(losses[-(self.steps // 10):])
        print(f"{self.name} {way}: {self.steps} steps, last losses {self.losses[way]:.6f}, "
              f"memory {before / 2**20:.1f} -> {after / 2**20:.1f} MiB, within {difference:.1e} of the reference", flush=True)

    def check_means(self):
        means = list(self.losses.values())
        assert len(means) == len(WAYS) and max(means) <= 1.02 * min(means), f"mean losses {means}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("case", nargs="?")
    arguments.add_argument("--steps", type=int, default=1000)
    options = arguments.parse_args()
    training = os.path.join(SHARED, "training")
    end_without(training)
    os.makedirs(options.folder, exist_ok=True)
    case = Case(options.tool, options.folder, options.case or largest(training), options.steps)
    checks = [(way, lambda way=way: case.check_way(way)) for way in WAYS]
    return report(checks + [("means", case.check_means)])


if __name__ == "__main__":
    raise SystemExit(main())
