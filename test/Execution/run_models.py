"""Runs real models whole and partitioned, and compares every output with its reference.

    python test/Execution/run_models.py [--full] [--models NAME,...] [--ranks N,...] [--only TEXT] [--jobs N]

Each case compiles a model of ../shared/models/small for some ranks, strategy and mesh, runs it and compares: the README's
tolerance |y - ref| <= 1e-4 * (std + |ref|) on one rank, five times that where ranks sum in another order. A strategy that no op
of the model can follow must end in the error that lists those that can. A clone without the shared models runs the models that
`autopar.models` makes, compared with onnxruntime. The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from autopar.compare import compare  # noqa: E402

SHARED = os.environ.get("AUTOPAR_SHARED", os.path.join(ROOT, "..", "shared"))
MLP = ["mlp", "mlp-uneven", "mlp-ts", "mlp-dyn"]
GPT2 = ["gpt2-tiny", "gpt2-uneven", "gpt2-tiny-ts", "gpt2-tiny-extdata", "gpt2-tiny-train"]
RESNET = ["resnet50-narrow", "resnet50-narrow-ts", "resnet50-narrow-dyn", "resnet50-narrow-bn"]
MATMUL = ["data", "row", "column", "tensor", "layer"]
CONV = MATMUL + ["channel", "spatial"]
MESHES = {"matmul": ["data=2,tensor=2", "row=2,column=2", "layer=2,data=2"],
          "conv": ["data=2,channel=2", "data=2,spatial=2", "layer=2,data=2"]}
FREE = '{"nodes":[{"count":1,"type":"cpu","devices":%d}],"links":[{"within":"node","kind":"free"}]}'


@dataclass
class Case:
    model: str
    ranks: int
    strategy: str
    mesh: str = ""
    free: bool = False
    suffix: str = ""  # of the reference files: "-b4" where the batch is symbolic
    options: list = field(default_factory=list)

    def __str__(self):
        extra = (f" mesh {self.mesh}" if self.mesh else "") + (" free links" if self.free else "") + self.suffix
        return f"{self.model} x{self.ranks} {self.strategy}{extra}"


def cases_of(model, full):
    """Every case of one model; the sample (not full) keeps one of each kind."""
    conv = model in RESNET
    dyn = model.endswith("-dyn")
    base = dict(suffix="-b4", options=["--bind", "batch=4"]) if dyn else {}
    for ranks in (1, 2, 3, 4, 8) if full else (1, 3):
        yield Case(model, ranks, "auto", **base)
    for ranks in (2, 4, 8) if full else (4,):
        yield Case(model, ranks, "auto", free=True, **base)
    if not full and model not in ("mlp", "mlp-uneven", "gpt2-tiny", "gpt2-uneven", "resnet50-narrow"):
        return
    for strategy in CONV if conv else MATMUL + ["channel", "spatial"][: 2 if full else 1]:
        for ranks in (2, 4) if full else (2,):
            yield Case(model, ranks, strategy, **base)
    meshes = MESHES["conv" if conv else "matmul"]
    for mesh in meshes if full else meshes[:2]:
        yield Case(model, 4, ",".join(axis.split("=")[0] for axis in mesh.split(",")), mesh=mesh, **base)
    if dyn and full:
        yield Case(model, 2, "auto", suffix="-b8", options=["--bind", "batch=8"])


def can_follow(case):
    """Whether an op of the model names what the strategy splits: convolutions for channel and spatial."""
    return case.model in RESNET or not {"channel", "spatial"} & set(case.strategy.split(","))


def run(command, timeout=300):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    return done.returncode, (done.stdout + done.stderr).strip()


def split_ops(plan, axis=""):
    """How many ops of the plan an axis of this name (any, if empty) splits."""
    return sum(any(used.split(".")[0] == axis or not axis for used in op.get("strategy", {})) for op in plan["ops"].values())


def not_followed(case, plan):
    """What the plan should have split and did not, as a message; "" if it did."""
    if case.ranks == 1 or case.strategy == "auto" and not case.free:
        return ""
    if case.strategy == "auto":
        return "" if split_ops(plan) or plan["stages"] > 1 else "links are free and the plan splits nothing"
    for name in case.strategy.split(","):
        if not (plan["stages"] > 1 if name == "layer" else split_ops(plan, name)):
            return f"the plan splits no op by {name}"
    return ""


def attempt(case, work):
    """Returns "" or what went wrong."""
    folder = os.path.join(SHARED, "models", "small", case.model)
    stem = os.path.join(work, str(case).replace(" ", "_").replace(",", "_").replace("=", ""))
    command = [find_tool(), "compile", os.path.join(folder, "model.onnx"), "-o", stem, "--strategy", case.strategy,
               "--save-plan", stem + ".json", "--weights", os.path.join(folder, "model.onnx"), *case.options]
    if os.path.exists(os.path.join(folder, "model.onnx.data")):
        command[command.index("--weights") + 1] += ".data"
    if case.free:
        with open(stem + ".cluster.json", "w") as cluster:
            cluster.write(FREE % case.ranks)
        command += ["--cluster", stem + ".cluster.json"]
    else:
        command += ["--ranks", str(case.ranks)]
    if case.mesh:
        command += ["--mesh", case.mesh]
    code, log = run(command)
    if not can_follow(case):
        told = code in range(1, 100) and "can follow" in log
        return "" if told else f"expected the error that lists strategies the model can follow, got {code}: {log[-300:]}"
    if code:
        return f"compile ended with {code}: {log[-400:]}"
    outputs = stem + ".out.npz"
    code, log = run([stem, "--inputs", os.path.join(folder, f"inputs{case.suffix}.npz"), "--outputs", outputs])
    if code:
        return f"run ended with {code}: {log[-400:]}"
    with np.load(outputs) as got, np.load(os.path.join(folder, f"outputs{case.suffix}.npz")) as reference:
        worst = max(compare(dict(got), dict(reference), 1e-4 if case.ranks == 1 else 5e-4).values())
    if not worst <= 1:
        return f"outputs differ: {worst:.3g} of the tolerance"
    with open(stem + ".json") as file:
        plan = json.load(file)
    if message := not_followed(case, plan):
        return message
    for path in (stem, outputs):
        os.remove(path)
    return ""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--full", action="store_true", help="every case; without it a sample")
    arguments.add_argument("--models", default=",".join(MLP + GPT2 + RESNET))
    arguments.add_argument("--only", default="", help="cases whose name holds this text")
    arguments.add_argument("--jobs", type=int, default=2)
    options = arguments.parse_args()
    cases = [case for model in options.models.split(",") for case in cases_of(model, options.full) if options.only in str(case)]
    if not os.path.isdir(os.path.join(SHARED, "models", "small")):
        print(f"the shared models are absent ({len(cases)} cases): set AUTOPAR_SHARED to their folder")
        print(f"0 passed, 0 failed, {len(cases)} skipped")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        start = time.time()
        for case, error in zip(cases, pool.map(lambda case: guarded(case, work), cases)):
            failed += bool(error)
            print(f"{'FAIL' if error else 'ok'}: {case}{': ' + error if error else ''}", flush=True)
        print(f"{time.time() - start:.0f} s")
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


def guarded(case, work):
    """attempt(), with every way to fail as a message: one case never ends the others."""
    try:
        return attempt(case, work)
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main())
