"""Measures how compile time grows with the size of a model, and checks what the programs compute.

    python test/Execution/compile_growth.py [CASE ...] [--scale F] [--targets cpu,emulated] [--cuda] [--seconds S] [--list]

Each case is a model of one parameter n (elements of a padded dimension, entries of a table, nodes of a chain, outputs, inputs of
a Concat, ...). It is compiled at n, 2n, 4n and 8n on one CPU rank; the program at n runs on every target and must give what
onnxruntime gives. The table has the seconds of each size, and the growth: the time at 8n above that at n, over what a linear
compiler would take (8 times). A case fails above 2 (1 is linear), or where n takes more than its limit. --scale multiplies n.
The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from autopar import find_tool  # noqa: E402

MOST_GROWTH = 2
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, outputs, tensors=(), opset=18):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info(*o) for o in outputs],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def pad(mode):
    def make(n):
        low, high = n // 4, n // 8
        return model([helper.make_node("Pad", ["x", "pads"], ["y"], mode=mode)], [("x", FLOAT, [1, 2, n])],
                     [("y", FLOAT, [1, 2, n + low + high])], [("pads", np.array([0, 0, low, 0, 0, high], np.int64))])
    return make


def table(n):
    """A gather by indices that only constants make, as data-dependent sizes need."""
    condition = np.arange(n) % 3 != 1
    return model([helper.make_node("Compress", ["x", "condition"], ["y"], axis=1)], [("x", FLOAT, [2, n])],
                 [("y", FLOAT, [2, int(condition.sum())])], [("condition", condition)])


def constants(n):
    """Tables of floats, which a Constant node gives."""
    value = numpy_helper.from_array(np.linspace(0, 1, n).astype(np.float32))
    nodes = [helper.make_node("Constant", [], ["c"], value=value), helper.make_node("NonZero", ["c"], ["at"]),
             helper.make_node("Transpose", ["at"], ["rows"]), helper.make_node("GatherND", ["x", "rows"], ["y"])]
    return model(nodes, [("x", FLOAT, [n])], [("y", FLOAT, [n - 1])])


def chain(n):
    kinds = ["Relu", "Neg", "Sigmoid", "Abs", "Tanh"]
    nodes = [helper.make_node(kinds[i % 5], [f"v{i}"], [f"v{i + 1}"]) for i in range(n)]
    return model(nodes, [("v0", FLOAT, [4, 8])], [(f"v{n}", FLOAT, [4, 8])])


def layers(n):
    nodes, names = [], []
    rng = np.random.default_rng(0)
    for i in range(n):
        nodes += [helper.make_node("MatMul", [f"v{i}", f"w{i}"], [f"p{i}"]), helper.make_node("Softmax", [f"p{i}"], [f"s{i}"]),
                  helper.make_node("Add", [f"s{i}", f"v{i}"], [f"v{i + 1}"])]
        names.append((f"w{i}", (0.1 * rng.standard_normal((8, 8))).astype(np.float32)))
    return model(nodes, [("v0", FLOAT, [4, 8])], [(f"v{n}", FLOAT, [4, 8])], names)


def outputs(n):
    nodes = [helper.make_node("Add", ["x", f"c{i}"], [f"y{i}"]) for i in range(n)]
    return model(nodes, [("x", FLOAT, [2, 3])], [(f"y{i}", FLOAT, [2, 3]) for i in range(n)],
                 [(f"c{i}", np.full((3,), i, np.float32)) for i in range(n)])


def concat(n):
    """Of pieces that a Split gives, each changed by itself."""
    nodes = [helper.make_node("Split", ["x"], [f"s{i}" for i in range(n)], axis=1, num_outputs=n)]
    nodes += [helper.make_node("Mul", [f"s{i}", f"c{i}"], [f"m{i}"]) for i in range(n)]
    nodes += [helper.make_node("Concat", [f"m{i}" for i in reversed(range(n))], ["y"], axis=1)]
    return model(nodes, [("x", FLOAT, [2, n])], [("y", FLOAT, [2, n])], [(f"c{i}", np.float32(i)) for i in range(n)])


def split(n):
    """A Split within a Split within ..."""
    nodes = []
    for i in range(n):
        nodes.append(helper.make_node("Split", [f"v{i}"], [f"a{i}", f"v{i + 1}"], axis=0,
                                      **{}) if False else helper.make_node("Split", [f"v{i}", f"n{i}"], [f"a{i}", f"v{i + 1}"], axis=0))
    nodes.append(helper.make_node("Sum", [f"a{i}" for i in range(n)], ["y"]))
    return model(nodes, [("v0", FLOAT, [n + 1, 4])], [("y", FLOAT, [1, 4])], [(f"n{i}", np.array([1, n - i], np.int64)) for i in range(n)])


def gathers(n):
    """One row each by a constant index."""
    nodes = [helper.make_node("Gather", ["x", f"i{i}"], [f"r{i}"], axis=0) for i in range(n)]
    nodes.append(helper.make_node("Max", [f"r{i}" for i in range(n)], ["y"]))
    return model(nodes, [("x", FLOAT, [n, 4])], [("y", FLOAT, [4])], [(f"i{i}", np.int64((7 * i) % n)) for i in range(n)])


def bag(n):
    """torch's EmbeddingBag: a Loop over offsets that arithmetic makes of constants."""
    body = helper.make_graph(
        [helper.make_node("Gather", ["begins", "i"], ["begin"]), helper.make_node("Gather", ["ends", "i"], ["end"]),
         helper.make_node("Unsqueeze", ["begin", "zero"], ["begin1"]), helper.make_node("Unsqueeze", ["end", "zero"], ["end1"]),
         helper.make_node("Slice", ["rows", "begin1", "end1", "zero"], ["mine"]),
         helper.make_node("Gather", ["w", "mine"], ["vectors"]),
         helper.make_node("ReduceSum", ["vectors", "zero"], ["sum"], keepdims=0), helper.make_node("Identity", ["go"], ["going"])],
        "body", [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("going", TensorProto.BOOL, []), helper.make_tensor_value_info("sum", FLOAT, [4])])
    nodes = [helper.make_node("Range", ["start", "limit", "step"], ["begins"]), helper.make_node("Add", ["begins", "step"], ["ends"]),
             helper.make_node("Shape", ["begins"], ["count"]), helper.make_node("Squeeze", ["count"], ["trips"]),
             helper.make_node("Loop", ["trips", "true"], ["y"], body=body)]
    return model(nodes, [("rows", INT64, [3 * n])], [("y", FLOAT, [n, 4])],
                 [("start", np.int64(0)), ("limit", np.int64(3 * n)), ("step", np.int64(3)), ("zero", np.array([0], np.int64)),
                  ("true", np.array(True)), ("w", np.arange(40, dtype=np.float32).reshape(10, 4))])


