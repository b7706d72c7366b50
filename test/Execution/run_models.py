"""Runs real models whole and partitioned, and compares every output with its reference.

    python test/Execution/run_models.py [--target emulated] [--full] [--models NAME,...] [--only TEXT] [--jobs N]

Each case compiles a model of ../shared/models/small for some ranks, strategy and mesh, runs it and compares: the README's
tolerance |y - ref| <= 1e-4 * (std + |ref|), five times that where the plan has ranks sum what one rank would have summed.
The plan must show that a named strategy was followed. Which cases there are says model_matrix.py. The emulated GPU runs
what CUDA may reorder in an order that its seed chooses: AUTOPAR_EMULATED_SEED, or one that the case's name gives. Without the
shared models there is nothing to run (a failure with AUTOPAR_REQUIRE_SHARED=1). The last line counts: "N passed, N failed, N
skipped".
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from autopar import find_tool  # noqa: E402
from autopar.compare import compare  # noqa: E402
from model_matrix import all_models, cases_of, facts_of, gpu_cases_of, sample_of  # noqa: E402
from shared_models import SMALL, end_without  # noqa: E402

TOLERANCE = 1e-4
SUMMING = 5  # times the tolerance where ranks sum in another order
FREE = '{"nodes":[{"count":1,"type":"%s","devices":%d}],"links":[{"within":"node","kind":"free"}]}'
DEVICES = {"cpu": "cpu", "cuda": "h100-80gb", "emulated": "h100-80gb"}
# What the plan's table says of an axis that follows a name.
WORDS = {"data": ["the batch"], "row": ["weights by rows"], "column": ["weights by columns"],
         "tensor": ["weights by rows", "weights by columns"],
         "channel": ["channels", "weights by rows", "weights by columns"], "spatial": ["height or width"]}


def run(command, timeout=300, **environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **environment})
    return done.returncode, (done.stdout + done.stderr).strip()


@lru_cache(maxsize=8)
def reference_of(folder, suffix):
    with np.load(os.path.join(folder, f"outputs{suffix}.npz")) as arrays:
        return dict(arrays)


def ranks_sum(plan):
    """Whether some sum is made of the partial sums of several ranks."""
    return any("reduce" in collective["kind"] for collective in plan["collectives"])


def split_ops(table, axis, words):
    """How many ops the table says that an axis splits in one of these ways."""
    line = re.search(rf"^{axis} +splits (.*)$", table, re.MULTILINE)
    counts = re.findall(r"([a-z ]+) in (\d+) ops", line.group(1)) if line else []
    return sum(int(count) for what, count in counts if not words or what.strip() in words)


def least_splits(name, size, facts):
    """How many ops an axis of this name has to split: most of the linear ones whose weight has enough rows or columns."""
    sizes = {"row": facts.contracted, "column": facts.outputs, "tensor": facts.outputs}.get(name, ())
    return max(1, sum(n >= size for n in sizes) // 2)


def not_followed(case, facts, plan, table):
    """What the plan should have split and did not, as a message; "" if it did."""
    if case.ranks == 1 or case.strategy == "auto":
        split = plan["stages"] > 1 or any(op.get("strategy") for op in plan["ops"].values())
        return "links are free and the plan splits nothing" if case.free and not split else ""
    sizes = dict(axis.split("=") for axis in case.mesh.split(",")) if case.mesh else {case.strategy: case.ranks}
    for name, size in sizes.items():
        if name == "layer":
            if plan["stages"] != int(size) or case.micro_batches not in (0, plan["micro_batches"]):
                return f"the plan has {plan['stages']} stages, {plan['micro_batches']} micro-batches"
            continue
        least, found = least_splits(name, int(size), facts), split_ops(table, name, WORDS[name])
        if found < least:
            return f"{name} splits {found} ops, not {least}: {table.splitlines()[2]}"
    return ""


def seed_of(case):
    """Of the emulated GPU's order."""
    return os.environ.get("AUTOPAR_EMULATED_SEED", str(zlib.crc32(str(case).encode())))


def compile_command(case, folder, stem, target="cpu"):
    model = os.path.join(folder, "model.onnx")
    weights = model + ".data" if os.path.exists(model + ".data") else model
    command = [find_tool(), "compile", model, "-o", stem, "--strategy", case.strategy, "--save-plan", stem + ".json", "--weights", weights,
               "--target", target]
    if case.free:
        with open(stem + ".cluster.json", "w") as cluster:
            cluster.write(FREE % (DEVICES[target], case.ranks))
        command += ["--cluster", stem + ".cluster.json"]
    else:
        command += ["--ranks", str(case.ranks)]
    command += ["--mesh", case.mesh] * bool(case.mesh) + ["--micro-batches", str(case.micro_batches)] * bool(case.micro_batches)
    return command + ["--bind", f"batch={case.batch}"] * bool(case.batch)


def attempt(case, work, target):
    """Returns "" or what went wrong."""
    folder = os.path.join(SMALL, case.model)
    stem = os.path.join(work, re.sub(r"[ ,=]", "_", str(case)))
    code, table = run(compile_command(case, folder, stem, target))
    if code:
        return f"compile ended with {code}: {table[-600:]}"
    outputs = stem + ".out.npz"
    code, log = run([stem, "--inputs", os.path.join(folder, f"inputs{case.suffix}.npz"), "--outputs", outputs],
                    AUTOPAR_EMULATED_SEED=seed_of(case))
    if code:
        return f"run ended with {code}{f' (seed {seed_of(case)})' * (target == 'emulated')}: {log[-600:]}"
    with open(stem + ".json") as file:
        plan = json.load(file)
    with np.load(outputs) as got:
        worst = max(compare(dict(got), reference_of(folder, case.suffix), TOLERANCE * (SUMMING if ranks_sum(plan) else 1)).values())
    for path in (stem, outputs, stem + ".json"):
        os.remove(path)
    if not worst <= 1:
        return f"outputs differ: {worst:.3g} of the tolerance"
    return not_followed(case, facts_of(os.path.join(folder, "model.onnx")), plan, table)


def guarded(case, work, target):
    """attempt(), with every way to fail as a message: one case never ends the others."""
    try:
        return attempt(case, work, target)
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--full", action="store_true", help="every case; without it a sample")
    arguments.add_argument("--target", choices=DEVICES, default="cpu")
    arguments.add_argument("--models", default="", help="only these models, separated by commas")
    arguments.add_argument("--only", default="", help="cases whose name holds this text")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--list", action="store_true", help="print the cases and end")
    options = arguments.parse_args()
    end_without(SMALL)
    models = options.models.split(",") if options.models else all_models(SMALL)
    matrix = cases_of if options.target == "cpu" else gpu_cases_of
    cases = [case for model in models for case in matrix(model, facts_of(os.path.join(SMALL, model, "model.onnx")))]
    cases = [case for case in (cases if options.full else sample_of(cases, options.target)) if options.only in str(case)]
    if not cases:
        print("no case has this --models and --only", file=sys.stderr)
        return 1
    if options.list:
        print("\n".join(map(str, cases)))
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        start = time.time()
        for case, error in zip(cases, pool.map(lambda case: guarded(case, work, options.target), cases)):
            failed += bool(error)
            print(f"{'FAIL' if error else 'ok'}: {case}{': ' + error if error else ''}", flush=True)
        print(f"{len(models)} models, {len(cases)} cases, {time.time() - start:.0f} s")
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
