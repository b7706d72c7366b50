"""What the oracle of the random models lets pass: right answers that were computed otherwise, and few planted faults.

    python test/Execution/check_oracle.py [--models N] [--type fp32 ...] [--seed N] [--show]

Nothing is compiled. Of each random model (fuzz_models.py) onnxruntime computes the whole at once, with its fusions and roundings of
its own: the oracle must accept that, but for one model of a hundred (onnxruntime's own faults). Then faults are planted: in each
output one element that is off by 1% (3% in fp16, 10% in bf16), or another number where it is no float; and one node after the other all of
whose results are off by as much, which reaches the outputs through the other nodes. Of those that change an output by half as
much or more, 97 of a hundred must be reported (90 of fp16, 80 of bf16). The last line counts types: "N passed, N failed, 0 skipped".
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

from random_models.generate import generate  # noqa: E402
from random_models.oracle import EXACT, NoOracle  # noqa: E402
from random_models.tolerance import MORE_TRIALS, Tolerance  # noqa: E402
from random_models.types import ROUNDING, is_float, smallest_normal  # noqa: E402

REFUSED = 0.01  # of the right answers
REPORTED = {"fp16": 0.9, "bf16": 0.8}  # of the faults, else 0.97
FAULT = {"fp16": 0.03, "bf16": 0.1}  # else 0.01


def whole(case):
    """The outputs as onnxruntime computes all of the model, or None where it cannot."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        session = onnxruntime.InferenceSession(case.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dict(zip(case.outputs, session.run(None, case.inputs)))
    except Exception:  # of many kinds, all meaning that it cannot
        return None


def off(array, fault):
    with np.errstate(all="ignore"):
        return (array.astype(np.float64) * (1 + fault)).astype(array.dtype)


def element_off(expected, random, fault):
    """The array with one element that is wrong, or None if none can be."""
    got = expected.copy()
    if not is_float(expected.dtype):
        at = tuple(random.integers(0, n) for n in expected.shape)
        got[at] = not got[at] if expected.dtype == bool else got[at] ^ 1
        return got
    size = np.abs(np.nan_to_num(expected.astype(np.float64), posinf=0, neginf=0))
    # A hundredth of nearly nothing is nothing beside what the other elements may be off.
    places = np.argwhere((size > 0.05 * size.mean()) & (size > smallest_normal(expected.dtype) / ROUNDING[expected.dtype]))
    if not len(places):
        return None
    at = tuple(random.choice(places))
    got[at] = off(got[at], fault)
    return got


def changed(expected, got, fault):
    """Whether an output is off by half of what was planted, beside its size and spread."""
    if expected.shape != got.shape or not is_float(expected.dtype):
        return not np.array_equal(expected, got)
    a, b = expected.astype(np.float64), got.astype(np.float64)
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return False
    a, b = a[both], b[both]
    return bool((np.abs(a - b) > fault / 2 * (np.abs(a) + a.std())).any())


def outputs_with(case, broken, fault):
    """The outputs where all results of one step are off."""
    values = {name: case.graph.values[name] for name in case.graph.inputs + case.graph.weights}
    for step in case.graph.oracle.steps:
        results = step({name: values[name] for name in step.names})
        values.update({name: off(a, fault) if step is broken and is_float(a.dtype) else a for name, a in results.items()})
    return {name: values[name] for name in case.outputs}


class Check:
    def __init__(self, kind, show):
        self.kind, self.show = kind, show
        self.fault = FAULT.get(kind, 0.01)
        self.accepted = self.refused = self.reported = self.missed = 0

    def model(self, seed, number):
        case = generate(seed, number, self.kind)
        values = case.graph.values
        leaves = {name: values[name] for name in case.graph.inputs + case.graph.weights}
        tolerance = Tolerance(case.graph.oracle, leaves, values, case.outputs, number)
        tolerance.add(MORE_TRIALS)
        self.right_answer(case, tolerance, number)
        random = np.random.default_rng(number)
        for name in case.outputs:
            got = element_off(tolerance.expected[name], random, self.fault) if tolerance.expected[name].size else None
            if got is not None:
                self.planted(tolerance, {name: got}, f"model {number}, an element of {name}")
        for step in case.graph.oracle.steps:
            self.broken_node(case, tolerance, step, number)

    def right_answer(self, case, tolerance, number):
        got = whole(case)
        if got is None:
            return
        wrong = tolerance.check(got)
        self.refused += bool(wrong)
        self.accepted += not wrong
        if wrong and self.show:
            print(f"refused: model {number}: {wrong[:300]}")

    def broken_node(self, case, tolerance, step, number):
        try:
            got = outputs_with(case, step, self.fault)
        except NoOracle:
            return
        got = {name: a for name, a in got.items() if changed(tolerance.expected[name], a, self.fault)}
        if got and step.node.op_type not in EXACT:
            self.planted(tolerance, got, f"model {number}, node {step.node.name}")

    def planted(self, tolerance, got, where):
        found = any(tolerance.wrong(name, array) for name, array in got.items())
        self.reported += found
        self.missed += not found
        if not found and self.show:
            print(f"missed: {where}")

    def passes(self):
        faults, answers = self.reported + self.missed, self.accepted + self.refused
        print(f"{self.kind}: {self.refused} of {answers} right answers refused, {self.reported} of {faults} faults reported", flush=True)
        return self.refused <= REFUSED * answers + 1 and self.reported >= REPORTED.get(self.kind, 0.97) * faults > 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--models", type=int, default=100)
    arguments.add_argument("--type", nargs="*", default=["fp32", "fp64", "int", "bf16", "fp16"])
    arguments.add_argument("--seed", default="1")
    arguments.add_argument("--show", action="store_true", help="each refused answer and missed fault")
    options = arguments.parse_args()
    passed = 0
    for kind in options.type:
        check = Check(kind, options.show)
        for number in range(options.models):
            check.model(options.seed, number)
        passed += check.passes()
    print(f"{passed} passed, {len(options.type) - passed} failed, 0 skipped")
    return int(passed < len(options.type))


if __name__ == "__main__":
    sys.exit(main())
