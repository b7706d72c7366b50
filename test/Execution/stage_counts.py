"""Compares the stages and micro-batches that `auto` chooses with the best of all that can be asked for.

A line for each cluster; the exit code is 1 where something that can be asked for is faster than what `auto` found.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tool", help="the compiler, build/bin/autopar")
parser.add_argument("model", help="an ONNX model")
parser.add_argument("clusters", nargs="+", metavar="CLUSTER[/LIMIT]", help="a cluster, and the memory of a device of it")
request = parser.parse_args()
ASKED = ("auto", "layer", "layer,auto", "layer,auto,auto")


def plan_of(cluster, strategy):
    """Seconds, stages and micro-batches of the plan, or None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan.json")
        name, _, limit = cluster.partition("/")
        limits = ["--memory-limit", limit] if limit else []
        asked = ["--cluster", name, *limits, "--strategy", strategy, "--json", path]
        done = subprocess.run([request.tool, "plan", request.model, *asked], capture_output=True)
        if done.returncode:
            return None
        with open(path) as file:
            plan = json.load(file)
        return plan["predicted_step_seconds"], plan["stages"], plan["micro_batches"]


missed = 0
for cluster in request.clusters:
    plans = {strategy: plan for strategy in ASKED if (plan := plan_of(cluster, strategy))}
    if "auto" not in plans:
        missed += len(plans) > 0
        print(f"{cluster}: no plan by auto")
        continue
    seconds, stages, batches = plans["auto"]
    best = min(plan[0] for plan in plans.values())
    missed += seconds > best * (1 + 1e-9)
    others = ", ".join(f"{name} {plan[0] * 1e6:.1f} us with {plan[1]} and {plan[2]}" for name, plan in plans.items() if name != "auto")
    print(f"{cluster}: {seconds * 1e6:.1f} us with {stages} stages and {batches} micro-batches; {others}")
sys.exit(missed > 0)
