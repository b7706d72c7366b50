"""Dropout in training: masks that are equal on any number of ranks, shared by no two nodes, steps, blocks or seeds.

    python test/Execution/run_dropout.py TOOL FOLDER

The gradients of what is dropped are 0, so that a gradient shows its mask. The last line counts.
"""

import os

import numpy as np
from onnx import TensorProto, helper

from training_runs import Runs, report, write_model, tool_and_folder

WAYS = ["--ranks 1", "--ranks 3", "--ranks 4", "--ranks 4 --mesh a=2,b=2", "--ranks 3 --target emulated"]
RECIPE = {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.5}}
FLOAT = TensorProto.FLOAT
ROWS, WIDTH, STEPS, RATIO = 128, 96, 5, 0.25
DROPOUT = {"ratio": np.float32(RATIO), "training": np.bool_(True)}


def dropout(number, given, made):
    return helper.make_node("Dropout", [given, "ratio", "training"], [made], name=f"dropout{number}")


def write_masks(folder):
    """y = [drop(x + a), drop(x + b)], a and b as large as x: each element of a gradient is that of one element of a mask."""
    node = helper.make_node
    nodes = [node("Add", ["x", "a"], ["xa"], name="xa"), node("Add", ["x", "b"], ["xb"], name="xb"), dropout(0, "xa", "da"),
             dropout(1, "xb", "db"), node("Concat", ["da", "db"], ["y"], axis=1, name="y")]
    zeros = np.zeros((ROWS, WIDTH), np.float32)
    write_model(folder, nodes, {"x": (FLOAT, [ROWS, WIDTH])}, {"y": (FLOAT, [ROWS, 2 * WIDTH])}, {"a": zeros, "b": zeros, **DROPOUT})


def write_layers(folder, random):
    """Two layers, their input and what is between them dropped."""
    node = helper.make_node
    nodes = [dropout(0, "x", "d"), node("MatMul", ["d", "w1"], ["z"], name="z"), node("Relu", ["z"], ["h"], name="h"), dropout(1, "h", "e"),
             node("MatMul", ["e", "w2"], ["y"], name="y")]
    weights = {name: random.standard_normal(shape).astype(np.float32) / 3 for name, shape in (("w1", (10, 14)), ("w2", (14, 6)))}
    write_model(folder, nodes, {"x": (FLOAT, ["rows", 10])}, {"y": (FLOAT, ["rows", 6])}, {**weights, **DROPOUT})


def masks(runs, steps=1, **recipe):
    """What the last of some steps keeps of a and of b, of data of ones with labels of zeros."""
    data = {"x": np.ones((steps, ROWS, WIDTH), np.float32), "labels": np.zeros((steps, ROWS, 2 * WIDTH), np.float32)}
    finals = []
    for count in sorted({steps - 1, steps} - {0}):
        finals.append(runs.train({name: value[:count] for name, value in data.items()}, **recipe)[1])
    before = finals[0] if steps > 1 else {"a": 0, "b": 0}
    return [finals[-1][name] - before[name] != 0 for name in "ab"]


def check_kept(kept, ratio):
    """As many as the ratio leaves, also of each row and of each column, and the neighbours of one that is kept."""
    for values in (kept, *kept, *kept.T, kept[:, 1:][kept[:, :-1]], kept[1:][kept[:-1]]):
        deviation = np.sqrt(ratio * (1 - ratio) / values.size)
        assert abs(values.mean() - (1 - ratio)) < 5 * deviation, (values.mean(), values.size)


def second_block(runs, first):
    """What the second of two blocks keeps of a, by the gradient: it has the terms of both."""
    data = {"x": np.ones((1, 2 * ROWS, WIDTH), np.float32), "labels": np.zeros((1, 2 * ROWS, 2 * WIDTH), np.float32)}
    _, final = runs.train(data, accumulation=2)
    terms = final["a"] / final["a"].min()  # 0, 1/2 or 1: kept in no block, in one, in both
    return terms - first / 2 > 0.25


def check_masks(runs):
    a, b = masks(runs)
    check_kept(a, RATIO)
    check_kept(b, RATIO)
    others = {"node": b, "step": masks(runs, steps=2)[0], "seed": masks(runs, seed=1)[0], "block": second_block(runs, a)}
    for name, other in others.items():
        check_kept(other, RATIO)
        agree = (a == other).mean()  # of two that know nothing of each other
        assert abs(agree - (RATIO ** 2 + (1 - RATIO) ** 2)) < 0.03, (name, agree)
    assert np.array_equal(a, masks(runs, seed=0)[0])
    check_kept(masks(runs, dropout=0.9)[0], 0.9)
    assert masks(runs, dropout=0)[0].all()


def check_scale(runs):
    """What is kept is divided by the probability to keep it."""
    data = {"x": np.ones((1, ROWS, WIDTH), np.float32), "labels": np.zeros((1, ROWS, 2 * WIDTH), np.float32)}
    log, _ = runs.train(data)
    kept = np.concatenate(masks(runs), axis=1)
    np.testing.assert_allclose(log[0]["loss"], kept.mean() / (1 - RATIO) ** 2, rtol=1e-4)


def check_equal(runs, whole):
    for got, want in zip(masks(runs), whole):
        assert np.array_equal(got, want)


def check_runs(folder, tool, way, random):
    """Losses and parameters of several steps, in one and in two blocks."""
    data = {"x": random.standard_normal((STEPS, 12, 10)).astype(np.float32), "labels": random.standard_normal((STEPS, 12, 6)).astype(np.float32)}
    for blocks in (1, 2):
        runs = [Runs(tool, folder, f"{way} --bind rows={12 // blocks}", RECIPE) for way in (WAYS[0], way)]
        (want_log, want), (log, final) = (run.train(data, accumulation=blocks) for run in runs)
        np.testing.assert_allclose([line["loss"] for line in log], [line["loss"] for line in want_log], rtol=1e-5)
        for name, value in want.items():
            np.testing.assert_allclose(final[name], value, rtol=1e-4, atol=1e-6)


def main():
    options = tool_and_folder(__doc__)
    folders = [os.path.join(options.folder, name) for name in ("masks", "layers")]
    random = np.random.Generator(np.random.PCG64(7))
    write_masks(folders[0])
    write_layers(folders[1], random)
    runs = Runs(options.tool, folders[0], WAYS[0], RECIPE)
    checks = [("masks", lambda: check_masks(runs)), ("scale", lambda: check_scale(runs))]
    for way in WAYS[1:]:
        checks.append((f"masks {way}", lambda way=way: check_equal(Runs(options.tool, folders[0], way, RECIPE), masks(runs))))
        checks.append((f"runs {way}", lambda way=way: check_runs(folders[1], options.tool, way, random)))
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
