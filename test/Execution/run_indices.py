"""Indices outside of a table: a run ends with an error that names the input, the number, its place and the table, as it does in onnxruntime.

    python test/Execution/run_indices.py TOOL FOLDER

Users and items are columns of one input of int32, of tables of their own; words are an input of int64 whose table is read at all of them. A cache is
written where inputs say. The last line counts.
"""

import os
import subprocess

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from programs import error_of, reference
from training_runs import Runs, report, write_model, tool_and_folder

WAYS = ["--ranks 1", "--ranks 3", "--ranks 1 --target emulated", "--ranks 3 --target emulated"]
RECIPE = {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.1}}
ROWS, USERS, ITEMS, WORDS = 6, 50, 20, 30
# Input, place, number, and what the error says of the table; of good ones nothing.
NUMBERS = [
    ("pairs", (3, 0), USERS, "the table 'users.weight' has 50 rows, of which indices are -50 to 49"),
    ("pairs", (5, 0), -USERS - 1, "the table 'users.weight' has 50 rows"),
    ("pairs", (0, 1), ITEMS, "the table 'items.weight' has 20 rows, of which indices are -20 to 19"),
    ("words", (2, 3), 57, "the table 'words.weight' has 30 rows, of which indices are -30 to 29"),
    ("words", (0, 0), -WORDS - 1, "the table 'words.weight' has 30 rows"),
    ("words", (5, 3), 2**40, "the table 'words.weight' has 30 rows"),
    ("pairs", (3, 0), USERS - 1, None),
    ("pairs", (3, 0), -USERS, None),
    ("pairs", (5, 1), ITEMS - 1, None),
    ("words", (1, 1), -1, None),
]
WRITES = [
    ("at", (2, 0), 2, "the table 'cache' has 2 rows, of which indices are -2 to 1"),
    ("at", (1, 1), 16, "the table 'cache' has 16 elements in dimension 1, of which indices are -16 to 15"),
    ("at", (1, 1), -17, "the table 'cache' has 16 elements in dimension 1"),
    ("slots", (1, 0, 2), 16, "the table 'written' has 16 elements in dimension 1"),
    ("at", (1, 1), -16, None),
    ("slots", (1, 0, 2), 15, None),
]


def write_recommender(folder):
    random = np.random.Generator(np.random.PCG64(3))
    table = lambda rows: random.standard_normal((rows, 8)).astype(np.float32)
    node = helper.make_node
    nodes = [node("Gather", ["pairs", "zero"], ["user"], axis=1), node("Gather", ["pairs", "one"], ["item32"], axis=1),
             node("Cast", ["item32"], ["item"], to=TensorProto.INT64), node("Gather", ["users.weight", "user"], ["u"]),
             node("Gather", ["items.weight", "item"], ["i"]), node("Gather", ["words.weight", "words"], ["w"]), node("ReduceSum", ["w", "ones"], ["s"], keepdims=0),
             node("Add", ["u", "i"], ["p"]), node("Add", ["p", "s"], ["y"])]
    write_model(folder, nodes, {"pairs": (TensorProto.INT32, [ROWS, 2]), "words": (TensorProto.INT64, [ROWS, 4])}, {"y": (TensorProto.FLOAT, [ROWS, 8])},
                {"users.weight": table(USERS), "items.weight": table(ITEMS), "words.weight": table(WORDS), "zero": np.array(0), "one": np.array(1),
                 "ones": np.array([1])})


def good_inputs(steps=()):
    random = np.random.Generator(np.random.PCG64(4))
    pairs = np.stack([random.integers(-USERS, USERS, (*steps, ROWS)), random.integers(-ITEMS, ITEMS, (*steps, ROWS))], axis=-1)
    return {"pairs": pairs.astype(np.int32), "words": random.integers(-WORDS, WORDS, (*steps, ROWS, 4))}


