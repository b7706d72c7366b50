"""The standard's own runner, onnx.backend.test.BackendTest, over autopar.backend, in one process.

    python test/Execution/run_backend.py [--only TEXT] [--every N] [--verbose]

Each test compiles a model, opens a session, runs and closes it. A model that the compiler refuses is counted apart, by reason with --verbose; any other failure is
WRONG. No session may leave a descriptor, a process or a folder; in the end some tests run again and again, by which memory may not grow (the first time it holds
their data and what libraries keep). The last line counts.
"""

import argparse
import collections
import gc
import glob
import os
import re
import shutil
import sys
import tempfile
import unittest
import warnings

import numpy as np
import onnx.backend.test

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402

DOWNLOADS = r"test_(bvlc_alexnet|densenet121|inception_v1|inception_v2|resnet50|shufflenet|squeezenet|vgg19|zfnet512)_"
AGAIN, ROUNDS = 40, 6  # of each so many tests one runs so often in the end


class BackendTest(onnx.backend.test.BackendTest):
    """As the package compares, but float16 by two units of its last place, as it does bfloat16, and what is near 0 by 1e-6: references have rounded."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None):
        halves = any(getattr(array, "dtype", None) == np.float16 for array in ref_outputs)
        super().assert_similar_outputs(ref_outputs, outputs, max(rtol, 2**-9) if halves else rtol, max(atol, 1e-6), model_dir)


class Result(unittest.TestResult):
    """How each test ended: "right", "refused" or "WRONG", and why."""

    def __init__(self, verbose):
        super().__init__()
        self.ends, self.verbose = [], verbose

    def note(self, test, how, why=""):
        name = test._testMethodName
        self.ends.append((how, why))
        if how == "WRONG" or self.verbose:
            print(name, how, why, flush=True)

    def addSuccess(self, test):
        self.note(test, "right")

    def addFailure(self, test, error):
        self.note(test, "WRONG", " ".join(str(error[1]).split())[:300])

    def addError(self, test, error):
        why = str(error[1])
        refused = isinstance(error[1], autopar.AutoparError) and "autopar ended with 1:" in why or "programs take tensors" in why
        self.note(test, "refused" if refused else "WRONG", re.sub(r"(?s).*?error: ", "", why)[:300] if refused else f"{error[0].__name__}: {why[:300]}")


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def children():
    found = 0
    for path in glob.glob("/proc/self/task/*/children"):
        with open(path) as file:
            found += len(file.read().split())
    return found


def held():
    """What a session might leave."""
    return {"descriptors": len(os.listdir("/proc/self/fd")), "processes": children(), "folders": len(glob.glob(os.path.join(tempfile.gettempdir(), "autopar-*")))}


def tests_of(options):
    suite = BackendTest(autopar.backend, __name__).exclude(DOWNLOADS).test_suite
    cases = [case for case in suite if options.only in case._testMethodName and not getattr(getattr(case, case._testMethodName), "__unittest_skip__", False)]
    return cases[:: options.every]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--verbose", action="store_true")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")  # of the package, while it makes its data
    tempfile.tempdir = tempfile.mkdtemp()
    tests = tests_of(options)
    result = Result(options.verbose)
    before = held()
    for test in tests:
        test.run(result)
    sizes = []
    for _ in range(ROUNDS):
        for test in tests[::AGAIN]:
            test.run(unittest.TestResult())
        sizes.append(resident())
    del test, tests  # which keep what failed
    grown, sessions = sizes[-1] - sizes[0], (ROUNDS - 1) * ((len(result.ends) + AGAIN - 1) // AGAIN)
    gc.collect()
    after = held()
    shutil.rmtree(tempfile.tempdir)
    left = [f"{name} {before[name]} before, {after[name]} after" for name in before if after[name] != before[name]]
    if grown > (256 << 10) + 2048 * sessions:
        left.append(f"memory grew by {grown} bytes")
    counts = collections.Counter(how for how, _ in result.ends)
    print(f"{len(result.ends) + ROUNDS * sessions // (ROUNDS - 1)} models in one process; {sessions} of them again grew memory by {grown // 1024} KiB; left: {'; '.join(left) or 'nothing'}")
    print(f"{counts['right']} right, {counts['refused']} refused, {counts['WRONG']} WRONG")
    return bool(left) or counts["WRONG"] > 0


if __name__ == "__main__":
    sys.exit(main())
