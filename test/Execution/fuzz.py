"""What the scripts that make random requests share: their options, the loop over cases, and the counts."""

import argparse
import os
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from run_models import SUMMING, TOLERANCE, compare, reference_of, run
from shared_models import SMALL, end_without


def error_of_run(model, program):
    """Runs what was compiled of a model of ../shared/models/small and removes it; what went wrong, or ""."""
    folder, outputs = os.path.join(SMALL, model), program + ".npz"
    code, log = run([program, "--inputs", os.path.join(folder, "inputs.npz"), "--outputs", outputs, "--timeout", "20"])
    if code:
        return f"run ended with {code}: {log[-300:]}"
    with np.load(outputs) as got:
        worst = max(compare(dict(got), reference_of(folder, ""), TOLERANCE * SUMMING).values())
    os.remove(program)
    return "" if worst <= 1 else f"outputs differ: {worst:.3g} of the tolerance"


def main_of(doc, models, prepare):
    """Runs the script that says `doc`, by default on `models`; returns its exit code.

    `prepare(models, options, work, pool)` returns the function of a case's number: (what became of it, an error or "").
    """
    arguments = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--first", type=int, default=0, help="number of the first case")
    arguments.add_argument("--models", default=models)
    arguments.add_argument("--jobs", type=int, default=2)
    options = arguments.parse_args()
    end_without(SMALL, options.count)
    counts, failed = Counter(), 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        attempt = prepare(options.models.split(","), options, work, pool)
        numbers = range(options.first, options.first + options.count)
        for number, (what, error) in zip(numbers, pool.map(attempt, numbers)):
            counts[what] += 1
            failed += bool(error)
            if error:
                print(f"FAIL: case {number} of seed {options.seed}: {error}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(f"{options.count - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)
