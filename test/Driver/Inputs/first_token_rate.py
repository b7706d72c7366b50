"""PLAN.json LEAST MOST SIZES...: the rate of a Llama's plan, in TF/s per device: the graph's multiplications and additions of matrix
products over predicted seconds and devices. Fails outside LEAST to MOST."""

import json
import math
import sys

plan = json.load(open(sys.argv[1]))
least, most = float(sys.argv[2]), float(sys.argv[3])
size = {key: int(value) for key, value in (option.split("=") for option in sys.argv[4:])}
tokens, hidden = size["sequence"], size["hidden"]
keys = hidden // size["heads"] * size["groups"]
weights = size["layers"] * (2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * size["inner"]) + hidden * size["vocabulary"]
attention = size["layers"] * 2 * tokens * tokens * hidden
devices = math.prod(axis["size"] for axis in plan["mesh"])
rate = 2 * (tokens * weights + attention) / plan["predicted_step_seconds"] / devices / 1e12
print(f"{rate:.0f} TF/s a device, {'as measured' if least <= rate <= most else f'not within {least:.0f} to {most:.0f}'}")
sys.exit(not least <= rate <= most)
