"""The costs of streaming samples, printed: a training on shards larger than memory allows, its memory and its steps beside those of a run from memory.

    python test/Execution/measure_shards.py TOOL FOLDER [--gigabytes 10] [--runs 5]

A convolutional net on images of 3x64x64. One epoch over all shards on 1, 2, 3 and 4 ranks, shuffled: the most resident memory of all processes without the page cache, and whether all
losses are those of the same steps on one rank within rounding. Then 300 steps on the rows of one shard, and the same from memory, alternating: medians of the steps' seconds. That is done
with the same net and with one of four times as many channels: the first reads some 200 MB of images a second on two cores, which is more than most nets do on such a host.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
from onnx import TensorProto, helper

from programs import error_of
from run_checkpoints import children
from training_runs import arguments_of_tool, write_model

BATCH, SHAPE, ROWS = 32, (3, 64, 64), 2048  # rows of a shard: 96 MiB


def write_net(folder, width=16):
    draw = np.random.Generator(np.random.PCG64(1))
    weights = {"k0": draw.standard_normal((width, 3, 5, 5)).astype(np.float32) / 9, "k1": draw.standard_normal((2 * width, width, 3, 3)).astype(np.float32) / 12,
               "w": draw.standard_normal((2 * width, 10)).astype(np.float32) / 6, "b": np.zeros(10, np.float32)}
    nodes = [helper.make_node("Conv", ["x", "k0"], ["c0"], strides=[2, 2], name="conv0"), helper.make_node("Relu", ["c0"], ["r0"], name="relu0"),
             helper.make_node("Conv", ["r0", "k1"], ["c1"], strides=[2, 2], name="conv1"), helper.make_node("Relu", ["c1"], ["r1"], name="relu1"),
             helper.make_node("GlobalAveragePool", ["r1"], ["p"], name="pool"), helper.make_node("Flatten", ["p"], ["f"], name="flatten"),
             helper.make_node("Gemm", ["f", "w", "b"], ["y"], name="head")]
    write_model(folder, nodes, {"x": (TensorProto.FLOAT, [BATCH, *SHAPE])}, {"y": (TensorProto.FLOAT, [BATCH, 10])}, weights)
    with open(os.path.join(folder, "recipe.json"), "w") as file:
        json.dump({"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "sgd", "lr": 1e-2}}, file)


def write_shards(folder, count):
    os.makedirs(folder, exist_ok=True)
    draw = np.random.Generator(np.random.PCG64(2))
    images = draw.standard_normal((ROWS, *SHAPE), dtype=np.float32)
    for number in range(count):
        images[:, 0, 0, 0] = number
        np.savez(os.path.join(folder, f"part-{number:05}.npz"), x=images, labels=draw.integers(0, 10, ROWS))
    return images.nbytes * count


def own_memory(pid):
    """Resident bytes without the page cache."""
    try:
        with open(f"/proc/{pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        return sum(int(fields[name].split()[0]) for name in ("RssAnon", "RssShmem")) << 10
    except (OSError, KeyError):
        return 0


def watched(*command):
    """Runs it; the most own memory of it and its ranks. Pages that a rank shares with its launcher count twice."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = 0
    while process.poll() is None:
        most = max(most, sum(map(own_memory, [process.pid, *children(process.pid)])))
        time.sleep(0.02)
    assert process.returncode == 0, process.stderr.read()
    return most


def log_of(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def compile_net(options, path, ranks):
    program = path(f"program{ranks}")
    error = error_of(options.tool, "compile", path("model.onnx"), "-o", program, "--train", path("recipe.json"), "--ranks", str(ranks))
    assert not error, error
    return program


def measure_steps(options, path, width, ranks):
    seconds = {"memory": [], "shards": []}
    for _ in range(options.runs):
        for name, data in (("memory", path("steps.npz")), ("shards", path("one"))):
            error = error_of(path(f"program{ranks}"), "--data", data, "--steps", "300", "--log", path("log.jsonl"))
            assert not error, error
            seconds[name].append(statistics.median(line["seconds"] for line in log_of(path("log.jsonl"))))
    memory, shards = (statistics.median(values) for values in seconds.values())
    spread = max((max(values) - min(values)) / statistics.median(values) for values in seconds.values())
    print(f"{width} channels, {ranks} ranks: a step of {memory * 1e3:.3f} ms from memory, {shards * 1e3:.3f} ms from shards: {shards / memory:.3f} (spread {spread:.3f})", flush=True)


def main():
    arguments = arguments_of_tool(__doc__)
    arguments.add_argument("--gigabytes", type=float, default=10)
    arguments.add_argument("--runs", type=int, default=5)
    options = arguments.parse_args()

    def path(name):
        return os.path.join(options.folder, name)
    os.makedirs(options.folder, exist_ok=True)
    write_net(options.folder)
    size = ROWS * int(np.prod(SHAPE)) * 4
    count = max(int(options.gigabytes * 1e9 / size), 1)
    total = write_shards(path("shards"), count)
    print(f"{total / 1e9:.2f} GB in {count} shards", flush=True)
    losses = []
    for ranks in (1, 2, 3, 4):
        program = compile_net(options, path, ranks)
        begun = time.monotonic()
        most = watched(program, "--data", path("shards"), "--shuffle", "1", "--steps", str(count * ROWS // BATCH), "--log", path("log.jsonl"))
        losses.append([line["loss"] for line in log_of(path("log.jsonl"))])
        furthest = max(abs(one - other) / abs(one) for one, other in zip(losses[0], losses[-1]))
        print(f"{ranks} ranks: an epoch of {len(losses[-1])} steps in {time.monotonic() - begun:.0f} s, {most / 1e6:.0f} MB at most, losses differ from one rank's by {furthest:.1e}", flush=True)
    write_shards(path("one"), 1)
    with np.load(os.path.join(path("one"), "part-00000.npz")) as arrays:
        steps = ROWS // BATCH
        np.savez(path("steps.npz"), **{name: arrays[name].reshape(steps, BATCH, *arrays[name].shape[1:]) for name in arrays})
    for width in (16, 64):
        write_net(options.folder, width)
        for ranks in (1, 2):
            compile_net(options, path, ranks)
            measure_steps(options, path, width, ranks)


if __name__ == "__main__":
    sys.exit(main())
