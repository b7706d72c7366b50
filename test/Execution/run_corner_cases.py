"""Small models that are rare and legal, whole and partitioned, against what numpy computes.

    python test/Execution/run_corner_cases.py AUTOPAR WORK_FOLDER

Values of 10 dimensions change from a sharding of their first dimension to one of their last but one, on processors and the emulated GPU;
a row's largest number is a NaN; an input has no batch; a file of weights is shorter than the model says, which the compiler must say. One line per case: ok, FAIL (numbers differ) or error (compiler or program ended with one); the last
line counts them.
"""

import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

from programs import compile_and_run

DIMS = 10
TYPES = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int64"): TensorProto.INT64}


def write(folder, nodes, x, expected, **others):
    """model.onnx from `x` and other inputs to what is expected, inputs.npz."""
    os.makedirs(folder, exist_ok=True)
    inputs = {"x": x, **others}
    info = [[helper.make_tensor_value_info(name, TYPES[array.dtype], array.shape) for name, array in side.items()] for side in (inputs, expected)]
    graph = helper.make_graph(nodes, "corner", *info)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), os.path.join(folder, "model.onnx"))
    np.savez(os.path.join(folder, "inputs.npz"), **inputs)


def attempt(tool, folder, expected, options):
    if error := compile_and_run(tool, folder, *options):
        return "error", error
    with np.load(os.path.join(folder, "out.npz")) as actual:
        wrong = [name for name in expected if not np.array_equal(actual[name], expected[name], equal_nan=True)]
    return ("FAIL" if wrong else "ok"), ", ".join(wrong)


def many_dimensions(work):
    """An all-to-all of as many dimensions as nobody thinks of."""
    folder = os.path.join(work, "dimensions")
    x = np.random.default_rng(0).standard_normal([2] * (DIMS - 1) + [3]).astype("float32")
    expected = {"y": np.abs(np.maximum(x, 0))}
    write(folder, [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Abs", ["r"], ["y"])], x, expected)
    pins = os.path.join(folder, "constraints.json")
    with open(pins, "w") as file:
        json.dump({"constraints": [{"value": value, "sharding": [["all"] if dim == split else [] for dim in range(DIMS)]}
                                   for value, split in (("r", 0), ("y", DIMS - 2))]}, file)
    for target in ("cpu", "emulated"):
        yield folder, expected, ["--ranks", "2", "--constraints", pins, "--target", target]


def nan_positions(work):
    """Of a NaN and numbers the NaN is the largest and the smallest, as for numpy and PyTorch."""
    folder = os.path.join(work, "nan")
    x = np.random.default_rng(1).standard_normal([7, 12]).astype("float32")
    for row, column in ((0, 3), (1, 0), (2, 11), (4, 5), (4, 8)):
        x[row, column] = np.nan
    last = np.argmax(x, axis=1)
    last[4] = 8
    expected = {"first": np.argmax(x, axis=1), "least": np.argmin(x, axis=1), "last": last}
    flags = {"first": ("ArgMax", 0), "least": ("ArgMin", 0), "last": ("ArgMax", 1)}
    nodes = [helper.make_node(op, ["x"], [name], axis=1, keepdims=0, select_last_index=last) for name, (op, last) in flags.items()]
    write(folder, nodes, x, expected)
    for ranks, strategy in (("1", "auto"), ("2", "data"), ("3", "data"), ("3", "auto")):
        yield folder, expected, ["--ranks", ranks, "--strategy", strategy]
    yield folder, expected, ["--ranks", "2", "--target", "emulated"]


def rows_without_batch(work):
    """An input whose first dimension is smaller than the batch, and none."""
    folder = os.path.join(work, "positions")
    x = np.arange(8 * 5 * 6, dtype="float32").reshape(8, 5, 6) % 7
    positions = np.arange(5 * 6, dtype="float32").reshape(5, 6) % 4
    expected = {"y": np.matmul(x + positions, positions.T)}
    nodes = [helper.make_node("Add", ["x", "p"], ["a"]), helper.make_node("Transpose", ["p"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["a", "t"], ["y"])]
    write(folder, nodes, x, expected, p=positions)
    for ranks, options in (("3", ["--strategy", "data"]), ("2", ["--strategy", "layer", "--micro-batches", "4"]), ("4", ["--mesh", "layer=2,data=2", "--strategy", "layer,data", "--micro-batches", "2"])):
        yield folder, expected, ["--ranks", ranks, *options]


def says_what_is_short(tool, work):
    """Whether the compiler names the file of weights that a download cut off."""
    folder = os.path.join(work, "short")
    x = np.ones([2, 64], "float32")
    write(folder, [helper.make_node("Add", ["x", "w"], ["y"])], x, {"y": x})
    path = os.path.join(folder, "model.onnx")
    model = onnx.load(path)
    model.graph.initializer.append(onnx.numpy_helper.from_array(x, "w"))
    weights = os.path.join(folder, "weights.bin")
    if os.path.exists(weights):
        os.remove(weights)  # or they are written behind what it holds
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    os.truncate(weights, x.nbytes - 4)
    error = compile_and_run(tool, folder, "--ranks", "2") or "none"
    return f"'weights.bin' has {x.nbytes - 4} bytes, but bytes 0 to {x.nbytes} are asked for" in error, error


def main():
    tool, work = sys.argv[1:]
    counts = {"ok": 0, "FAIL": 0, "error": 0}
    is_right, error = says_what_is_short(tool, work)
    counts["ok" if is_right else "FAIL"] += 1
    print("ok: short weights" if is_right else f"FAIL: short weights: {error}")
    for cases in (many_dimensions, nan_positions, rows_without_batch):
        for folder, expected, options in cases(work):
            outcome, why = attempt(tool, folder, expected, options)
            counts[outcome] += 1
            print(f"{outcome}: {cases.__name__} {' '.join(os.path.basename(option) for option in options)} {why}".rstrip())
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return counts["ok"] != sum(counts.values())


if __name__ == "__main__":
    sys.exit(main())