def error_of_run(folder, *options):
    done = subprocess.run([os.path.join(folder, "model"), *options], capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done
    return "".join(line for line in done.stderr.splitlines() if "error: " in line) if done.returncode else None


def check_error(error, name, number, place, table):
    if table is None:
        assert error is None, f"{number} at {place} of '{name}': {error}"
    else:
        assert error and f"input '{name}' has {number} at {place}: {table}" in error, f"{number} at {place} of '{name}': {error}"


def check_inference(tool, folder, way, numbers, good):
    path = lambda name: os.path.join(folder, name)
    error = error_of(tool, "compile", path("model.onnx"), "-o", path("model"), *way.split())
    assert not error, error
    for name, place, number, table in numbers:
        inputs = good()
        inputs[name][place] = number
        np.savez(path("inputs.npz"), **inputs)
        error = error_of_run(folder, "--inputs", path("inputs.npz"), "--outputs", path("out.npz"))
        check_error(error, name, number, list(place), table)
        try:
            want = reference(folder, inputs)["y"]
        except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument:
            want = None
        assert (want is None) == (table is not None), "onnxruntime is of another mind"
        if want is not None:
            np.testing.assert_allclose(np.load(path("out.npz"))["y"], want, rtol=1e-5)


def write_cache(folder):
    """Rows of a cache are replaced where `at` says, then elements where `slots` does."""
    nodes = [helper.make_node("ScatterND", ["cache", "at", "rows"], ["written"]),
             helper.make_node("ScatterElements", ["written", "slots", "values"], ["y"], axis=1)]
    write_model(folder, nodes, {"cache": (TensorProto.FLOAT, [2, 16, 4]), "at": (TensorProto.INT64, [3, 2]), "rows": (TensorProto.FLOAT, [3, 4]),
                                "slots": (TensorProto.INT64, [2, 1, 4]), "values": (TensorProto.FLOAT, [2, 1, 4])}, {"y": (TensorProto.FLOAT, [2, 16, 4])}, {})


def good_writes():
    random = np.random.Generator(np.random.PCG64(5))
    floats = lambda *shape: random.standard_normal(shape).astype(np.float32)
    return {"cache": floats(2, 16, 4), "at": np.array([[0, 15], [1, 3], [0, 2]]), "rows": floats(3, 4), "slots": np.arange(8).reshape(2, 1, 4),
            "values": floats(2, 1, 4)}


def check_training(tool, folder, way, blocks):
    """Data of three steps, of which the last one has the number; a run that ends before it does not need it."""
    runs = Runs(tool, folder, way, RECIPE)
    error = runs.compile(**({"accumulation": blocks, "batch": ROWS * blocks, "mean_over": "block"} if blocks > 1 else {}))
    assert not error, error
    for name, (row, column), number, table in NUMBERS:
        parts = [good_inputs((3,)) for _ in range(blocks)]
        parts[-1][name][2, row, column] = number
        data = {key: np.concatenate([part[key] for part in parts], axis=1) for key in parts[0]}
        np.savez(runs.path("data.npz"), **data, labels=np.zeros((3, ROWS * blocks, 8), np.float32))
        given = ["--data", runs.path("data.npz"), "--log", runs.path("log.jsonl"), "--steps"]
        place = f"step 2, {[row + ROWS * (blocks - 1), column]}"
        check_error(error_of_run(folder, *given, "3"), name, number, place, table)
        check_error(error_of_run(folder, *given, "8"), name, number, place, table)
        check_error(error_of_run(folder, *given, "2"), name, number, place, None)


def main():
    options = tool_and_folder(__doc__)
    checks = []
    for i, way in enumerate(WAYS):
        folder = os.path.join(options.folder, str(i))
        write_recommender(folder)
        checks.append((f"inference {way}", lambda f=folder, w=way: check_inference(options.tool, f, w, NUMBERS, good_inputs)))
        for blocks in (1, 2):
            checks.append((f"training of {blocks} blocks {way}", lambda f=folder, w=way, b=blocks: check_training(options.tool, f, w, b)))
        folder = os.path.join(options.folder, f"cache-{i}")
        write_cache(folder)
        checks.append((f"writes {way}", lambda f=folder, w=way: check_inference(options.tool, f, w, WRITES, good_writes)))
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
