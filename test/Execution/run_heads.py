"""Attention modules as PyTorch exports them: `tensor` splits heads as it does those of the same mathematics written by hand.

    python test/Execution/run_heads.py AUTOPAR WORK_FOLDER

Each module in each exporter's form is planned for 8 devices, and needs as many collectives as the form by hand and at most 2% more
time; its training, where reductions can come in other places (of one packed gradient, or of three), at most 2% more time. Small ones
of every fifth model run on 2, 3 or 4 ranks and equal onnxruntime. One line per model and check; the last line counts.
"""

import collections
import json
import os
import sys

import numpy as np

from attention_modules import FORMS, Case, Sizes, save_module
from programs import compile_and_run, error_of, reference

LARGE = Sizes(batch=8, target=512, source=256, heads=16, head=32)
SMALL = Sizes(batch=3, target=5, source=7, heads=6, head=4)
RUN_EVERY = 5
CASES = [Case("attention", first, weights, mask) for first in (False, True) for weights in (False, True)
         for mask in ("", "padding", "causal")]
CASES += [Case(module, first, mask=mask) for first in (False, True)
          for module, mask in (("encoder", ""), ("encoder", "padding"), ("decoder", "causal"))]


def training(folder):
    """The flags of a training step."""
    recipe = os.path.join(folder, "recipe.json")
    with open(recipe, "w") as file:
        json.dump({"loss": "mse_mean", "output": "y0", "optimizer": {"kind": "adamw"}}, file)
    return ["--train", recipe]


def plan(tool, folder, case, form, flags):
    """Collectives by kind, and microseconds; or the error."""
    model, file = os.path.join(folder, "model.onnx"), os.path.join(folder, "plan.json")
    save_module(model, case, form, LARGE)
    if error := error_of(tool, "plan", model, "--cluster", "1x8:h100-80gb", "--strategy", "tensor", "--json", file, *flags):
        return error
    with open(file) as text:
        plan = json.load(text)
    kinds = collections.Counter()
    for collective in plan["collectives"]:
        kinds[collective["kind"]] += collective["count"]
    return dict(kinds), plan["predicted_step_seconds"] * 1e6


def compare_plans(tool, folder, case, form, flags):
    """What is wrong with the exporter's form, or None."""
    found, hand = plan(tool, folder, case, form, flags), plan(tool, folder, case, "hand", flags)
    for result in (found, hand):
        if isinstance(result, str):
            return result
    if (flags or found[0] == hand[0]) and found[1] <= 1.02 * hand[1]:
        return None
    return f"{found[1]:.1f} us with {found[0]}, by hand {hand[1]:.1f} us with {hand[0]}"


def run(tool, folder, case, form, ranks):
    """What is wrong with the outputs, or None."""
    inputs = save_module(os.path.join(folder, "model.onnx"), case, form, SMALL)
    np.savez(os.path.join(folder, "inputs.npz"), **inputs)
    if error := compile_and_run(tool, folder, "--ranks", str(ranks), "--strategy", "tensor"):
        return error
    found = np.load(os.path.join(folder, "out.npz"))
    for name, wanted in reference(folder, inputs).items():
        if not np.allclose(found[name], wanted, rtol=1e-4, atol=1e-5):
            return f"{name} differs by {np.abs(found[name] - wanted).max():.2e}"
    return None


def main():
    tool, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    count = failed = 0
    for number, (case, form) in enumerate((case, form) for case in CASES for form in FORMS[1:]):
        attempts = {"plan": lambda: compare_plans(tool, work, case, form, []),
                    "training plan": lambda: compare_plans(tool, work, case, form, training(work))}
        if number % RUN_EVERY == 0:
            ranks = 2 + number // RUN_EVERY % 3
            attempts[f"{ranks} ranks"] = lambda: run(tool, work, case, form, ranks)
        for name, attempt in attempts.items():
            error = attempt()
            count, failed = count + 1, failed + (error is not None)
            print(f"{'FAIL' if error else 'ok'}: {case}, {form}, {name}{f': {error}' if error else ''}", flush=True)
    print(f"{count - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
