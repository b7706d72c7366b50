"""Evaluations of trainings: each metric beside NumPy's, and scikit-learn's where it is installed, on several numbers of ranks; what they change, choose and end; last batches that are padded.

    python test/Execution/run_evaluation.py TOOL FOLDER

The rows of an evaluation fill no whole number of batches. The last line counts.
"""

import glob
import json
import os
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper
from safetensors.numpy import load_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from expected import expect_error  # noqa: E402
from programs import error_of  # noqa: E402
from run_checkpoints import Training  # noqa: E402
from training_runs import Checks, report, tool_and_folder, write_model  # noqa: E402

BATCH, ROWS, STEPS = 8, 43, 12
WAYS = ["--ranks 1", "--ranks 2", "--ranks 3", "--ranks 4", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2", "--ranks 2 --target emulated"]
METRICS = {"softmax_cross_entropy_mean": ["loss", "perplexity", "accuracy", "top2_accuracy", "f1"], "mse_mean": ["loss", "mean_absolute_error", "mean_squared_error"],
           "bce_with_logits_mean": ["loss", "accuracy", "f1", "auc"]}


def draw(number):
    return np.random.Generator(np.random.PCG64(number))


class Net:
    """A layer after another, and what it computes."""

    def __init__(self, loss, outputs):
        self.loss, self.outputs = loss, outputs
        self.weights = {"w0": draw(1).standard_normal((6, 16)).astype(np.float32), "b0": np.zeros(16, np.float32), "w1": draw(2).standard_normal((16, outputs)).astype(np.float32)}

    def training(self, tool, work, evaluation=None, steps=STEPS, **recipe):
        nodes = [helper.make_node("Gemm", ["x", "w0", "b0"], ["h"], name="fc0"), helper.make_node("Tanh", ["h"], ["t"], name="tanh"),
                 helper.make_node("MatMul", ["t", "w1"], ["y"], name="fc1")]
        write_model(work, nodes, {"x": (TensorProto.FLOAT, [BATCH, 6])}, {"y": (TensorProto.FLOAT, [BATCH, self.outputs])}, self.weights)
        training = Training(tool, work, os.path.join(work, "train.npz"), {"loss": self.loss, "optimizer": {"kind": "adamw", "lr": 1e-2}, **recipe}, steps, work)
        if evaluation is not None:
            training.recipe["evaluation"] = evaluation
            with open(training.path("recipe.json"), "w") as file:
                json.dump(training.recipe, file)
        np.savez(training.data, **{name: array.reshape(10, BATCH, *array.shape[1:]) for name, array in self.rows(80, 3).items()})
        np.savez(training.path("valid.npz"), **self.rows(ROWS, 4))
        return training

    def rows(self, count, seed):
        x = draw(seed).standard_normal((count, 6)).astype(np.float32)
        if "softmax" in self.loss:
            labels = draw(seed + 10).integers(0, self.outputs, count)
        elif self.loss == "mse_mean":
            labels = draw(seed + 10).standard_normal((count, self.outputs)).astype(np.float32)
        else:
            labels = (draw(seed + 10).random((count, self.outputs)) < 0.4).astype(np.float32)
        if self.loss.startswith("masked"):
            labels[draw(seed + 20).random(count) < 0.3] = -100
        return {"x": x, "labels": labels}

    def scores(self, weights, x):
        w = {name: array.astype(np.float64) for name, array in weights.items()}
        return np.tanh(x.astype(np.float64) @ w["w0"] + w["b0"]) @ w["w1"]


def f1(predicted, labels, classes):
    values = []
    for one in classes:
        right, all_of = np.sum((predicted == one) & (labels == one)), np.sum(predicted == one) + np.sum(labels == one)
        if all_of:
            values.append(2 * right / all_of)
    return np.mean(values) if values else 0


def reference(loss, scores, labels):
    """NumPy's, in f64."""
    if "softmax" in loss:
        keep = labels != -100
        scores, labels = scores[keep], labels[keep]
        if not len(labels):
            return {"loss": np.nan}
        chances = scores - scores.max(1, keepdims=True)
        chances = chances - np.log(np.exp(chances).sum(1, keepdims=True))
        entropy, predicted = -chances[np.arange(len(labels)), labels].mean(), scores.argmax(1)
        before = (scores > scores[np.arange(len(labels)), labels][:, None]).sum(1)
        return {"loss": entropy, "perplexity": np.exp(entropy), "accuracy": np.mean(predicted == labels), "top2_accuracy": np.mean(before < 2),
                "f1": f1(predicted, labels, range(scores.shape[1]))}
    if loss == "mse_mean":
        apart = scores - labels
        return {"loss": np.mean(apart**2), "mean_absolute_error": np.mean(np.abs(apart)), "mean_squared_error": np.mean(apart**2)}
    terms = np.maximum(scores, 0) - scores * labels + np.log1p(np.exp(-np.abs(scores)))
    flat, truth = scores.ravel(), labels.ravel() > 0.5
    pairs = flat[truth][:, None] - flat[~truth][None]
    return {"loss": terms.mean(), "accuracy": np.mean((flat > 0) == truth), "f1": f1(flat > 0, truth, [True]), "auc": np.mean((pairs > 0) + 0.5 * (pairs == 0))}


def of_scikit_learn(loss, scores, labels):
    """The same by scikit-learn, where it is installed; else nothing."""
    try:
        from sklearn import metrics
    except ImportError:
        return {}
    if loss == "mse_mean":
        return {"loss": metrics.mean_squared_error(labels, scores), "mean_squared_error": metrics.mean_squared_error(labels, scores),
                "mean_absolute_error": metrics.mean_absolute_error(labels, scores)}
    if "softmax" in loss:
        keep, classes = labels != -100, range(scores.shape[1])
        scores, labels = scores[keep], labels[keep]
        chances = np.exp(scores - scores.max(1, keepdims=True))
        entropy, predicted = metrics.log_loss(labels, chances / chances.sum(1, keepdims=True), labels=classes), scores.argmax(1)
        return {"loss": entropy, "perplexity": np.exp(entropy), "accuracy": metrics.accuracy_score(labels, predicted), "f1": metrics.f1_score(labels, predicted, average="macro"),
                "top2_accuracy": metrics.top_k_accuracy_score(labels, scores, k=2, labels=classes)}
    flat, truth = scores.ravel(), labels.ravel() > 0.5
    return {"loss": metrics.log_loss(truth, 1 / (1 + np.exp(-flat))), "accuracy": metrics.accuracy_score(truth, flat > 0), "f1": metrics.f1_score(truth, flat > 0),
            "auc": metrics.roc_auc_score(truth, flat)}


def evaluations(training, out):
    with open(training.path(out + ".jsonl")) as file:
        return [line for line in map(json.loads, file) if "evaluation" in line]


def steps_of(training, out):
    return [{key: value for key, value in line.items() if key != "evaluation"} for line in training.log(out)]


def check_metrics(tool, work, loss, outputs, ways, **recipe):
    net = Net(loss, outputs)
    metrics = METRICS[loss.replace("masked_", "")]
    training = net.training(tool, work, {"every": 5, "metrics": metrics}, **recipe)
    plain = net.training(tool, os.path.join(work, "plain"), **recipe)
    rows = net.rows(ROWS, 4)
    for way in ways:
        program = training.compile(way)
        errors = [training.run(program, "out", STEPS, "--evaluation-data", training.path("valid.npz")), plain.run(plain.compile(way), "out", STEPS)]
        assert not any(errors), errors
        found = evaluations(training, "out")
        assert [line["step"] for line in found] == [4, 9, 11], found
        weights = load_file(training.path("out.safetensors"))
        scores = net.scores(weights, rows["x"])
        for whose in (reference, of_scikit_learn):
            for name, expected in whose(loss, scores, rows["labels"]).items():
                value = found[-1]["evaluation"][name]
                assert abs(value - expected) <= 1e-5 * abs(expected), f"{way}: {name} is {value}, not {expected}, {whose.__name__}"
        assert steps_of(training, "out") == steps_of(plain, "out"), f"{way}: losses differ from those without an evaluation"
        theirs = load_file(plain.path("out.safetensors"))
        assert all(weights[name].tobytes() == theirs[name].tobytes() for name in theirs), f"{way}: an evaluation changed parameters"


def check_best(tool, work):
    """The best checkpoint stays, and a training that gets no better ends; one that goes on knows the best of before."""
    net = Net("softmax_cross_entropy_mean", 5)
    training = net.training(tool, work, {"every": 2, "metrics": ["accuracy", "loss"], "best": "loss", "patience": 3}, optimizer={"kind": "sgd", "lr": 2.0})
    program, folder = training.compile("--ranks 2"), training.path("checkpoints")
    options = ["--evaluation-data", training.path("valid.npz"), "--checkpoint", folder, "--checkpoint-every", "4", "--keep", "1"]
    error = training.run(program, "whole", 60, *options)
    assert not error, error
    losses = [line["evaluation"]["loss"] for line in evaluations(training, "whole")]
    best = int(np.argmin(losses))
    assert len(losses) == best + 4 < 30, losses  # three that are no better
    taken = len(steps_of(training, "whole"))
    assert taken == 2 * len(losses)
    kept = sorted(glob.glob(os.path.join(folder, "step-*")))
    assert [int(path[-8:]) for path in kept] == [2 * best + 2, taken], kept
    assert os.path.realpath(os.path.join(folder, "best")) == os.path.realpath(kept[0])
    done = subprocess.run(training.command(program, "ended", 60, *options, "--resume", "auto"), capture_output=True, text=True)
    assert done.returncode == 0 and "note: the training had ended: 3 evaluations were not better" in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert len(glob.glob(os.path.join(folder, "step-*"))) == 2
    again = training.path("again")
    options[3] = again
    errors = [training.run(program, "parts", 2 * best + 3, *options), training.run(program, "parts", 60, *options, "--resume", "auto")]
    assert not any(errors), errors
    mine = [line["evaluation"]["loss"] for line in evaluations(training, "parts")]
    assert sorted(set(mine)) == sorted(set(mine) | set(losses)), (mine, losses)  # the first part ends with one more
    error = training.run(program, "resumed", 2 * best + 4, "--evaluation-data", training.path("valid.npz"), "--resume", os.path.join(folder, "best"))
    assert not error, error
    assert evaluations(training, "resumed")[0]["evaluation"]["loss"] == losses[best + 1]
    files = sorted(os.listdir(work))
    alone = subprocess.run([program, "--resume", os.path.join(folder, "best"), "--steps", str(2 * best + 2), "--evaluation-data", training.path("valid.npz")], capture_output=True, text=True)
    assert alone.returncode == 0 and f"evaluation after {2 * best + 2} steps: accuracy " in alone.stderr and f"loss {losses[best]:.6g}" in alone.stderr, alone.stderr
    assert "all steps were taken by runs before" in alone.stderr and sorted(os.listdir(work)) == files, alone.stderr


def check_nan(tool, work):
    """States whose scores are NaN are right in nothing, and are not the best."""
    net = Net("softmax_cross_entropy_mean", 5)
    net.weights["w1"] = np.full_like(net.weights["w1"], np.nan)
    training = net.training(tool, work, {"every": 4, "metrics": ["accuracy", "top2_accuracy", "loss"]})
    for way in WAYS[:2]:
        error = training.run(training.compile(way), "out", 4, "--evaluation-data", training.path("valid.npz"), "--checkpoint", training.path("checkpoints" + way[-1])) or "it ended well"
        assert "the loss" in error, error
        values = evaluations(training, "out")[-1]["evaluation"]
        assert values["accuracy"] == values["top2_accuracy"] == 0 and values["loss"] is None, values
        assert not os.path.islink(training.path(f"checkpoints{way[-1]}/best"))


def check_padding(tool, work, ways):
    """Each epoch's last batch has three rows; its loss and gradients are of these alone. Beside NumPy's SGD."""
    for loss in ("softmax_cross_entropy_mean", "mse_mean", "bce_with_logits_mean", "masked_softmax_cross_entropy_mean"):
        net = Net(loss, 5)
        training = net.training(tool, os.path.join(work, loss), last_batch="pad", optimizer={"kind": "sgd", "lr": 0.1})
        rows = net.rows(ROWS, 4)
        for way in ways:
            training.data = training.path("valid.npz")
            os.makedirs(training.path("rows"), exist_ok=True)
            np.savez(os.path.join(training.path("rows"), "part.npz"), **rows)
            training.data = training.path("rows")
            error = training.run(training.compile(way), "out", STEPS)
            assert not error, f"{loss} {way}: {error}"
            weights, expected = {name: array.astype(np.float64) for name, array in net.weights.items()}, []
            for step in range(STEPS):
                at = step % 6 * BATCH
                x, labels = rows["x"][at:at + BATCH].astype(np.float64), rows["labels"][at:at + BATCH]
                hidden = np.tanh(x @ weights["w0"] + weights["b0"])
                scores = hidden @ weights["w1"]
                expected.append(reference(loss, scores, labels)["loss"])
                if "softmax" in loss:
                    chances = np.exp(scores - scores.max(1, keepdims=True))
                    slope = chances / chances.sum(1, keepdims=True) - np.eye(5)[np.maximum(labels, 0)]
                    slope[labels == -100] = 0
                    slope /= max((labels != -100).sum(), 1)
                else:
                    slope = (2 * (scores - labels) if loss == "mse_mean" else 1 / (1 + np.exp(-scores)) - labels) / scores.size
                back = slope @ weights["w1"].T * (1 - hidden**2)
                for name, gradient in (("w1", hidden.T @ slope), ("w0", x.T @ back), ("b0", back.sum(0))):
                    weights[name] = weights[name] - 0.1 * gradient
            losses = [np.nan if line["loss"] is None else line["loss"] for line in training.log("out")]
            assert np.allclose(losses, expected, rtol=1e-4, equal_nan=True), f"{loss} {way}: {losses} {expected}"
            final = load_file(training.path("out.safetensors"))
            assert all(np.allclose(final[name], weights[name], rtol=1e-4, atol=1e-5) for name in weights), f"{loss} {way}: parameters differ"


def check_trainer(tool, work):
    """Metrics from Python are those of the executable, batches may have fewer rows, outputs are those of the model."""
    net = Net("softmax_cross_entropy_mean", 5)
    training = net.training(tool, work, {"metrics": METRICS[net.loss]}, last_batch="pad")
    rows = net.rows(ROWS, 4)
    batches = [{name: array[at:at + BATCH] for name, array in rows.items()} for at in range(0, ROWS, BATCH)]
    error = training.run(training.compile("--ranks 2"), "out", 6, "--evaluation-data", training.path("valid.npz"), "--data", training.path("valid.npz")) or "it ran"
    assert "valid.npz" in error, error
    os.makedirs(training.path("rows"))
    np.savez(os.path.join(training.path("rows"), "part.npz"), **rows)
    training.data = training.path("rows")
    error = training.run(training.compile("--ranks 2"), "out", 6, "--evaluation-data", training.path("valid.npz"))
    assert not error, error
    with autopar.Trainer(training.model, training.path("recipe.json"), ranks=2) as trainer:
        losses = [trainer.step(batch).loss for batch in batches]
        assert losses == [line["loss"] for line in steps_of(training, "out")], losses
        assert trainer.metrics(batches) == evaluations(training, "out")[-1]["evaluation"]
        scores = trainer.evaluate(batches[0])
        assert list(scores) == ["y"] and np.allclose(scores["y"], net.scores({name: trainer[name] for name in net.weights}, batches[0]["x"]), rtol=1e-4, atol=1e-5)
        without = {"x": batches[0]["x"]}
        expect_error(lambda: trainer.evaluate(without), "input 'labels' is missing: it is labels int64[8]", "give zeros for the labels")
        assert np.array_equal(trainer.evaluate({**without, "labels": np.zeros(BATCH, np.int64)})["y"], scores["y"])
        assert trainer.evaluate({name: array[:3] for name, array in batches[0].items()})["y"].shape == (3, 5)
        expect_error(lambda: trainer.step({name: array[:9] for name, array in rows.items()}), "a batch has 9 rows, but the program takes 8")
        expect_error(lambda: trainer.step({name: array[:0] for name, array in rows.items()}), "a batch has 0 rows, but the program takes 8")
        expect_error(lambda: trainer.step((rows["x"], rows["labels"])), "inputs are a tuple: give a dict of arrays by the names of the inputs")
        expect_error(lambda: trainer.metrics([]), "metrics of no batch")
        expect_error(lambda: trainer.metrics(batches[0]), "metrics of one batch: give a list of batches")
        expect_error(lambda: trainer.step({"x": rows["x"][:3], "labels": rows["labels"][:2]}), "the arrays of a batch have 2 and 3 rows")
    with autopar.Trainer(training.model, {"loss": net.loss, "optimizer": {"kind": "sgd", "lr": 0.1}}) as trainer:
        expect_error(lambda: trainer.step(batches[-1]), "a batch has 3 rows, but the program takes 8; fewer are taken if the recipe has")
        expect_error(lambda: trainer.metrics(batches), "the recipe has no 'evaluation'")


def check_variances(tool, work):
    """Running variances are the population's, or PyTorch's."""
    weights = {"s": np.ones(3, np.float32), "b": np.zeros(3, np.float32), "m": np.zeros(3, np.float32), "v": np.ones(3, np.float32)}
    x = draw(1).standard_normal((1, 4, 3, 5)).astype(np.float32)
    for kind, freedom in (("population", 0), ("unbiased", 1)):
        folder = os.path.join(work, kind)
        write_model(folder, [helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "m1", "v1"], training_mode=1)], {"x": (TensorProto.FLOAT, x.shape[1:])},
                    {"y": (TensorProto.FLOAT, x.shape[1:])}, weights)
        np.savez(os.path.join(folder, "data.npz"), x=x, labels=np.zeros_like(x))
        training = Training(tool, folder, os.path.join(folder, "data.npz"), {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.1}, "running_variance": kind}, 1, folder)
        for way in WAYS[:3]:
            error = training.run(training.compile(way), "out", 1)
            assert not error, error
            found, expected = load_file(training.path("out.safetensors"))["v"], 0.9 + 0.1 * x[0].var((0, 2), ddof=freedom)
            assert np.allclose(found, expected, rtol=1e-6), f"{kind} {way}: {found} {expected}"
    write_model(work, [helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y", "m1", "v1"], training_mode=1)], {"x": (TensorProto.FLOAT, [1, 3])},
                {"y": (TensorProto.FLOAT, [1, 3])}, weights)
    error = error_of(tool, "compile", os.path.join(work, "model.onnx"), "-o", training.path("program"), "--train", training.path("recipe.json")) or "it was compiled"
    assert "'running_variance': a channel has one value in a batch" in error, error


def check_refusals(tool, work):
    def refused(net, *said, evaluation=None, options=(), **recipe):
        training = net.training(tool, os.path.join(work, str(len(os.listdir(work)))), evaluation, **recipe)
        error = error_of(tool, "compile", training.model, "-o", training.path("program"), "--train", training.path("recipe.json"), *options) or "it was compiled"
        assert all(words in error for words in said), f"no {said} in: {error}"
    os.makedirs(work)
    classes, numbers = Net("softmax_cross_entropy_mean", 5), Net("mse_mean", 2)
    refused(classes, "'metrics': 'acuracy' is none of loss, perplexity, accuracy, top5_accuracy", "did you mean 'accuracy'?", evaluation={"metrics": ["acuracy"]})
    refused(classes, "the metric 'mean_absolute_error' does not go with the loss softmax_cross_entropy_mean", "of mse_mean", evaluation={"metrics": ["mean_absolute_error"]})
    refused(numbers, "the metric 'accuracy' does not go with the loss mse_mean", evaluation={"metrics": ["accuracy"]})
    refused(Net("bce_with_logits_mean", 3), "the metric 'auc' does not go with", "one score per row", evaluation={"metrics": ["auc"]})
    refused(classes, "'metrics': 'loss' is there twice", evaluation={"metrics": ["loss", "loss"]})
    refused(classes, "'metrics' is empty", evaluation={"metrics": []})
    refused(classes, "'best' is 'f1', which 'metrics' has not: loss", evaluation={"best": "f1"})
    refused(classes, "'every' must be an integer of 1 or more", evaluation={"every": 0})
    refused(classes, "'patience' counts evaluations while the model trains: add 'every'", evaluation={"patience": 2})
    refused(classes, "the metric 'top5_accuracy' does not go with", "no more classes than that", evaluation={"metrics": ["top5_accuracy"]})
    refused(classes, "'evaluation': unknown key 'evry'", evaluation={"evry": 5})
    refused(classes, "'evaluation' must be an object", evaluation=5)
    refused(classes, "'last_batch': 'keep' is none of drop, pad", last_batch="keep")
    refused(classes, "leave --entry out", evaluation={}, options=("--entry", "batch=1"))
    training = classes.training(tool, os.path.join(work, "run"), {"every": 5})
    program = training.compile("--ranks 2")

    def fails(*said, options):
        error = training.run(program, "refused", STEPS, *options) or "it ran"
        assert all(words in error for words in said), f"no {said} in: {error}"
    fails("--final", "valid.npz would replace the evaluation's data", options=("--evaluation-data", training.path("valid.npz"), "--final", training.path("valid.npz")))
    fails("there is no file 'none.npz'", options=("--evaluation-data", "none.npz"))
    fails("has no array 'labels', an input of the evaluation", options=("--evaluation-data", write(training, x=classes.rows(9, 1)["x"])))
    fails("the model has no input 'z'", options=("--evaluation-data", write(training, z=np.zeros(9, np.float32), **classes.rows(9, 1))))
    fails("so that a row is f32[6], but rows of the data are f32[8,6]", options=("--evaluation-data", training.data))
    fails("row 3 of", "input 'labels' has 7", options=("--evaluation-data", write(training, x=classes.rows(9, 1)["x"], labels=np.where(np.arange(9) == 3, 7, 0))))
    plain = classes.training(tool, os.path.join(work, "plain"))
    error = plain.run(plain.compile("--ranks 1"), "refused", STEPS, "--evaluation-data", training.path("valid.npz")) or "it ran"
    assert "--evaluation-data is of a training whose recipe has an 'evaluation'" in error, error


def write(training, **arrays):
    path = training.path(f"rows{len(glob.glob(training.path('rows*')))}.npz")
    np.savez(path, **arrays)
    return path


def main():
    options = tool_and_folder(__doc__)
    tool, folder = options.tool, options.folder
    checks = Checks(folder)
    for loss, outputs in (("softmax_cross_entropy_mean", 5), ("masked_softmax_cross_entropy_mean", 5), ("mse_mean", 3), ("bce_with_logits_mean", 1)):
        checks.add(f"metrics of {loss}", lambda work, loss=loss, outputs=outputs: check_metrics(tool, work, loss, outputs, WAYS if outputs == 5 else WAYS[:4]))
    checks.add("the best", lambda work: check_best(tool, work))
    checks.add("numbers that are none", lambda work: check_nan(tool, work))
    checks.add("padded batches", lambda work: check_padding(tool, work, [WAYS[0], WAYS[2], WAYS[4]]))
    checks.add("a Trainer", lambda work: check_trainer(tool, work))
    checks.add("running variances", lambda work: check_variances(tool, work))
    checks.add("refusals", lambda work: check_refusals(tool, work))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
