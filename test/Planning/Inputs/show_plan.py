"""Prints a plan file as lines to check: mesh, stages, step, what each op and parameter does, collectives.

    python show_plan.py PLAN.json

`op up: x split 0`, `tensor up.w: [] [x]` (mesh axes of each dimension), `all_reduce x: 2 of 16384 bytes, 5.28 us`.
"""

import json
import sys


def choices(strategy):
    """An axis whose sub-axes do the same is named once."""
    axes = {}
    for name, choice in sorted(strategy.items()):
        axes.setdefault(name.split(".")[0], []).append((name, choice))
    texts = []
    for axis, items in axes.items():
        same = len({choice for _, choice in items}) == 1
        texts += [f"{axis} {items[0][1]}"] if same else [f"{name} {choice}" for name, choice in items]
    return ", ".join(texts) or "nothing"


with open(sys.argv[1]) as file:
    plan = json.load(file)
print("mesh", *(f"{axis['axis']}={axis['size']}" for axis in plan["mesh"]))
print(f"{plan['stages']} stages, {plan['micro_batches']} micro-batches")
print(f"step {1e6 * plan['predicted_step_seconds']:.1f} us, {plan['predicted_peak_memory_bytes'] / 1024:.0f} KiB")
for name, op in sorted(plan["ops"].items()):
    stage = f" stage {op['stage']}" if plan["stages"] > 1 else ""
    print(f"op {name}:{stage} {choices(op['strategy'])}")
for name, tensor in sorted(plan["tensors"].items()):
    print(f"tensor {name}:", *(f"[{' '.join(axes)}]" for axes in tensor["dims"]))
for item in plan["collectives"]:
    axes = " ".join([item["kind"], *item["axis"]])
    print(f"{axes}: {item['count']} of {item['bytes']} bytes, {1e6 * item['seconds']:.2f} us")
