"""Compares the simulated step of plans for clusters of several types with those for the nodes of each type.

    against_parts.py TOOL MODEL CLUSTER.json...

A line for each cluster; the exit code is 1 where a part does better than the whole.
"""

import json
import os
import subprocess
import sys

tool, model, *clusters = sys.argv[1:]


def simulated_seconds(cluster):
    plan, replay = cluster + ".plan", cluster + ".replay"
    subprocess.run([tool, "plan", model, "--cluster", cluster, "--json", plan], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tool, "simulate", plan, "--model", model, "--json", replay], check=True, stdout=subprocess.DEVNULL)
    with open(replay) as file:
        return json.load(file)["step_seconds"]


slower = False
for name in clusters:
    whole, parts = simulated_seconds(name), []
    with open(name) as file:
        cluster = json.load(file)
    for number, node in enumerate(cluster["nodes"]):
        part = f"{name}.{number}.json"
        with open(part, "w") as file:
            json.dump({**cluster, "nodes": [node]}, file)
        seconds = simulated_seconds(part)
        slower |= whole > seconds * (1 + 1e-9)
        parts.append((seconds, f"{node['devices']} x {node['type']}"))
    verdict = "no slower than" if whole <= min(parts)[0] * (1 + 1e-9) else "slower than one of"
    print(f"{os.path.basename(name)}: {whole * 1e6:.1f} us {verdict} {', '.join(text for _, text in parts)}: "
          f"{', '.join(f'{seconds * 1e6:.1f} us' for seconds, _ in parts)}")
sys.exit(slower)
