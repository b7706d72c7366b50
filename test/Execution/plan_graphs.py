"""Plans and partitions full-size graphs without weights, within limits of time and memory; and shows that the IR stays flat.

    python test/Execution/plan_graphs.py [--sample] [--graphs TEXT] [--clusters SPEC ...] [--strategy S]
                                       [--seconds S] [--gigabytes G]

For each graph of ../shared/models/graphs and each cluster one line: seconds of import, plan and partition as the compiler tells
them, of the whole, and of the processor (all threads together: it is these that the limit counts, since a busy machine
does not change them), peak resident memory, the plan (mesh, step, certified gap, predicted memory of a device). Stages must
send each other what the plan foretells. Then the size of gpt3-175b's IR after `schedule`, and for models of 12 and of 96 layers
the number of functions after `lower`, which must be equal; and the processor's seconds to plan for 64 and for 16,384 devices,
at most 12 times as many. Without the shared graphs only the layers are counted (a failure with AUTOPAR_REQUIRE_SHARED=1). The
last line counts: "N passed, N failed, N skipped".
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool, models  # noqa: E402
from shared_models import GRAPHS, REQUIRED, absence_of  # noqa: E402

CLUSTERS = ["8x8:a100-80gb", "8x8:h100-80gb", "128x8:h100-80gb"]
SAMPLE = {"bert-base": CLUSTERS, "gpt3-175b": CLUSTERS[1:2], "dlrm-click-logs": CLUSTERS[:1], "resnet50": CLUSTERS[2:]}
PHASES = ("import", "training", "plan", "partition", "schedule")
SCHEDULE_MEGABYTES = 30
FEW_AND_MANY, MOST_GROWTH = ("8x8:h100-80gb", "2048x8:h100-80gb"), 12  # of the processor's time
SMALL = {
    "gpt2": dict(batch=2, sequence=16, hidden=32, heads=2, vocabulary=64, positions=16),
    "llama": dict(batch=2, sequence=16, hidden=32, heads=4, groups=2, inner=48, vocabulary=64),
    "convnet": dict(batch=2),
}


def measure(command, limit):
    """Exit code, seconds, seconds of the processor, peak bytes, stderr."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(["timeout", str(limit), *command], stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode()
    return child.returncode, time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text


def describe(plan):
    mesh = ",".join(f"{a['axis']}={a['size']}" for a in plan["mesh"])
    stages = f" {plan['stages']} stages" if plan["stages"] > 1 else ""
    return (f"{mesh}{stages} step {plan['predicted_step_seconds']:.4g} s gap {100 * plan['gap']:.2f}% "
            f"{plan['predicted_peak_memory_bytes'] / 2**30:.1f} GiB")


def missed_sends(plan, ir):
    """What the partitioned step sends and the plan does not foretell, or the other way round; empty if they agree."""
    with open(ir) as file:
        sends = plan["micro_batches"] * sum(line.lstrip().startswith("autopar.send ") for line in file)
    foretold = sum(item["count"] for item in plan["collectives"] if item["kind"] == "send")
    return "" if sends == foretold else f"the step sends {sends} messages, the plan foretells {foretold}"


def plan_graph(tool, path, cluster, options):
    """Whether the graph was planned and partitioned within the limits, and the table's columns."""
    with tempfile.TemporaryDirectory() as work:
        kept, ir = os.path.join(work, "plan.json"), os.path.join(work, "ir")
        command = [tool, "compile", path, "--cluster", cluster, "--strategy", options.strategy, "--stop-after", "partition",
                   "-o", ir, "--verbose", "--json", kept]
        code, seconds, busy, peak, text = measure(command, 20 * options.seconds)
        phases = [re.search(rf"{phase} +([0-9.]+) s", text) for phase in PHASES[:-1]]
        columns = [f"{float(m.group(1)):6.2f}" if m else "     -" for m in phases] + [f"{s:6.2f}" for s in (seconds, busy)]
        columns.append(f"{peak / 2**20:6.0f}")
        if code:
            return False, columns, text.strip().splitlines()[-1][-300:] if text.strip() else f"exit code {code}"
        with open(kept) as file:
            plan = json.load(file)
        what = describe(plan)
        if missed := missed_sends(plan, ir):
            return False, columns, f"{missed}: {what}"
    if busy > options.seconds or peak > options.gigabytes * 2**30:
        return False, columns, "over the limit: " + what
    return True, columns, what


