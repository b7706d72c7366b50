"""`--check-numerics`: a run ends at its first NaN or infinity and names step, tensor and op, on any number of ranks.

    python test/Execution/run_numerics.py TOOL FOLDER

The last line counts.
"""

import json

import numpy as np
from onnx import TensorProto, helper

from programs import error_of
from training_runs import Runs, report, write_model, tool_and_folder

WAYS = ["--ranks 1", "--ranks 3", "--ranks 5 --strategy data", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2", "--ranks 2 --target emulated"]
RECIPE = {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 1e-3}}
ROWS, STEPS, AT = 12, 6, 3


def write_log(folder):
    """y = log(relu(x w1 + b1)) w2: a log of 0 where a row is far below 0. What it is made of is positive else."""
    node = helper.make_node
    nodes = [node("MatMul", ["x", "w1"], ["z"], name="first"), node("Add", ["z", "b1"], ["a"], name="bias"), node("Relu", ["a"], ["h"], name="relu"),
             node("Log", ["h"], ["l"], name="logarithm"), node("MatMul", ["l", "w2"], ["y"], name="second")]
    random = np.random.Generator(np.random.PCG64(1))
    weights = {"w1": np.abs(random.standard_normal((5, 8))).astype(np.float32), "b1": np.ones(8, np.float32),
               "w2": random.standard_normal((8, 4)).astype(np.float32)}
    write_model(folder, nodes, {"x": (TensorProto.FLOAT, [ROWS, 5])}, {"y": (TensorProto.FLOAT, [ROWS, 4])}, weights)


def check(runs, value, message, **recipe):
    """What the run says if one number of step AT's data is this one; a message of None: it ends well."""
    blocks = recipe.get("accumulation", 1)
    error = runs.compile("--check-numerics", **recipe)
    assert not error, error
    data = {"x": np.ones((STEPS, ROWS, 5), np.float32), "labels": np.ones((STEPS, ROWS, 4), np.float32)}
    data["x"][AT, 7, 2] = value
    if blocks > 1:
        data = {name: np.concatenate([np.ones_like(array)] * (blocks - 1) + [array], axis=1) for name, array in data.items()}
    said = runs.run(data)
    if "loss_scale" in recipe:  # what it lets pass is there
        with open(runs.path("log.jsonl")) as file:
            assert any(json.loads(line)["skipped"] for line in file), "no gradient overflowed"
    assert said is None if message is None else said and f"step {AT}: the first number that is not finite: {message}" in said, said


def ends(tool, folder, nodes, inputs, shape, weights=None):
    """What a run of these nodes with `--check-numerics` says, or None."""
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(bool): TensorProto.BOOL}
    write_model(folder, nodes, {name: (kinds[value.dtype], value.shape) for name, value in inputs.items()}, {"y": (TensorProto.FLOAT, shape)},
                weights or {}, opset=23)
    model, data = f"{folder}/numerics", f"{folder}/inputs.npz"
    error = error_of(tool, "compile", f"{folder}/model.onnx", "-o", model, "--check-numerics")
    assert not error, error
    np.savez(data, **inputs)
    return error_of(model, "--inputs", data, "--outputs", f"{folder}/outputs.npz")


