"""Runs full-size models with made weights whole and partitioned, and compares them with onnxruntime.

    python test/Execution/run_full_models.py [--folder DIR] [--models NAME,...] [--only TEXT] [--repeat K] [--json FILE]

Each model of ../shared/models/graphs named here gets weights by ../shared/models/make_weights.py --reference, once, in
DIR/NAME. Then it runs on one rank, and on 2 and 4 by `auto`, `data`, `tensor` (transformers) or `channel` (convolutions) and
`layer`. A row passes if its outputs equal onnxruntime's (the README's tolerance, five times that where ranks sum what one
rank would have summed), it compiled in less than 30 s, and the executable (weights stay outside) is below 20 MB. The last
line counts: "N passed, N failed, N skipped".
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

import numpy as np

from run_models import ROOT, SUMMING, TOLERANCE, not_followed, ranks_sum
from shared_models import MAKE_WEIGHTS, end_without
from autopar import find_tool
from autopar.compare import compare
from model_matrix import Case, facts_of

MODELS = ["bert-base", "gpt2-124m", "vit-b16", "resnet50", "efficientnet-b0"]
MOST_COMPILE_SECONDS = 30
MOST_MEGABYTES = 20


def cases_of(model, facts):
    yield Case(model, 1, "auto")
    # A model made of convolutions, not one that only begins with one.
    within = "channel" if facts.convolutions * 2 > len(facts.outputs) else "tensor"
    for ranks in (2, 4):
        for strategy in ("auto", "data", within, "layer"):
            yield Case(model, ranks, strategy)


def make_weights(model, folder):
    """The model with weights, inputs and reference outputs; made if absent."""
    if not os.path.exists(os.path.join(folder, "outputs.npz")):
        command = [sys.executable, MAKE_WEIGHTS, model, "--out", folder, "--reference"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def timed(command):
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    return done.returncode, (done.stdout + done.stderr).strip(), time.time() - start


def attempt(case, folder, repeat):
    """A row of the table, and what went wrong ("" if nothing)."""
    row = {"case": str(case)}
    stem = os.path.join(folder, re.sub(r"[ ,=]", "_", str(case)))
    code, table, row["compile_seconds"] = timed(
        [find_tool(), "compile", os.path.join(folder, "model.onnx"), "-o", stem, "--ranks", str(case.ranks), "--strategy",
         case.strategy, "--save-plan", stem + ".plan"])
    if code:
        return row, f"compile ended with {code}: {table[-400:]}"
    row["megabytes"] = os.path.getsize(stem) / 1e6
    code, log, _ = timed([stem, "--inputs", os.path.join(folder, "inputs.npz"), "--outputs", stem + ".npz", "--repeat", str(repeat),
                          "--json", stem + ".json"])
    if code:
        return row, f"run ended with {code}: {log[-400:]}"
    with open(stem + ".plan") as plan_file, open(stem + ".json") as report_file:
        plan, report = json.load(plan_file), json.load(report_file)
    row["step_seconds"] = report["seconds_per_step"]["min"]
    row["peak_megabytes"] = max(report["peak_memory_bytes"]) / 1e6
    row["tolerance"] = TOLERANCE * (SUMMING if ranks_sum(plan) else 1)
    with np.load(stem + ".npz") as got, np.load(os.path.join(folder, "outputs.npz")) as reference:
        row["error"] = max(compare(got, reference, row["tolerance"]).values())
    for file in (stem, stem + ".plan", stem + ".json", stem + ".npz"):
        os.remove(file)
    if not row["error"] <= 1:
        return row, "outputs differ"
    if row["compile_seconds"] > MOST_COMPILE_SECONDS or row["megabytes"] > MOST_MEGABYTES:
        return row, f"more than {MOST_COMPILE_SECONDS} s to compile or {MOST_MEGABYTES} MB"
    return row, not_followed(case, facts_of(os.path.join(folder, "model.onnx")), plan, table)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--folder", default=os.path.join(os.environ.get("AUTOPAR_BUILD", os.path.join(ROOT, "build")), "full"))
    arguments.add_argument("--models", default=",".join(MODELS))
    arguments.add_argument("--only", default="", help="cases whose name holds this text")
    arguments.add_argument("--repeat", type=int, default=1, help="steps per run; the fastest is told")
    arguments.add_argument("--json", help="write the table here")
    options = arguments.parse_args()
    end_without(MAKE_WEIGHTS)
    columns = ["compile_seconds", "megabytes", "error", "step_seconds", "peak_megabytes"]
    print(f"{'case':34}{'compile s':>11}{'exe MB':>9}{'err/tol':>9}{'step s':>9}{'peak MB':>9}")
    rows, failed = [], 0
    for model in options.models.split(","):
        folder = os.path.join(options.folder, model)
        make_weights(model, folder)
        for case in cases_of(model, facts_of(os.path.join(folder, "model.onnx"))):
            if options.only not in str(case):
                continue
            row, error = attempt(case, folder, options.repeat)
            failed += bool(error)
            values = [f"{row[c]:.3g}" if c in row else "-" for c in columns]
            print(f"{row['case']:34}{values[0]:>11}" + "".join(f"{v:>9}" for v in values[1:]) + ("  FAIL: " + error if error else ""), flush=True)
            rows.append({**row, "failure": error})
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    print(f"{len(rows) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
