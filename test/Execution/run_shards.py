"""Trainings whose samples are rows of shards: the order, the losses, what is resumed, what is refused.

    python test/Execution/run_shards.py TOOL FOLDER

A model that gives back its rows' numbers tells in which order they come; a perceptron is trained on shards of each kind of file, on several numbers of ranks, and compared bit for
bit with the run on the same rows as an array of all steps. The last line counts.
"""

import json
import os
import shutil
import sys

import numpy as np
from onnx import TensorProto, helper
from safetensors.numpy import save_file

from programs import error_of
from run_checkpoints import Training
from training_runs import Checks, report, tool_and_folder, write_model

ROWS, BATCH, STEPS = 107, 12, 20  # 8 steps an epoch, 11 rows of each are left out
KINDS = ("npz", "npy", "safetensors")


def write_shards(folder, arrays, kind, sizes):
    """The arrays' rows in files of so many rows each."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    begin = 0
    for number, size in enumerate(sizes):
        rows = {name: np.ascontiguousarray(array[begin:begin + size]) for name, array in arrays.items()}
        begin += size
        path = os.path.join(folder, f"part-{number:04}")
        if kind == "npz":
            np.savez(path + ".npz", **rows)
        elif kind == "safetensors":
            save_file(rows, path + ".safetensors")
        for name, array in rows.items() if kind == "npy" else ():
            np.save(os.path.join(folder, f"{name}-{number:04}.npy"), array)
    assert begin == len(next(iter(arrays.values())))
    with open(os.path.join(folder, "README.md"), "w") as file:
        file.write("no data")


def arrays_of(rows):
    draw = np.random.Generator(np.random.PCG64(3))
    return {"x": draw.standard_normal((rows, 6)).astype(np.float32), "labels": draw.integers(0, 5, rows)}


def order_of(tool, work, rows, steps, *options):
    """The rows' numbers that the steps take, [steps, BATCH]."""
    write_model(work, [helper.make_node("Identity", ["row"], ["number"])], {"row": (TensorProto.INT64, [BATCH, 1])}, {"number": (TensorProto.INT64, [BATCH, 1])}, {})
    write_shards(os.path.join(work, "rows"), {"row": np.arange(rows)[:, None]}, "npz", [rows])
    program, out = os.path.join(work, "program"), os.path.join(work, "out.npz")
    error = error_of(tool, "compile", os.path.join(work, "model.onnx"), "-o", program) or error_of(
        program, "--inputs", os.path.join(work, "rows"), "--outputs", out, "--steps", str(steps), *options)
    assert not error, error
    with np.load(out) as results:
        return results["number"][..., 0]


def check_order(tool, work):
    """Rows come as they stand, and by a seed at most once an epoch, in other orders in other epochs and by other seeds."""
    per_epoch = ROWS // BATCH
    plain = order_of(tool, work, ROWS, 2 * per_epoch)
    assert (plain.reshape(2, -1) == np.arange(per_epoch * BATCH)).all(), plain
    orders = [order_of(tool, work, ROWS, 3 * per_epoch, "--shuffle", seed).reshape(3, -1) for seed in ("0", "1")]
    for epoch in np.concatenate(orders):
        assert len(set(epoch)) == len(epoch) and epoch.min() >= 0 and epoch.max() < ROWS
    assert len({tuple(epoch) for epoch in np.concatenate(orders)}) == 6
    even = order_of(tool, work, 4 * BATCH, 8, "--shuffle", "5").reshape(2, -1)
    assert (np.sort(even) == np.arange(4 * BATCH)).all(), "a row is missing, or there twice"
    # Neighbours in the order are no neighbours in the data, and rows come at any time.
    large = order_of(tool, work, 100000, 8000, "--shuffle", "9").reshape(-1)
    assert abs(np.corrcoef(large, np.arange(len(large)))[0, 1]) < 0.01
    assert abs(np.corrcoef(large[1:], large[:-1])[0, 1]) < 0.01
    assert np.mean(np.abs(np.diff(large)) == 1) < 1e-3


