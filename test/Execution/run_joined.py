"""Runs GPU executables as torchrun, mpirun and srun start them, on the emulated device.

    python test/Execution/run_joined.py [--jobs N]

Each case compiles a model of ../shared/models/small, runs it alone, and then as separate processes with the environment that a launcher
gives them: rank 0 writes the outputs, which must be the same bytes, and the report of all ranks. Where mpirun is installed it starts
them itself, too. The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from run_models import find_tool, run  # noqa: E402
from shared_models import SMALL, end_without  # noqa: E402

import numpy as np  # noqa: E402

LAUNCHERS = {
    "torchrun": "RANK={r} WORLD_SIZE={n} LOCAL_RANK={r} LOCAL_WORLD_SIZE={n} MASTER_ADDR=127.0.0.1 MASTER_PORT={p}",
    "mpirun": "OMPI_COMM_WORLD_RANK={r} OMPI_COMM_WORLD_SIZE={n} OMPI_COMM_WORLD_LOCAL_RANK={r} OMPI_COMM_WORLD_LOCAL_SIZE={n} PMIX_NAMESPACE=job-{p}",
    "srun": "SLURM_PROCID={r} SLURM_STEP_NUM_TASKS={n} SLURM_LOCALID={r} SLURM_STEP_NODELIST=localhost SLURM_JOB_ID={p} SLURM_STEP_ID=0",
}
CASES = [
    ("mlp", 2, "tensor", [], "torchrun"),
    ("lenet", 4, "channel", [], "mpirun"),
    ("gpt2-uneven", 2, "layer", ["--micro-batches", "2"], "srun"),
    ("mlp-uneven", 4, "data", [], "torchrun"),
]


def start_mpirun(stem, ranks, arguments):
    """Open MPI wants to be told that it may run as root, and more ranks than cores."""
    allowed = {f"OMPI_{name}": "1" for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe")}
    done = subprocess.run(
        ["mpirun", "-n", str(ranks), stem, *arguments], env={**os.environ, **allowed}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
    )
    return [done.returncode], [done.stdout]


def start(stem, launcher, ranks, arguments):
    """The exit codes and what the processes said."""
    if launcher == "mpirun itself":
        return start_mpirun(stem, ranks, arguments)
    port = random.randint(20000, 50000)
    processes = []
    for rank in range(ranks):
        variables = dict(pair.split("=") for pair in LAUNCHERS[launcher].format(r=rank, n=ranks, p=port).split())
        processes.append(
            subprocess.Popen([stem, *arguments], env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        )
    texts = [process.communicate(timeout=300)[0] for process in processes]
    return [process.returncode for process in processes], texts


def attempt(case, work):
    model, ranks, strategy, options, launcher = case
    folder, stem = os.path.join(SMALL, model), os.path.join(work, f"{model}.{ranks}.{launcher.replace(' ', '-')}")
    file = os.path.join(folder, "model.onnx")
    flags = ["--target", "emulated", "--ranks", str(ranks), "--strategy", strategy, *options]
    code, log = run([find_tool(), "compile", file, "-o", stem, "--weights", file, *flags])
    if code:
        return f"compile ended with {code}: {log[-400:]}"
    inputs = ["--inputs", os.path.join(folder, "inputs.npz"), "--repeat", "4"]
    code, log = run([stem, *inputs, "--outputs", stem + ".alone.npz"])
    if code:
        return f"alone it ended with {code}: {log[-400:]}"
    codes, texts = start(stem, launcher, ranks, [*inputs, "--outputs", stem + ".npz", "--json", stem + ".json"])
    if any(codes):
        return f"joined it ended with {codes}: {texts}"
    with np.load(stem + ".alone.npz") as alone, np.load(stem + ".npz") as joined:
        for name in alone:
            if alone[name].tobytes() != joined[name].tobytes():
                return f"output '{name}' differs from that of a run alone"
    with open(stem + ".json") as report:
        bytes_sent = json.load(report)["bytes_sent"]
    quiet = [rank for rank, sent in enumerate(bytes_sent) if sent == 0]
    return f"the report says that ranks {quiet} sent nothing" if strategy != "data" and len(quiet) == ranks else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    end_without(SMALL)
    cases = CASES + ([("mlp", 2, "tensor", [], "mpirun itself")] if shutil.which("mpirun") else [])
    failed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        for case, message in zip(cases, pool.map(lambda case: attempt(case, work), cases)):
            name = f"{case[0]} x{case[1]} {case[2]} under {case[4]}"
            print(f"FAIL: {name}: {message}" if message else f"ok: {name}", flush=True)
            failed += bool(message)
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
