"""The table `What may change` of docs/Checkpoints.md: each row's change is made between a save and a resume, and what follows is what the row says.

    check_resume_page.py PAGE FOLDER

A row's verdict is its first word of "goes on", "not compared", "warned" and "refused". A row that is refused and names --resume-ignoring goes on with it.
"""

import json
import re
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

VERDICTS = ("goes on", "not compared", "warned", "refused")
SILENT = {"goes on", "not compared"}
RECIPE = {"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 1e-2}, "at_run_time": ["lr"]}
ADAMW = RECIPE["optimizer"]
WITHOUT = None  # a recipe's key that goes

# By the words with which a row begins: changes of the recipe, files and options; `run` are options of the run. Where it is refused, each
# option that the page or the message names makes it go on.
CASES = {
    "`--ranks`": [dict(compile=["--ranks", "1"]), dict(compile=["--ranks", "2", "--target", "emulated"])],
    "`--steps`": [dict(steps=5)],
    "`--data FILE.npz`": [dict(data="other.npz")],
    "`--data` of shards": [dict(data="other-shards", folder="sharded"), dict(data="shards", folder="sharded", run=["--shuffle", "2"]), dict(data="data.npz", folder="sharded")],
    "the batch": [dict(compile=["--bind", "batch=16"], data="data16.npz")],
    "recipe: `lr`": [dict(optimizer={**ADAMW, "weight_decay": 0.3}, schedule={"kind": "step", "step_size": 2}), dict(loss="masked_softmax_cross_entropy_mean", clip_value=1.0),
                     dict(accumulation=2, data="data16.npz", evaluation={"metrics": ["accuracy"]}), dict(precision="bf16", seed=3), dict(precision="fp16", loss_scale=128)],
    "recipe: the names": [dict(at_run_time=["lr", "weight_decay"]), dict(at_run_time=WITHOUT)],
    "recipe: `optimizer`": [dict(optimizer={"kind": "sgd", "lr": 1e-2}), dict(optimizer={**ADAMW, "amsgrad": True})],
    "recipe: `average`": [dict(average=0.9)],
    "recipe: a dynamic": [dict(precision="fp16")],
    "recipe: which": [dict(groups=[{"parameters": ["fc1.bias"], "frozen": True}]), dict(trainable=["fc2.weight"]), dict(model="dropout.onnx")],
    "model: another": [dict(model="tanh.onnx")],
    "model: other": [dict(model="wider.onnx"), dict(model="renamed.onnx")],
}
ELSEWHERE = {"`--evaluation-data`": "test/Execution/run_evaluation.py"}


def write_model(path, activation="Relu", width=16, name="fc1", drops=False):
    rng = np.random.default_rng(1)
    shapes = {f"{name}.weight": (width, 12), f"{name}.bias": (width,), "fc2.weight": (5, width), "fc2.bias": (5,)}
    tensors = [onnx.numpy_helper.from_array(rng.normal(size=shape).astype("f4"), key) for key, shape in shapes.items()]
    nodes = [helper.make_node("Gemm", ["x", f"{name}.weight", f"{name}.bias"], ["h"], transB=1), helper.make_node(activation, ["h"], ["a"])]
    if drops:
        tensors += [helper.make_tensor("ratio", TensorProto.FLOAT, (), [0.1]), helper.make_tensor("mode", TensorProto.BOOL, (), [True])]
        nodes.append(helper.make_node("Dropout", ["a", "ratio", "mode"], ["d"]))
    nodes.append(helper.make_node("Gemm", ["d" if drops else "a", "fc2.weight", "fc2.bias"], ["y"], transB=1))
    ports = [helper.make_tensor_value_info(key, TensorProto.FLOAT, ["batch", size]) for key, size in (("x", 12), ("y", 5))]
    graph = helper.make_graph(nodes, "graph", ports[:1], ports[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def write_files(folder):
    for path, how in {"model": {}, "tanh": {"activation": "Tanh"}, "wider": {"width": 17}, "renamed": {"name": "first"}, "dropout": {"drops": True}}.items():
        write_model(f"{folder}/{path}.onnx", **how)
    rng = np.random.default_rng(0)
    for path, shape in {"data": (9, 8), "other": (9, 8), "data16": (9, 16), "shards/part-1": (80,), "other-shards/part-1": (81,)}.items():
        np.savez(f"{folder}/{path}.npz", x=rng.normal(size=(*shape, 12)).astype("f4"), labels=rng.integers(0, 5, size=shape))


def compile_training(folder, case):
    recipe = {**RECIPE, **{key: value for key, value in case.items() if key not in ("compile", "run", "data", "folder", "model", "steps")}}
    with open(f"{folder}/recipe.json", "w") as file:
        json.dump({key: value for key, value in recipe.items() if value is not WITHOUT}, file)
    ways = case.get("compile", [])
    ways = ways if "--bind" in ways else [*ways, "--bind", "batch=8"]
    command = ["autopar", "compile", case.get("model", "model.onnx"), "--train", "recipe.json", "-o", "program", *ways]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def train(folder, case, options):
    """What the training says that was compiled last, and its verdict."""
    command = ["./program", "--data", case.get("data", "data.npz"), "--steps", str(case.get("steps", 9)), *options, *case.get("run", [])]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return ran.stderr, "refused" if ran.returncode else "warned" if " not as when the checkpoint " in ran.stderr else "goes on"


def check(folder, case, verdict, text):
    """What is wrong with a row's case, or None."""
    resume = ["--resume", case.get("folder", "saved")]
    compile_training(folder, case)
    said, became = train(folder, case, resume)
    if became != verdict and not {became, verdict} <= SILENT:
        return f"{became}, not {verdict}: {said}"
    if verdict != "refused":
        return None
    for way in sorted({*re.findall(r"--resume-ignoring \w+", text), *re.findall(r"--(?:resume-ignoring|set) [\w=]+", said)}):
        said, became = train(folder, case, [*resume, *way.replace("NUMBER", "0.1").split()])
        if became == "refused":
            return f"with {way} refused: {said}"
    return None


def main():
    page, folder = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        table = file.read().split("## What may change")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines() if line.startswith("| ")][1:]
    write_files(folder)
    compile_training(folder, {"compile": ["--ranks", "2"]})
    for data, name in (("data.npz", "saved"), ("shards", "sharded")):
        said, became = train(folder, {"data": data, "steps": 6}, ["--checkpoint", name])
        assert became == "goes on", said
    checked, failures = 0, []
    for what, text in rows:
        cases = next((cases for words, cases in CASES.items() if what.startswith(words)), [])
        if not cases and not any(what.startswith(words) for words in ELSEWHERE):
            failures.append(f"{what}: no case is of this row")
        verdict = min((word for word in VERDICTS if word in text.lower()), key=text.lower().find)
        for case in cases:
            checked += 1
            if failure := check(folder, case, verdict, text):
                failures.append(f"{what}: {case}: {failure}")
    print(*(f"FAIL: {failure}" for failure in failures), sep="\n")
    print(f"{len(rows)} rows, {checked} changes checked, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