def function_checks(tool, folder):
    """A node is looked at as a whole, and what a Where leaves is not: parts of finite results may be NaN or infinite."""
    node, floats = helper.make_node, lambda *values: np.array(values, np.float32)
    rows = np.ones((2, 3), np.float32)
    mask = floats([0, 0, 0], [-np.inf] * 3)
    scores = [node("Add", ["x", "mask"], ["s"]), node("Softmax", ["s"], ["p"], name="softmax")]
    guard = [node("IsNaN", ["p"], ["n"]), node("Where", ["n", "zero", "p"], ["q"]), node("Mul", ["q", "x"], ["y"], name="after")]
    attention = node("Attention", ["q", "q", "q", "m"], ["y"])
    finite = {f"{operator}({value:g})": ([node(operator, ["x"], ["y"])], {"x": floats(value, value)}, [2])
              for operator, value in (("Elu", 100), ("Selu", 100), ("Celu", 100), ("Asinh", 0), ("Asinh", 1e30), ("Atanh", 0), ("Sinh", 0), ("Asin", 1),
                                      ("Acos", -1), ("Acosh", 1e30), ("Softplus", 200), ("Mish", 200), ("Softsign", 1e30))}
    finite |= {"a row of zeros": ([node("LpNormalization", ["x"], ["y"], axis=1)], {"x": floats([0, 0], [1, 2])}, [2, 2]),
               "attention": ([attention], {"q": np.ones((1, 1, 2, 3), np.float32), "m": np.array([[True, True], [False, False]])}, [1, 1, 2, 3]),
               "the row of another mask": (scores + guard, {"x": rows, "mask": mask, "zero": floats(0)}, [2, 3]),
               "a guarded logarithm": ([node("Log", ["x"], ["l"]), node("Greater", ["x", "zero"], ["c"]), node("Where", ["c", "l", "zero"], ["y"])],
                                       {"x": floats(0, 1), "zero": floats(0)}, [2])}
    wrong = {"NaN in input 'x', which node 'elu' reads": ([node("Elu", ["x"], ["y"], name="elu")], {"x": floats(np.nan, 0)}, [2]),
             "Inf in tensor 'y' of node 'sinh' (binary)": ([node("Sinh", ["x"], ["y"], name="sinh")], {"x": floats(1000, 0)}, [2]),
             "NaN in tensor 'p' of node 'softmax' (softmax)": (scores + [node("Mul", ["p", "x"], ["y"])], {"x": rows, "mask": mask}, [2, 3]),
             "Inf in tensor 'l' of node 'log' (unary)": (
                 [node("Log", ["x"], ["l"], name="log"), node("Greater", ["zero", "x"], ["c"]), node("Where", ["c", "zero", "l"], ["y"])],
                 {"x": floats(0, 1), "zero": floats(0)}, [2])}

    def trains(nodes, x, weights):
        shape = list(x.shape)
        write_model(folder, [node("Mul", ["x", "w"], ["a"]), *nodes], {"x": (TensorProto.FLOAT, shape)}, {"y": (TensorProto.FLOAT, shape)},
                    {"w": np.ones(1, np.float32), **weights})
        runs = Runs(tool, folder, "", {**RECIPE, "trainable": ["w"]})
        error = runs.compile("--check-numerics") or runs.run({"x": x[None], "labels": x[None]})
        assert not error, error

    trained = {"Elu": ([node("Elu", ["a"], ["y"])], floats(100, -1), {}),
               "a norm": ([node("ReduceL2", ["a"], ["n"], axes=[1], keepdims=1), node("Add", ["a", "n"], ["y"])], floats([0, 0], [1, 2]), {}),
               "the row of a mask": ([node("Add", ["a", "mask"], ["s"]), *scores[1:], *guard[:1], node("Where", ["n", "zero", "p"], ["y"])], rows,
                                     {"mask": mask, "zero": floats(0)})}

    def says(message, of):
        said = ends(tool, folder, *of)
        assert said is None if message is None else said and message in said, said

    return [(f"trains: {name}", lambda of=of: trains(*of)) for name, of in trained.items()] + [
        (f"finite: {name}", lambda of=of: says(None, of)) for name, of in finite.items()] + [
        (f"found: {message}", lambda of=of, message=message: says(message, of)) for message, of in wrong.items()]


def main():
    options = tool_and_folder(__doc__)
    write_log(options.folder)
    checks = []
    for way in WAYS:
        runs = Runs(options.tool, options.folder, way, RECIPE)
        checks += [(f"{way}: all finite", lambda runs=runs: check(runs, 1, None)),
                   (f"{way}: NaN in data", lambda runs=runs: check(runs, np.nan, "NaN in input 'x', which node 'first' reads")),
                   (f"{way}: log of 0", lambda runs=runs: check(runs, -1000, "Inf in tensor 'l' of node 'logarithm' (unary)")),
                   (f"{way}: gradients of fp16", lambda runs=runs: check(runs, 1, None, precision="fp16", loss_scale=2.0 ** 40)),
                   (f"{way}: NaN in blocks", lambda runs=runs: check(runs, np.nan, "NaN in input 'x', which node 'first' reads", accumulation=2))]
    checks += function_checks(options.tool, options.folder + "/functions")
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
