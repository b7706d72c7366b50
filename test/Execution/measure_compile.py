"""Measures how long models compile, by phase and number of ranks.

    python test/Execution/measure_compile.py [MODEL.onnx ...] [--graphs] [--ranks 1,2,4] [--target T] [--repeat K] [--json FILE]

Without files every model of ../shared/models/small, with --graphs those of ../shared/models/graphs too (their weights' bytes are
not needed, and devices have the memory of any of them). The table has the seconds of phase `executable` (LLVM) and of all phases together for each
number of ranks. Exit code 1 if `executable` takes more than twice as long on the most ranks as on one: programs for more ranks
have about as many kernels. The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import onnx

from run_models import find_tool
from shared_models import GRAPHS, SMALL, end_without

MOST_RATIO = 2
MEMORY = "16TiB"  # per rank: the largest graph fits on one
BATCH = "4"  # for symbolic sizes


def bindings_of(path):
    graph = onnx.load(path, load_external_data=False).graph
    names = {d.dim_param for i in graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
    return [word for name in sorted(names) for word in ("--bind", f"{name}={BATCH}")]


def phases_of(model, ranks, options, folder):
    """Seconds by phase and in all; text of the error instead."""
    command = [find_tool(), "compile", model, "-o", os.path.join(folder, "exe"), "--verbose",
               "--ranks", str(ranks), "--memory-limit", MEMORY]
    if options.target:
        command += ["--target", options.target]
    start = time.time()
    done = subprocess.run(command + bindings_of(model) + options.extra, capture_output=True, text=True)
    seconds = time.time() - start
    if done.returncode:
        return done.stderr.strip().splitlines()[-1][:200]
    phases = {name: float(value) for name, value in re.findall(r"autopar: (\w+) +([\d.]+) s", done.stderr)}
    return {**phases, "all": seconds}


def fastest(model, ranks, options, folder):
    runs = [phases_of(model, ranks, options, folder) for _ in range(options.repeat)]
    errors = [run for run in runs if isinstance(run, str)]
    return errors[0] if errors else {name: min(run[name] for run in runs) for name in runs[0]}


def graphs(folder):
    """The full-size graphs, unpacked."""
    for path in sorted(glob.glob(os.path.join(GRAPHS, "*.onnx.gz"))):
        name = os.path.join(folder, os.path.basename(path)[:-len(".onnx.gz")])
        os.makedirs(name)
        unpacked = os.path.join(name, "model.onnx")
        with gzip.open(path) as packed, open(unpacked, "wb") as file:
            shutil.copyfileobj(packed, file)
        yield unpacked


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("models", nargs="*")
    arguments.add_argument("--graphs", action="store_true")
    arguments.add_argument("--ranks", default="1,2,4")
    arguments.add_argument("--target", default="")
    arguments.add_argument("--repeat", type=int, default=1, help="the fastest of so many runs counts")
    arguments.add_argument("--extra", default="", help="more options of autopar compile, in one word")
    arguments.add_argument("--json", help="write the table here")
    options = arguments.parse_args()
    options.extra = options.extra.split()
    ranks = [int(n) for n in options.ranks.split(",")]
    if not options.models:
        end_without(SMALL)
    if options.graphs:
        end_without(GRAPHS)
    print(f"{'model':28}" + "".join(f"{'x' + str(n) + ' exe':>9}{'all':>8}" for n in ranks) + f"{'ratio':>8}")
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        models = options.models or sorted(glob.glob(os.path.join(SMALL, "*", "model.onnx")))
        for model in models + (list(graphs(folder)) if options.graphs else []):
            name = os.path.basename(model)
            name = os.path.basename(os.path.dirname(os.path.abspath(model))) if name == "model.onnx" else name
            found = [fastest(model, n, options, folder) for n in ranks]
            errors = [f for f in found if isinstance(f, str)]
            ratio = 0 if errors else found[-1]["executable"] / found[0]["executable"]
            slow = ratio > MOST_RATIO
            failed += bool(errors) or slow
            rows.append({"model": name, "ranks": ranks, "phases": found, "ratio": ratio})
            print(f"{name:28}" + (errors[0] if errors else "".join(f"{f['executable']:9.2f}{f['all']:8.2f}" for f in found)
                                  + f"{ratio:8.2f}" + ("  FAIL" if slow else "")), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    print(f"{len(rows) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
