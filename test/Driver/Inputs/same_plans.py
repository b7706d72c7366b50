"""Plans small models on one core and on all, and prints which plan files differ in any byte.

    python same_plans.py FOLDER

Each request is planned without a limit of memory and with shares of what that plan holds. Where a limit leaves no plan the
message must be the same. The search has as many threads as it may use cores. The last line counts: "N same, N differ".
"""

import json
import os
import subprocess
import sys

from autopar import find_tool, models

MODELS = {
    "mlp": dict(),
    "convnet": dict(layers=1),
    "gpt2": dict(batch=4, sequence=32, layers=1, hidden=64, heads=4, vocabulary=256, positions=32),
    "llama": dict(batch=4, sequence=32, layers=1, hidden=64, heads=4, groups=2, inner=128, vocabulary=256),
}
GPUS, PIPELINE = ["--cluster", "2x4:a100-80gb@25"], ["--cluster", "2x2:cpu", "--strategy", "layer,auto"]
REQUESTS = [  # the model, options, shares of memory
    ("mlp", ["--cluster", "1x6:cpu"], [0.05]),
    ("mlp", PIPELINE, [0.9]),
    ("convnet", PIPELINE, [0.9]),
    ("gpt2", GPUS, [0.9]),
    ("gpt2", PIPELINE, [0.9]),
    ("llama", GPUS, [0.9]),
    ("llama", PIPELINE, [0.9]),
]


def plan(command, cores):
    """The plan file's bytes, or the message."""
    done = subprocess.run([*command, "--json", "-"], capture_output=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    return done.stdout if done.returncode == 0 else done.stderr


def compare(command):
    """The plan on all cores, and whether it is the same on one."""
    cores = os.sched_getaffinity(0)
    many, one = plan(command, cores), plan(command, {min(cores)})
    if many != one:
        print(f"differs on one core: {' '.join(command[1:])}")
    return many, many == one


def check(folder):
    for maker, sizes in MODELS.items():
        models.MAKERS[maker](os.path.join(folder, maker), **sizes)
    for maker, options, shares in REQUESTS:
        command = [find_tool(), "plan", os.path.join(folder, maker, "model.onnx"), *options]
        free, same = compare(command)
        yield same
        held = json.loads(free)["predicted_peak_memory_bytes"]
        for share in shares:
            yield compare([*command, "--memory-limit", str(int(share * held))])[1]


results = list(check(sys.argv[1]))
print(f"{sum(results)} same, {len(results) - sum(results)} differ")
