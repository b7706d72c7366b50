"""Runs the standard's own node tests through the importer and the interpreter.

    python test/Frontend/Inputs/run_node_tests.py AUTOPAR_IMPORT [--only TEXT] [--verbose]

The tests come with the package onnx. Inputs that a node needs while compiling are given by --bind. A node that the importer refuses is
counted apart, with the reason; a wrong result or a crash ends in exit code 1. The last line counts:
"N right (N with inputs given by --bind), N refused, N WRONG, N without plain tensors".
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

SUPPORTED = {np.dtype(t) for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                                   "float32", "float64", ml_dtypes.bfloat16)}


def tolerance(dtype):
    """Of bfloat16 two units of the last place, as the package's own runner allows."""
    return 2**-6 if dtype == ml_dtypes.bfloat16 else 1e-2 if dtype == np.float16 else 1e-3


def plain(arrays):
    """As .npz files hold them: bfloat16 as two bytes without a meaning."""
    return {name: a.view("V2") if a.dtype == ml_dtypes.bfloat16 else a for name, a in arrays.items()}


def bindings(names, path):
    """Options that make those inputs constants, of the archive's values."""
    return [word for name in names for word in ("--bind", f"{name}=@{path}")]


def attempt(tool, model, inputs, bound, outputs):
    """What became of the model with the inputs `bound` as constants: "right", "refused" or "WRONG", and why."""
    with tempfile.TemporaryDirectory() as work:
        path, archive = os.path.join(work, "model.onnx"), os.path.join(work, "in.npz")
        onnx.save(model, path)
        np.savez(archive, **plain(inputs))
        for i, name in enumerate(name for name in inputs if name not in bound):
            inputs[name].tofile(os.path.join(work, f"in.{i}"))
        command = [tool, path, "--prepare", "--run", work, *bindings(bound, archive)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode < 0 or done.returncode >= 100:
            return "WRONG", f"exit code {done.returncode}"
        if done.returncode:
            return "refused", (done.stderr.strip().splitlines() or ["no message"])[0]
        for i, expected in enumerate(outputs):
            name = os.path.join(work, f"out.{i}")
            if not os.path.exists(name):
                return "WRONG", "an output is missing"
            actual = np.fromfile(name, expected.dtype)
            if actual.size != expected.size:
                return "WRONG", f"output {i} has another size"
            actual = actual.reshape(expected.shape).astype(np.float64)
            if not np.allclose(actual, expected.astype(np.float64), rtol=tolerance(expected.dtype), atol=1e-5, equal_nan=True):
                return "WRONG", f"output {i} differs"
        return "right", ""


def choices(inputs):
    """Which inputs are constants, from none to all: integers, those beside the first input, first."""
    names = list(inputs)
    integers = [name for name in names if inputs[name].dtype.kind in "iub"]
    tried = []
    for bound in ([], [name for name in integers if name != names[0]], names[1:], integers, names):
        if bound not in tried:
            tried.append(bound)
    return tried


def run(tool, case, known):
    model = case.model
    names = [f"{n.domain}.{n.op_type}" if n.domain else n.op_type for n in model.graph.node]
    if unknown := next((name for name in names if name not in known), None):
        return "refused", f"{unknown} unsupported"
    arrays, outputs = ([np.asarray(a) if isinstance(a, np.generic) else a for a in part] for part in case.data_sets[0])
    if any(not isinstance(a, np.ndarray) for a in [*arrays, *outputs]):
        return "no tensors", "sequences, optionals"
    if any(a.dtype not in SUPPORTED for a in [*arrays, *outputs]):
        return "no tensors", "element type"
    inputs = dict(zip([i.name for i in model.graph.input], arrays))
    for bound in choices(inputs):
        result = attempt(tool, model, inputs, bound, outputs)
        if result[0] != "refused" or "must be" not in result[1] and "known while compiling" not in result[1]:
            break
    return (*result, bound)


def count(tool, cases, known, verbose):
    """Runs all cases; how many ended how. Refusals are told by their reason."""
    counts, reasons = collections.Counter(), collections.Counter()
    with ThreadPoolExecutor(2) as pool:
        for case, (kind, why, *bound) in zip(cases, pool.map(lambda c: run(tool, c, known), cases)):
            counts[kind] += 1
            counts["by --bind"] += kind == "right" and bound != [[]]
            if kind in ("refused", "no tensors"):
                reasons[kind, re.sub(r".*error: |node '.*?' ", "", why)] += 1
            if kind == "WRONG" or verbose:
                print(case.name, kind, why, *bound, flush=True)
    for (kind, why), number in reasons.most_common():
        print(f"  {kind} {number}: {why}")
    print(f"{counts['right']} right ({counts['by --bind']} with inputs given by --bind), {counts['refused']} refused, {counts['WRONG']} WRONG, "
          f"{counts['no tensors']} without plain tensors")
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    tool = shutil.which(args.tool) or args.tool
    known = {line.split(";")[0] for line in subprocess.run([tool, "--print-ops"], capture_output=True, text=True).stdout.splitlines()}
    warnings.simplefilter("ignore")  # of the package, while it makes its data
    cases = [c for c in load_model_tests(kind="node") if args.only in c.name]
    return count(tool, cases, known, args.verbose)["WRONG"] > 0


if __name__ == "__main__":
    sys.exit(main())
