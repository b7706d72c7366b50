"""Runs the standard's own node tests through the importer and the interpreter.

    python test/Frontend/Inputs/run_node_tests.py AUTOPAR_IMPORT [--only TEXT] [--verbose]

The tests come with the package onnx. A node that the importer refuses is counted apart, with the reason; a wrong result or a
crash ends in exit code 1. The last line counts: "N right, N refused, N WRONG".
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

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

SUPPORTED = {np.dtype(t) for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                                   "float32", "float64")}


def with_constants(model, inputs, keep):
    """A copy of the model in which the inputs that are not in `keep` are constants: shapes, axes and the like."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.input[:]
    for info, array in zip(model.graph.input, inputs):
        if info.name in keep:
            copy.graph.input.append(info)
        else:
            copy.graph.initializer.append(numpy_helper.from_array(array, info.name))
    return copy


def attempt(tool, model, inputs, keep, outputs):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "model.onnx")
        onnx.save(with_constants(model, inputs, keep), path)
        kept = [a for info, a in zip(model.graph.input, inputs) if info.name in keep]
        for i, array in enumerate(kept):
            array.tofile(os.path.join(work, f"in.{i}"))
        done = subprocess.run([tool, path, "--prepare", "--run", work], capture_output=True, text=True, timeout=300)
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
            rtol = 1e-2 if expected.dtype == np.float16 else 1e-3
            if not np.allclose(actual, expected.astype(np.float64), rtol=rtol, atol=1e-5, equal_nan=True):
                return "WRONG", f"output {i} differs"
        return "right", ""


def run(tool, case, known):
    model = case.model
    unknown = next((n.op_type for n in model.graph.node if n.domain or n.op_type not in known), None)
    if unknown:
        return "refused", f"{unknown} unsupported"
    inputs, outputs = ([np.asarray(a) if isinstance(a, np.generic) else a for a in part] for part in case.data_sets[0])
    if any(not isinstance(a, np.ndarray) for a in [*inputs, *outputs]):  # sequences, optionals
        return "refused", "not a tensor"
    if any(a.dtype not in SUPPORTED for a in [*inputs, *outputs]):
        return "refused", "element type"
    names = [i.name for i, a in zip(model.graph.input, inputs) if a.size]
    result = attempt(tool, model, inputs, set(names), outputs)
    # Shapes, axes and positions must be constants: give all inputs but the first, then all, as such.
    for keep in (set(names[:1]), set()):
        if result[0] != "refused" or "must be" not in result[1] and "known while compiling" not in result[1]:
            break
        result = attempt(tool, model, inputs, keep, outputs)
    return result


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
    counts, reasons = collections.Counter(), collections.Counter()
    with ThreadPoolExecutor(2) as pool:
        for case, (kind, why) in zip(cases, pool.map(lambda c: run(tool, c, known), cases)):
            counts[kind] += 1
            if kind == "refused":
                reasons[re.sub(r".*error: |node '.*?' ", "", why)] += 1
            if kind == "WRONG" or args.verbose:
                print(case.name, kind, why, flush=True)
    if args.verbose or not args.only:
        for why, count in reasons.most_common():
            print(f"  refused {count}: {why}")
    print(f"{counts['right']} right, {counts['refused']} refused, {counts['WRONG']} WRONG")
    return counts["WRONG"] > 0


if __name__ == "__main__":
    sys.exit(main())
