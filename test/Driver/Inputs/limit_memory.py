"""Compilations with too little memory: python limit_memory.py AUTOPAR FOLDER

From the least address space in which the compiler starts at all, up to what a compilation needs: each ends with exit code 0, or with 1 and a message of what
was being done. The last line counts runs: "N of M runs ran out of memory and said so, N failed".
"""

import os
import re
import resource
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

STEP = 16 << 20
NODES = 20000


def write_model(path):
    names = ["x", *(f"t{i}" for i in range(1, NODES)), "y"]
    nodes = [helper.make_node("Relu" if i % 2 else "Neg", [names[i]], [names[i + 1]]) for i in range(NODES)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "chain", ports[:1], ports[1:])
    with open(path, "wb") as file:
        file.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]).SerializeToString())


def run(command, limit):
    def restrict():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.run(command, capture_output=True, text=True, errors="replace", preexec_fn=restrict)


def main():
    autopar, folder = sys.argv[1:]
    model = os.path.join(folder, "chain.onnx")
    write_model(model)
    command = [autopar, "plan", model, "--ranks", "2", "--json", os.path.join(folder, "plan.json")]
    limit = STEP
    while run([autopar, "--version"], limit).returncode:
        limit += STEP
    told = failed = runs = 0
    while True:
        done = run(command, limit)
        runs += 1
        if done.returncode == 0:
            break
        # The allocator may say on a line before it what it could not give.
        said = done.returncode == 1 and re.search("^autopar: error: (memory ran out|the system refused a thread) while ", done.stderr, re.MULTILINE)
        told, failed = told + bool(said), failed + (not said)
        if not said:
            print(f"{limit >> 20} MiB: exit code {done.returncode}: {done.stderr[:400]}")
        limit += STEP
    print(f"{told} of {runs} runs ran out of memory and said so, {failed} failed")
    return int(failed > 0 or told == 0)


if __name__ == "__main__":
    sys.exit(main())
