"""Gradients of embeddings with many tokens: GPUs share the search for a row's tokens. Steps on the emulated GPU against numpy's.

    python test/Execution/run_embeddings.py AUTOPAR WORK_FOLDER

A table of some rows is trained by SGD for three steps, with tokens that hit some rows often and others never, in numbers that
fill no words of 32, on 1 to 3 ranks: whole, tokens split, and rows of the table split. One line per case; the last line counts.
"""

import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from programs import error_of

STEPS, RATE = 3, 2.0
# Tokens, rows of the table, columns; the last has more tokens than a block notes for its rows.
SIZES = [(700, 23, 5), (3001, 23, 40), (1056, 301, 64), (13000, 4, 7), (200000, 3, 2)]
ROWS = {"constraints": [{"mesh": "x=2"}, {"value": "table", "sharding": [["x"], []]}]}
WAYS = ["--ranks 1", "--ranks 3 --strategy data", "--ranks 2 --constraints rows.json"]


def make(folder, tokens, rows, columns):
    """The model, its recipe and data; the table after training."""
    random = np.random.default_rng(tokens)
    table = random.standard_normal((rows, columns)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["y"])], "g", [helper.make_tensor_value_info("ids", TensorProto.INT64, [tokens])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [tokens, columns])], [numpy_helper.from_array(table, "table")])
    os.makedirs(folder, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), os.path.join(folder, "model.onnx"))
    ids = random.integers(0, rows - 1, (STEPS, tokens)) ** 2 // (rows - 1)  # the last row is never hit
    wanted = random.standard_normal((STEPS, tokens, columns)).astype(np.float32)
    with open(os.path.join(folder, "recipe.json"), "w") as file:
        json.dump({"loss": "mse_mean", "labels": "labels", "optimizer": {"kind": "sgd", "lr": RATE}}, file)
    with open(os.path.join(folder, "rows.json"), "w") as file:
        json.dump(ROWS, file)
    np.savez(os.path.join(folder, "data.npz"), ids=ids, labels=wanted)
    exact = table.astype(np.float64)
    for step in range(STEPS):
        gradient = np.zeros_like(exact)
        np.add.at(gradient, ids[step], 2 * (exact[ids[step]] - wanted[step]) / wanted[step].size)
        exact -= RATE * gradient
    return exact, table


def attempt(tool, folder, way, exact, table):
    """What is wrong, or None."""
    out = os.path.join(folder, "program")
    if error := error_of(tool, "compile", os.path.join(folder, "model.onnx"), "-o", out, "--train", os.path.join(folder, "recipe.json"),
                         "--target", "emulated", *way.replace("rows.json", os.path.join(folder, "rows.json")).split()):
        return error
    if error := error_of(out, "--data", os.path.join(folder, "data.npz"), "--steps", str(STEPS), "--final", out + ".safetensors"):
        return error
    got = load_file(out + ".safetensors")["table"]
    moved, worst = np.abs(exact - table).max(), np.abs(got - exact).max()
    return None if worst <= 1e-5 * moved + 1e-6 else f"the table differs by {worst:.2e}, where training moved it by {moved:.2e}"


def main():
    tool, work = sys.argv[1:]
    failed = 0
    for tokens, rows, columns in SIZES:
        folder = os.path.join(work, f"{tokens}-{rows}-{columns}")
        references = make(folder, tokens, rows, columns)
        for way in WAYS:
            error = attempt(tool, folder, way, *references)
            failed += error is not None
            print(f"{'FAIL' if error else 'ok'}: {tokens} tokens, table {rows}x{columns}, {way}{f': {error}' if error else ''}", flush=True)
    count = len(SIZES) * len(WAYS)
    print(f"{count - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
