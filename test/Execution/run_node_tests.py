"""Compiles the standard's own node tests to executables and compares what they compute.

    python test/Execution/run_node_tests.py AUTOPAR AUTOPAR_IMPORT [--only TEXT] [--ranks N] [--target emulated] [--verbose]

The generated code of every op, on one rank, against the data of the package onnx. The program gets all inputs of a test, also those
that --bind made constants. A node that the compiler refuses is counted apart, with the reason; the last line counts.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Frontend", "Inputs"))
import run_node_tests as node_tests  # noqa: E402


def same(actual, expected):
    if expected.dtype == ml_dtypes.bfloat16 and actual.dtype == "V2":
        actual = actual.view(ml_dtypes.bfloat16)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    rtol = node_tests.tolerance(expected.dtype)
    return np.allclose(actual.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=1e-5, equal_nan=True)


def attempt_with(ranks, target):
    def attempt(tool, model, inputs, bound, outputs):
        with tempfile.TemporaryDirectory() as work:
            path, program, archive = (os.path.join(work, name) for name in ("model.onnx", "program", "in.npz"))
            onnx.save(model, path)
            np.savez(archive, **node_tests.plain(inputs))
            command = [tool, "compile", path, "-o", program, "--ranks", str(ranks), "--target", target, *node_tests.bindings(bound, archive)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode < 0 or done.returncode >= 100:
                return "WRONG", f"the compiler ended with {done.returncode}"
            if done.returncode:
                return "refused", (done.stderr.strip().splitlines() or ["no message"])[0]
            command = [program, "--inputs", archive, "--outputs", os.path.join(work, "out.npz")]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode:
                return "WRONG", f"the program ended with {done.returncode}: {done.stderr.strip()[:200]}"
            with np.load(os.path.join(work, "out.npz")) as actual:
                names = [output.name for output in model.graph.output]
                for name, expected in zip(names, outputs):
                    if name not in actual or not same(actual[name], expected):
                        return "WRONG", f"output '{name}' differs"
        return "right", ""

    return attempt


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("importer")
    parser.add_argument("--only", default="")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--every", type=int, default=1, help="of the cases take every N-th")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    tool, importer = (shutil.which(name) or name for name in (args.tool, args.importer))
    table = subprocess.run([importer, "--print-ops"], capture_output=True, text=True).stdout
    known = {line.split(";")[0] for line in table.splitlines()}
    node_tests.attempt = attempt_with(args.ranks, args.target)
    warnings.simplefilter("ignore")  # of the package, while it makes its data
    cases = [c for c in load_model_tests(kind="node") if args.only in c.name][:: args.every]
    return node_tests.count(tool, cases, known, args.verbose)["WRONG"] > 0


if __name__ == "__main__":
    sys.exit(main())
