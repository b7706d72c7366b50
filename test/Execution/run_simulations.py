"""Measures steps of programs against those that `autopar simulate` replays of their plans, on the processors of this host.

    python test/Execution/run_simulations.py [--device FILE] [--only TEXT] [--repeat K]

20 runs on 2 and 4 ranks of models that the repository makes itself, of some 20 ms a step and more: split by data and weights,
pipelines of 2 to 8 micro-batches, and both. FILE describes a core as `autopar calibrate` does, by which the host is measured
if there is none; the host should do nothing else. Where ranks are more than cores, each gets its share of a core. A line for
each run: the median step, the simulated one and their ratio; of the step the share in which a rank waits, the mean of all
ranks, measured and simulated. The last line counts those that are near. It is no test: only a run that ends with an error
makes the exit code 1.
"""

import argparse
import json
import os
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool, models  # noqa: E402
from programs import error_of  # noqa: E402

NEAR_STEP, NEAR_IDLE = 0.2, 0.1
MODELS = {
    "mlp": lambda folder: models.mlp(folder, batch=256, sizes=(1024, 2048, 2048, 2048, 1024)),
    "gpt2": lambda folder: models.gpt2(folder, batch=8, sequence=64, layers=4, hidden=384, heads=6, vocabulary=2048, positions=64),
    "llama": lambda folder: models.llama(folder, batch=8, sequence=64, layers=4, hidden=384, heads=6, groups=2, inner=1024, vocabulary=2048),
    "convnet": lambda folder: models.convnet(folder, batch=8, channels=64, size=64, layers=4),
}
CASES = [
    ("mlp", 2, "data", "data=2", 1),
    ("mlp", 2, "tensor", "tensor=2", 1),
    ("mlp", 2, "layer", "layer=2", 2),
    ("mlp", 2, "layer", "layer=2", 8),
    ("mlp", 4, "data,tensor", "data=2,tensor=2", 1),
    ("mlp", 4, "layer,data", "layer=2,data=2", 4),
    ("gpt2", 2, "data", "data=2", 1),
    ("gpt2", 2, "tensor", "tensor=2", 1),
    ("gpt2", 2, "layer", "layer=2", 2),
    ("gpt2", 2, "layer", "layer=2", 4),
    ("gpt2", 2, "layer", "layer=2", 8),
    ("gpt2", 4, "data,tensor", "data=2,tensor=2", 1),
    ("gpt2", 4, "layer,tensor", "layer=2,tensor=2", 4),
    ("gpt2", 4, "layer", "layer=4", 8),
    ("llama", 2, "tensor", "tensor=2", 1),
    ("llama", 2, "layer", "layer=2", 4),
    ("llama", 4, "layer,data", "layer=2,data=2", 2),
    ("convnet", 2, "data", "data=2", 1),
    ("convnet", 2, "spatial", "spatial=2", 1),
    ("convnet", 2, "layer", "layer=2", 4),
]


def write_cluster(device, ranks, path):
    """So many ranks of the device on one node, which share this host's cores."""
    with open(device) as file:
        cluster = json.load(file)
    cluster["nodes"] = [{"type": cluster["nodes"][0]["type"], "devices": ranks, "cores": len(os.sched_getaffinity(0))}]
    with open(path, "w") as file:
        json.dump(cluster, file)


def execute(*command):
    if error := error_of(*command, timeout=600):
        raise RuntimeError(error)


def measure(folder, work, device, case, repeat):
    """The report of the program's run, and the simulation of its plan."""
    _, ranks, strategy, mesh, micro_batches = case
    path = {name: os.path.join(work, name) for name in ("cluster.json", "plan.json", "program", "report.json", "simulated.json")}
    model, tool = os.path.join(folder, "model.onnx"), find_tool()
    write_cluster(device, ranks, path["cluster.json"])
    cut = ["--micro-batches", str(micro_batches)] if "layer" in strategy else []
    execute(tool, "compile", model, "--cluster", path["cluster.json"], "--strategy", strategy, "--mesh", mesh, *cut,
            "--save-plan", path["plan.json"], "-o", path["program"])
    execute(tool, "simulate", path["plan.json"], "--model", model, "--json", path["simulated.json"])
    execute(path["program"], "--weights", folder, "--inputs", os.path.join(folder, "inputs.npz"), "--threads", "1", "--warm-up", "3",
            "--repeat", str(repeat), "--json", path["report.json"])
    with open(path["report.json"]) as report, open(path["simulated.json"]) as simulated:
        return json.load(report), json.load(simulated)


def row_of(report, simulated):
    """Seconds of a step and shares of it that ranks wait, each measured and simulated."""
    seconds = report["seconds_per_step"]["median"], simulated["step_seconds"]
    waits = report["idle_seconds"], [stage["idle_seconds"] for stage in simulated["stages"]]
    return seconds, [sum(wait) / len(wait) / whole for wait, whole in zip(waits, seconds)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--device", metavar="FILE", help="what autopar calibrate wrote (default: it is run)")
    arguments.add_argument("--only", default="", metavar="TEXT", help="runs whose name holds this text")
    arguments.add_argument("--repeat", type=int, default=20, help="measured steps of each run")
    options = arguments.parse_args()
    done = failed = near_steps = near_waits = 0
    with tempfile.TemporaryDirectory() as work:
        device = options.device or os.path.join(work, "host.json")
        if not options.device:
            execute(find_tool(), "calibrate", "--target", "cpu", "-o", device)
        print(f"{'run':38}{'step ms':>10}{'simulated':>11}{'ratio':>7}{'waits':>8}{'simulated':>11}")
        for case in CASES:
            model, ranks, strategy, _, micro_batches = case
            name = f"{model} x{ranks} {strategy}" + (f", {micro_batches} micro-batches" if "layer" in strategy else "")
            if options.only not in name:
                continue
            folder = os.path.join(work, model)
            if not os.path.exists(folder):
                MODELS[model](folder)
            try:
                seconds, waits = row_of(*measure(folder, work, device, case, options.repeat))
            except RuntimeError as error:
                failed += 1
                print(f"{name:38}error: {error}", flush=True)
                continue
            ratio = seconds[1] / seconds[0]
            done += 1
            near_steps += abs(ratio - 1) <= NEAR_STEP
            near_waits += abs(waits[1] - waits[0]) <= NEAR_IDLE
            print(f"{name:38}{1e3 * seconds[0]:>10.2f}{1e3 * seconds[1]:>11.2f}{ratio:>7.2f}{waits[0]:>8.2f}{waits[1]:>11.2f}", flush=True)
    print(f"{done} runs: {near_steps} steps within {NEAR_STEP:.0%}, {near_waits} waits within {NEAR_IDLE}; {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
