"""A masked loss over blocks and ranks that count unlike many labels, against NumPy in float64 on one big batch.

    python test/Execution/run_means.py TOOL FOLDER

A step has 8 rows in 1, 2 or 4 blocks. In one step a block and a rank count no label, in another none does: that one has no loss, changes
nothing and does not count for the schedule. With "mean_over": "block" the loss is the mean of the blocks' means, of which one without
labels adds 0. The last line counts.
"""

import subprocess

import numpy as np
from onnx import TensorProto, helper

from run_optimizers import update
from training_runs import Runs, report, write_model, tool_and_folder

WAYS = ["--ranks 1", "--ranks 2 --strategy data", "--ranks 3", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2",
        "--ranks 2 --target emulated --strategy data"]
BLOCKS = [1, 2, 4]
ROWS, TOKENS, FEATURES, CLASSES, STEPS, NONE = 8, 6, 5, 7, 6, 3
ADAMW = {"lr": 0.05, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.1, "amsgrad": False, "maximize": False}
RATES = [0.05, 0.04, 0.03, 0.02, 0.01, 0.005]
# Losses whose classes are elsewhere, or whose labels are those of the token before.
FORMS = ["masked_softmax_cross_entropy_mean", "masked_causal_lm_shifted_cross_entropy_mean"]
RECIPE = {"loss": "masked_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 0.05, "weight_decay": 0.1},
          "schedule": {"kind": "constant", "lr_per_step": RATES}}


def make_data(random):
    """The counts of rows are far apart; the first rows of step 1 and all of step NONE count none."""
    labels = random.integers(0, CLASSES, (STEPS, ROWS, TOKENS))
    labels[random.random(labels.shape) < np.linspace(0.1, 0.9, ROWS)[:, None]] = -100
    labels[1, : ROWS // 2] = -100
    labels[NONE] = -100
    return {"x": random.standard_normal((STEPS, ROWS, TOKENS, FEATURES)).astype(np.float32), "labels": labels}


def weights_of(labels, blocks):
    """What each label counts; `blocks`: as the mean of so many means."""
    counts = (labels != -100).reshape(blocks, -1)
    return (counts / np.maximum(counts.sum(1, keepdims=True), 1) / blocks).reshape(labels.shape)


def step_of(x, labels, w, blocks):
    """Loss and gradients."""
    share = weights_of(labels, blocks)
    hidden = np.maximum(x @ w["w1"], 0)
    logits = hidden @ w["w2"] + w["bias"]
    logits -= logits.max(-1, keepdims=True)
    log = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    chosen = np.eye(CLASSES)[np.where(labels == -100, 0, labels)]
    slope = (np.exp(log) - chosen) * share[..., None]
    below = (slope @ w["w2"].T) * (hidden > 0)
    return -(chosen * log * share[..., None]).sum(), {
        "w1": np.einsum("btf,bth->fh", x, below), "w2": np.einsum("bth,btc->hc", hidden, slope), "bias": slope.sum((0, 1))}


def expected(data, values, blocks):
    w = {name: value.astype(np.float64) for name, value in values.items()}
    states, losses, done = {name: {} for name in w}, [], 0
    for x, labels in zip(data["x"].astype(np.float64), data["labels"]):
        if (labels == -100).all():
            losses.append(None)
            continue
        loss, gradients = step_of(x, labels, w, blocks)
        losses.append(loss)
        for name, g in gradients.items():
            w[name] = update("adamw", ADAMW, w[name], g, RATES[done], done + 1, states[name])
        done += 1
    return losses, w


def compare(log, final, losses, want, margin):
    assert [line["loss"] is None for line in log] == [loss is None for loss in losses], log
    assert [line["skipped"] for line in log] == [loss is None for loss in losses], log
    got, known = ([loss for loss in side if loss is not None] for side in ([line["loss"] for line in log], losses))
    np.testing.assert_allclose(got, known, rtol=margin)
    for name, value in want.items():
        difference = np.linalg.norm(final[name] - value) / np.linalg.norm(value)
        assert difference <= margin, f"{name} differs by {difference:.1e}"


def write_graph(folder, blocks, values, loss=""):
    node = helper.make_node
    last = [ROWS // blocks, TOKENS, CLASSES]
    nodes = [node("MatMul", ["x", "w1"], ["z"], name="z"), node("Relu", ["z"], ["h"], name="h"),
             node("MatMul", ["h", "w2"], ["p"], name="p"), node("Add", ["p", "bias"], ["y"], name="y")]
    if loss == FORMS[0]:
        nodes[-1].output[0], last = "t", [last[0], CLASSES, TOKENS]
        nodes.append(node("Transpose", ["t"], ["y"], perm=[0, 2, 1]))
    write_model(folder, nodes, {"x": (TensorProto.FLOAT, [ROWS // blocks, TOKENS, FEATURES])}, {"y": (TensorProto.FLOAT, last)}, values)


def check(runs, blocks, data, values, over, margin, **recipe):
    write_graph(runs.folder, blocks, values, recipe.get("loss"))
    log, final = runs.train(data, accumulation=blocks, mean_over=over, **recipe)
    if recipe.get("loss") == FORMS[1]:  # NumPy's labels stand at the token that predicts them
        shifted = np.full_like(data["labels"], -100)
        shifted[..., :-1] = data["labels"][..., 1:]
        data = {**data, "labels": shifted}
    compare(log, final, *expected(data, values, blocks if over == "block" else 1), margin)


def check_told(runs, data, values):
    """The step is told of, and parameters of a run that counts nothing stay."""
    write_graph(runs.folder, 2, values)
    nothing = {**data, "labels": np.full_like(data["labels"], -100)}
    log, final = runs.train(nothing, accumulation=2)
    assert all(line["loss"] is None and line["skipped"] for line in log), log
    assert all(np.array_equal(final[name], value) for name, value in values.items())
    told = subprocess.run([runs.path("model"), "--data", runs.path("data.npz"), "--steps", str(STEPS)],
                          check=True, capture_output=True, text=True, timeout=300).stderr
    assert "step 0 counts no label" in told and f"{STEPS} steps counted no label" in told and "loss_scale" not in told, told


def main():
    options = tool_and_folder(__doc__)
    random = np.random.default_rng(5)
    values = {"w1": random.standard_normal((FEATURES, 8)).astype(np.float32), "w2": random.standard_normal((8, CLASSES)).astype(np.float32),
              "bias": random.standard_normal(CLASSES).astype(np.float32)}
    data = make_data(random)
    checks = []
    for way in WAYS:
        runs = Runs(options.tool, options.folder, way, RECIPE)
        for blocks in BLOCKS:
            checks.append((f"{way}, {blocks} blocks", lambda runs=runs, blocks=blocks: check(runs, blocks, data, values, "step", 1e-5)))
        checks += [(f"{way}, {loss}", lambda runs=runs, loss=loss: check(runs, 2, data, values, "step", 1e-5, loss=loss)) for loss in FORMS]
        checks.append((f"{way}, blocks' means", lambda runs=runs: check(runs, 4, data, values, "block", 1e-5)))
    one = Runs(options.tool, options.folder, WAYS[0], RECIPE)
    checks.append(("fp16, 4 blocks", lambda: check(one, 4, data, values, "step", 5e-2, precision="fp16", loss_scale=1024)))
    checks.append(("no labels", lambda: check_told(one, data, values)))
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