def schedule_size(tool, path):
    """Megabytes of the IR after `schedule`."""
    with tempfile.TemporaryDirectory() as work:
        ir = os.path.join(work, "ir")
        done = subprocess.run([tool, "compile", path, "--cluster", CLUSTERS[1], "--stop-after", "schedule", "-o", ir],
                              capture_output=True, text=True)
        return os.path.getsize(ir) / 2**20 if done.returncode == 0 else done.stderr.strip()[-300:]


def function_count(tool, maker, layers, ranks, strategy):
    """Functions after `lower` of a small model of so many layers."""
    with tempfile.TemporaryDirectory() as work:
        models.MAKERS[maker](work, layers=layers, **SMALL[maker])
        ir = os.path.join(work, "ir")
        done = subprocess.run([tool, "compile", os.path.join(work, "model.onnx"), "--ranks", str(ranks), "--strategy", strategy,
                               "--stop-after", "lower", "-o", ir], capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip()[-300:]
        with open(ir) as file:
            return sum("llvm.func" in line and line.rstrip().endswith("{") for line in file)


def plan_graphs(tool, options):
    print(f"{'graph':24} {'cluster':17} import   plan parti-  whole   pro-    MiB  plan")
    print(f"{'':24} {'':17}             tion         cessor   peak")
    for path in sorted(glob.glob(os.path.join(GRAPHS, "*.onnx.gz"))):
        name = os.path.basename(path)[:-len(".onnx.gz")]
        clusters = SAMPLE.get(name, []) if options.sample else options.clusters
        for cluster in clusters if options.graphs in name else []:
            ok, columns, what = plan_graph(tool, path, cluster, options)
            print(f"{name:24} {cluster:17} {' '.join(columns)}  {'' if ok else 'FAIL '}{what}", flush=True)
            yield ok


def check_growth(tool, options):
    path = os.path.join(GRAPHS, "llama-3-8b.onnx.gz")
    if os.path.exists(path) and options.graphs in "llama-3-8b":
        runs = [measure([tool, "plan", path, "--cluster", cluster, "--precision", "bf16"], 20 * options.seconds)
                for cluster in FEW_AND_MANY]
        few, many = (run[2] for run in runs)
        complaints = [run[4].strip()[-300:] for run in runs if run[0]]
        ok = not complaints and many <= MOST_GROWTH * few
        print(f"llama-3-8b on {' and '.join(FEW_AND_MANY)}: {few:.1f} and {many:.1f} s of the processor"
              f"{'' if ok else ' FAIL '}{' '.join(complaints)}", flush=True)
        yield ok


def check_sizes(tool, options):
    path = os.path.join(GRAPHS, "gpt3-175b.onnx.gz")
    if os.path.exists(path) and options.graphs in "gpt3-175b":
        size = schedule_size(tool, path)
        ok = not isinstance(size, str) and size < SCHEDULE_MEGABYTES
        print(f"gpt3-175b after schedule: {size if isinstance(size, str) else f'{size:.1f}'} MiB of {SCHEDULE_MEGABYTES}")
        yield ok
    for maker in SMALL:
        for ranks, strategy in ((1, "auto"), (2, "tensor")) if not options.sample else ((2, "tensor"),):
            few, many = (function_count(tool, maker, layers, ranks, strategy) for layers in (12, 96))
            ok = few == many and not isinstance(few, str)
            print(f"{maker} x{ranks} {strategy}: {few} functions after lower for 12 layers, {many} for 96{'' if ok else ' FAIL'}",
                  flush=True)
            yield ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", nargs="?", help="the compiler (default: the build's)")
    parser.add_argument("--sample", action="store_true", help="a few graphs and clusters of each kind")
    parser.add_argument("--graphs", default="", metavar="TEXT", help="only graphs with this in their name")
    parser.add_argument("--clusters", nargs="+", default=CLUSTERS, metavar="SPEC")
    parser.add_argument("--strategy", default="auto", help="of the plans")
    parser.add_argument("--seconds", type=float, default=60, help="limit of the processor's time for each")
    parser.add_argument("--gigabytes", type=float, default=4, help="limit of resident memory")
    parser.add_argument("--no-sizes", action="store_true", help="leave out the sizes of IR and the growth of plans")
    options = parser.parse_args()
    tool = options.tool or find_tool()
    if absence := absence_of(GRAPHS):
        print(f"{absence}; only layers are counted")
    results = list(plan_graphs(tool, options))
    if not options.no_sizes:
        results += [*check_growth(tool, options), *check_sizes(tool, options)]
    passed = sum(results)
    failed = len(results) - passed + bool(absence and REQUIRED)
    print(f"{passed} passed, {failed} failed, {int(bool(absence and not REQUIRED))} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