def training_of(tool, work, **recipe):
    draw = np.random.Generator(np.random.PCG64(5))
    weights = {"w0": draw.standard_normal((6, 16)).astype(np.float32), "b0": np.zeros(16, np.float32), "w1": draw.standard_normal((16, 5)).astype(np.float32)}
    nodes = [helper.make_node("Gemm", ["x", "w0", "b0"], ["h"], name="fc0"), helper.make_node("Tanh", ["h"], ["t"], name="tanh"),
             helper.make_node("MatMul", ["t", "w1"], ["y"], name="fc1")]
    batch = BATCH // recipe.get("accumulation", 1)
    write_model(work, nodes, {"x": (TensorProto.FLOAT, [batch, 6])}, {"y": (TensorProto.FLOAT, [batch, 5])}, weights)
    training = Training(tool, work, os.path.join(work, "shards"),
                        {"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 1e-2}, **recipe}, STEPS, work)
    write_shards(training.data, arrays_of(ROWS), "npz", (40, 0, 50, 17))
    return training


def check_losses(tool, work, ways, **recipe):
    """The same as of the same rows in an array of all steps, whatever the kind of file; on more ranks the losses of more ranks."""
    order = order_of(tool, os.path.join(work, "order"), ROWS, STEPS, "--shuffle", "7")
    training = training_of(tool, work, **recipe)
    arrays = arrays_of(ROWS)
    steps = training.path("steps.npz")
    np.savez(steps, **{name: array[order] for name, array in arrays.items()})
    for way in ways:
        program = training.compile(way)
        error = error_of(program, "--data", steps, "--steps", str(STEPS), "--log", training.path("whole.jsonl"), "--final", training.path("whole.safetensors"))
        assert not error, error
        for kind in KINDS if way == ways[0] else KINDS[:1]:
            write_shards(training.data, arrays, kind, (40, 0, 50, 17))
            error = training.run(program, "rows", STEPS, "--shuffle", "7")
            assert not error, error
            training.assert_equal("whole", "rows")
    error = error_of(program, "--data", os.path.join(training.data, "part-*.npz"), "--shuffle", "7", "--steps", str(STEPS), "--log", training.path("rows.jsonl"),
                     "--final", training.path("rows.safetensors"))
    assert not error, error
    training.assert_equal("whole", "rows")


def check_resume(tool, work):
    """A run goes on in the middle of an epoch, on the same and on another number of ranks; other data are refused."""
    training = training_of(tool, work)
    one, three = training.compile("--ranks 1"), training.compile("--ranks 3")
    folder = training.path("checkpoints")
    errors = [training.run(one, "whole", STEPS, "--shuffle", "7"), training.run(one, "parts", 11, "--shuffle", "7", "--checkpoint", folder),
              training.run(one, "parts", STEPS, "--shuffle", "7", "--checkpoint", folder, "--resume", "auto")]
    assert not any(errors), errors
    training.assert_equal("whole", "parts")
    error = training.run(three, "others", STEPS, "--shuffle", "7", "--resume", os.path.join(folder, "step-00000011"))
    assert not error, error
    assert np.allclose([line["loss"] for line in training.log("others")], [line["loss"] for line in training.log("whole")[11:]], rtol=1e-5)
    with open(os.path.join(folder, "step-00000011", "manifest.json")) as file:
        place = json.load(file)["data"]
    assert (place["epoch"], place["row"], place["rows"], place["seed"]) == (1, 3 * BATCH, ROWS, 7), place

    def refused(said, *options):
        error = training.run(one, "refused", STEPS, "--resume", os.path.join(folder, "step-00000011"), *options) or "it ran"
        assert said in error and "--resume-ignoring data" in error, error
    refused("it had --shuffle 7")
    refused("it had --shuffle 7", "--shuffle", "8")
    write_shards(training.data, arrays_of(ROWS - 1), "npz", (106,))
    refused("has 106 rows, and those had 107", "--shuffle", "7")
    error = training.run(one, "anew", STEPS, "--resume", os.path.join(folder, "step-00000011"), "--resume-ignoring", "data")
    assert not error and len(training.log("anew")) == STEPS - 11, error


def check_refusals(tool, work):
    training = training_of(tool, work)
    program, arrays = training.compile("--ranks 2"), arrays_of(ROWS)

    def refused(*said, data=training.data, options=()):
        error = error_of(program, "--data", data, "--steps", "4", *options) or "it ran"
        assert all(words in error for words in said), f"no {said} in: {error}"
    refused("there is no file", "and none of such a pattern", data=os.path.join(work, "none-*.npz"))
    os.makedirs(os.path.join(work, "empty"))
    refused("has no .npz, .npy or safetensors file", data=os.path.join(work, "empty"))
    path = os.path.join(training.data, "part-0001.npz")

    def shard(said, save=np.savez, **changed):
        rows = {name: array[:5] for name, array in arrays.items()}
        save(path, **{name: array for name, array in {**rows, **changed}.items() if array is not None})
        refused("part-0001.npz", *said)
    shard(("is deflated", "numpy.savez"), save=np.savez_compressed)
    shard(("has rows of f64[6]", "they are f32[6]"), x=arrays["x"][:5].astype(np.float64))
    shard(("has rows of f32[5]", "they are f32[6]"), x=arrays["x"][:5, :5])
    shard(("the array 'x' has 4 rows, but 'labels'", "has 5"), x=arrays["x"][:4])
    shard(("is one number",), x=np.float32(1))
    os.remove(path)
    np.savez(path, x=arrays["x"][:0])
    refused("part-0001.npz' has no array 'labels'", "part-0000.npz' has")
    np.savez(path, **{name: array[:0] for name, array in arrays.items()}, z=arrays["x"][:0])
    refused("part-0000.npz' has no array 'z'", "part-0001.npz' has")
    write_shards(training.data, {**arrays, "z": arrays["x"]}, "npz", (107,))
    refused("the model has no input 'z'")
    write_shards(training.data, arrays, "npz", (100, 7))
    with open(path, "wb") as file:
        file.write(b"PK nothing")
    refused("part-0001.npz", "not a usable .npz file")
    write_shards(training.data, arrays, "npz", (100, 7))
    with open(os.path.join(training.data, "part-0000.npz"), "r+b") as file:
        file.truncate(1000)
    refused("part-0000.npz")
    write_shards(training.data, arrays, "npy", (100, 7))
    np.save(os.path.join(training.data, "x-0001.npy"), arrays["x"][:6])
    refused("x-0001.npy': the array 'x' has 6 rows, but 'labels' of", "labels-0001.npy' has 7")
    os.remove(os.path.join(training.data, "x-0001.npy"))
    refused("labels-0001.npy' has the array 'labels' but no 'x'")
    write_shards(training.data, arrays, "npy", (50, 57))
    os.rename(os.path.join(training.data, "x-0001.npy"), os.path.join(training.data, "x-0002.npy"))
    refused("labels-0001.npy' and", "x-0002.npy' stand at the same place, and their numbers are others")
    write_shards(training.data, {"x": arrays["x"]}, "npz", (107,))
    refused("input 'labels' is missing")
    write_shards(training.data, {name: array[:11] for name, array in arrays.items()}, "npz", (11,))
    refused("has 11 rows; a step takes 12")
    write_shards(training.data, {**arrays, "labels": np.where(np.arange(ROWS) == 30, 5, arrays["labels"])}, "npz", (20, 87))
    refused("step 2, row 10 of", "part-0001.npz", "input 'labels' has 5 at [6]", "labels are classes, 0 to 4")
    np.savez(os.path.join(work, "steps.npz"), **{name: array[:96].reshape(8, 12, *array.shape[1:]) for name, array in arrays.items()})
    refused("is given twice", options=("--data", os.path.join(work, "steps.npz")))
    refused("names two folders or patterns", options=("--data", training.data))
    np.savez(os.path.join(work, "rows.npz"), **arrays)
    refused("rows are read of a folder or a pattern of files", data=os.path.join(work, "rows.npz"))
    refused("is no folder that is there", data=os.path.join(work, "nowhere"))
    for option in ("--final", "--log", "--json"):
        refused(f"{option} {training.data}/part-0000.npz would replace a shard of the run's data", options=(option, os.path.join(training.data, "part-0000.npz")))
    refused("--shuffle is of rows", data=os.path.join(work, "steps.npz"), options=("--shuffle", "1"))
    done = error_of(program, "--data", training.data)
    assert "rows of" in done and "add --steps N" in done, done


def main():
    options = tool_and_folder(__doc__)
    tool, folder = options.tool, options.folder
    checks = Checks(folder)
    checks.add("order", lambda work: check_order(tool, work))
    checks.add("losses", lambda work: check_losses(tool, work, ["--ranks 1", "--ranks 2", "--ranks 3", "--ranks 4", "--ranks 2 --target emulated"]))
    checks.add("losses of blocks", lambda work: check_losses(tool, work, ["--ranks 1", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2"], accumulation=2))
    checks.add("resume", lambda work: check_resume(tool, work))
    checks.add("refusals", lambda work: check_refusals(tool, work))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