# n, and the seconds that it may take.
CASES = {"pad-reflect": (pad("reflect"), 16000, 2), "pad-edge": (pad("edge"), 16000, 2), "pad-wrap": (pad("wrap"), 16000, 2),
         "table": (table, 44100, 2), "constants": (constants, 16000, 2), "chain": (chain, 1250, 20), "layers": (layers, 250, 20),
         "outputs": (outputs, 500, 20), "concat": (concat, 400, 20), "split": (split, 250, 20), "gathers": (gathers, 250, 20),
         "bag": (bag, 64, 20)}


def compile_model(path, exe, target="", extra=()):
    start = time.time()
    command = [find_tool(), "compile", path, "-o", exe, *(["--target", target] if target else []), *extra]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"compile ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return time.time() - start


def check(proto, path, exe, target):
    """Runs the program beside onnxruntime."""
    compile_model(path, exe, target)
    rng = np.random.default_rng(1)
    given = {}
    for i in proto.graph.input:
        shape = [d.dim_value for d in i.type.tensor_type.shape.dim]
        isInt = i.type.tensor_type.elem_type == INT64
        given[i.name] = rng.integers(0, 10, shape) if isInt else rng.standard_normal(shape).astype(np.float32)
    np.savez(exe + ".in.npz", **given)
    done = subprocess.run([exe, "--inputs", exe + ".in.npz", "--outputs", exe + ".out.npz"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"run on {target} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    expected = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, given)
    with np.load(exe + ".out.npz") as got:
        for output, value in zip(proto.graph.output, expected):
            np.testing.assert_allclose(got[output.name], value, rtol=1e-4, atol=1e-5, err_msg=f"{output.name} on {target}")


def measure(name, options, folder):
    make, n, limit = CASES[name]
    n = max(2, int(n * options.scale))
    seconds = []
    for factor in (1, 2, 4, 8):
        proto = make(n * factor)
        path, exe = os.path.join(folder, f"{name}.onnx"), os.path.join(folder, name)
        onnx.save(proto, path)
        if factor == 1:
            for target in options.targets.split(","):
                check(proto, path, exe, target)
            if options.cuda:
                compile_model(path, exe, "cuda", ["--emit", "cuda-source", exe + ".cuda"])
        seconds.append(compile_model(path, exe))
    # What every compilation takes is no growth.
    growth = (seconds[3] - seconds[0]) / (7 * max(seconds[0], options.fixed))
    print(f"{name:14}{n:8}" + "".join(f"{s:9.2f}" for s in seconds) + f"{growth:8.2f}", flush=True)
    return growth <= MOST_GROWTH and seconds[0] <= limit


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("cases", nargs="*")
    arguments.add_argument("--scale", type=float, default=1)
    arguments.add_argument("--targets", default="cpu,emulated")
    arguments.add_argument("--cuda", action="store_true", help="also compile for GPUs, with CUDA sources")
    arguments.add_argument("--fixed", type=float, default=0.3, help="seconds that growth is counted from at least")
    options = arguments.parse_args()
    print(f"{'case':14}{'n':>8}{'n s':>9}{'2n s':>9}{'4n s':>9}{'8n s':>9}{'growth':>8}")
    failed = 0
    names = options.cases or list(CASES)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                failed += not measure(name, options, folder)
            except (RuntimeError, AssertionError) as error:
                print(f"{name:14}{str(error).strip()[:600]}", flush=True)
                failed += 1
    print(f"{len(names) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
