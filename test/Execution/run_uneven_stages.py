"""Measures a pipeline whose stages are as large as their cores are fast, on this host: one rank has a core, two share another.

    python test/Execution/run_uneven_stages.py [--device FILE] [--repeat K] [--rounds N]

The planner is told of a node with a core and of one whose two ranks share a core, and searches freely. Beside its plan runs the best
of three equal stages on the same cores, and the whole model on one core; in turns, each rank held on its core. FILE describes a core as
`autopar calibrate` does, by which the host is measured if there is none; the host should do nothing else. It is no test: only a run
that ends with an error makes the exit code 1.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool, models  # noqa: E402
from programs import error_of  # noqa: E402

NODES = {
    "uneven": [{"devices": 1}, {"devices": 2, "cores": 1}],
    "equal": [{"devices": 3, "cores": 2}],
    "one core": [{"devices": 1}],
}
BETWEEN = {"between": "nodes", "kind": "shared-memory", "GBps": 4, "latency_us": 4}


def execute(*command):
    if error := error_of(*command, timeout=600):
        raise RuntimeError(error)


def make_program(model, work, device, name):
    """Plans and compiles for the nodes of that name; the program and its plan."""
    path = {kind: os.path.join(work, f"{name}.{kind}".replace(" ", "-")) for kind in ("json", "plan", "program")}
    with open(device) as file:
        cluster = json.load(file)
    cluster["nodes"] = [{"type": cluster["nodes"][0]["type"], **node} for node in NODES[name]]
    cluster["links"] = [BETWEEN]
    with open(path["json"], "w") as file:
        json.dump(cluster, file)
    stages = ["--strategy", "layer"] if name == "equal" else []
    execute(find_tool(), "compile", model, "--cluster", path["json"], *stages, "--save-plan", path["plan"], "-o", path["program"])
    with open(path["plan"]) as file:
        return path["program"], json.load(file)


def measure(program, folder, ranks, cores, repeat):
    """The median of the program's steps, with its first rank on the first core and the others on the second."""
    report = program + ".report"
    run = subprocess.Popen([program, "--weights", folder, "--inputs", os.path.join(folder, "inputs.npz"), "--threads", "1",
                            "--warm-up", "5", "--repeat", str(repeat), "--json", report], stdout=subprocess.DEVNULL)
    deadline, pids = time.monotonic() + 10, []
    while len(pids) < ranks and ranks > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
        with open(f"/proc/{run.pid}/task/{run.pid}/children") as file:
            pids = sorted(map(int, file.read().split()))
    for number, pid in enumerate(pids):
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(thread), {cores[min(number, 1)]})
    if code := run.wait(timeout=600):
        raise RuntimeError(f"{program} ended with {code}")
    with open(report) as file:
        return json.load(file)["seconds_per_step"]["median"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--device", metavar="FILE", help="what autopar calibrate wrote (default: it is run)")
    arguments.add_argument("--repeat", type=int, default=15, help="measured steps of each run")
    arguments.add_argument("--rounds", type=int, default=3, help="runs of each program")
    options = arguments.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("two cores are needed, here is one")
    with tempfile.TemporaryDirectory() as work:
        device = options.device or os.path.join(work, "host.json")
        if not options.device:
            execute(find_tool(), "calibrate", "--target", "cpu", "-o", device)
        folder = os.path.join(work, "model")
        models.gpt2(folder, batch=24, layers=12, hidden=384, heads=6, vocabulary=2048, sequence=64, positions=64)
        programs = {name: make_program(os.path.join(folder, "model.onnx"), work, device, name) for name in NODES}
        medians = {name: [] for name in NODES}
        for _ in range(options.rounds):
            for name, (program, _) in programs.items():
                ranks = sum(node["devices"] for node in NODES[name])
                medians[name].append(measure(program, folder, ranks, cores, options.repeat))
        print(f"{'stages':12}{'predicted ms':>14}{'step ms':>10}")
        for name, (_, plan) in programs.items():
            print(f"{name:12}{1e3 * plan['predicted_step_seconds']:>14.1f}{1e3 * statistics.median(medians[name]):>10.1f}")
        uneven, equal, one = (statistics.median(medians[name]) for name in NODES)
        print(f"uneven stages are {equal / uneven:.2f} times as fast as equal ones, {one / uneven:.2f} times as fast as one core")


if __name__ == "__main__":
    sys.exit(main())
