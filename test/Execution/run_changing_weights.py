"""Weights that another process changes while ranks load them, and while they are compiled in.

    python test/Execution/run_changing_weights.py AUTOPAR FOLDER

Each matrix of a chain scales by one number, so that a result tells whether all matrices are of one file. Whenever the change comes, an executable computes
with one file's weights or ends with an error that names the file. The last line counts: "N passed, N failed, 0 skipped".
"""

import collections
import os
import random
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, COUNT, RUNS = 512, 24, 12  # 24 MiB


def model(factor, packed=False):
    """y = factor^COUNT x, with the numbers as raw bytes or packed as floats."""
    values = np.full((WIDTH, WIDTH), factor / WIDTH, np.float32)
    weights = [numpy_helper.from_array(values, f"w{i}") if not packed else
               TensorProto(name=f"w{i}", dims=values.shape, data_type=TensorProto.FLOAT, float_data=values.ravel()) for i in range(COUNT)]
    names = ["x", *(f"t{i}" for i in range(1, COUNT)), "y"]
    nodes = [helper.make_node("MatMul", [names[i], f"w{i}"], [names[i + 1]]) for i in range(COUNT)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, WIDTH]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def overwrite(path, data):
    with open(path, "r+b") as file:
        file.write(data)


def replace(path, data):
    write(path + ".new", data)
    os.rename(path + ".new", path)


def cut(path, _):
    os.truncate(path, 5000)


class Trial:
    def __init__(self, autopar, folder):
        self.autopar, self.folder, self.random = autopar, folder, random.Random(5)
        self.model, self.inputs, self.outputs = (os.path.join(folder, name) for name in ("model.onnx", "in.npz", "out.npz"))
        np.savez(self.inputs, x=np.ones((4, WIDTH), np.float32))

    def outcome(self, process, path):
        """What the process did, and whether that is right."""
        error = process.communicate(timeout=120)[1].decode(errors="replace")
        if process.returncode:
            named = process.returncode < 100 and path in error
            return ("refused" if named else f"code {process.returncode}: {error[:300]}"), named
        with np.load(self.outputs) as outputs:
            factors = np.unique(np.round(np.log2(outputs["y"]) / COUNT, 3))
        return f"factor 2^{factors}", len(factors) == 1 and factors[0] in (0, 1)

    def run(self, command, path, good, change, other, delay):
        write(path, good)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(self.random.uniform(0, delay))
        change(path, other)
        return self.outcome(process, path)

    def executable(self, name, weights=()):
        return [os.path.join(self.folder, name), "--inputs", self.inputs, "--outputs", self.outputs, *weights]

    def compile(self, name, *options):
        return [self.autopar, "compile", self.model, "--ranks", "2", "-o", os.path.join(self.folder, name), *options]


def report(name, runs):
    outcomes = collections.Counter(text for text, _ in runs)
    right = all(good for _, good in runs)
    print(f"{'ok' if right else 'FAIL'}: {name}: {dict(outcomes)}", flush=True)
    return right


def main():
    trial = Trial(*sys.argv[1:3])
    one, two, packed = model(1), model(2), model(1, packed=True)
    write(trial.model, one)
    subprocess.run(trial.compile("exe"), check=True, capture_output=True)
    begun = time.monotonic()
    subprocess.run(trial.executable("exe"), check=True, capture_output=True)
    delay = time.monotonic() - begun
    results = []
    for change in (overwrite, replace, cut):
        runs = [trial.run(trial.executable("exe"), trial.model, one, change, two, delay) for _ in range(RUNS)]
        results.append(report(f"compiled weights, {change.__name__}", runs))
    write(trial.model, one)
    given = os.path.join(trial.folder, "packed.onnx")
    runs = [trial.run(trial.executable("exe", ("--weights", given)), given, packed, cut, None, delay) for _ in range(RUNS)]
    results.append(report("--weights of packed numbers, cut", runs))
    command = trial.compile("embedded", "--embed-weights")
    begun = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    delay = time.monotonic() - begun
    subprocess.run(trial.executable("embedded"), check=True, capture_output=True)  # the output of a compilation that succeeds
    for change in (overwrite, cut):
        runs = []
        for _ in range(RUNS):
            text, right = trial.run(command, trial.model, one, change, two, delay)
            if text != "refused" and right:
                text, right = trial.outcome(subprocess.Popen(trial.executable("embedded"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE), trial.model)
            runs.append((text, right))
        results.append(report(f"--embed-weights, {change.__name__}", runs))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
