"""Compiles a small model with one wrong recipe after the other and prints what is said of each.

    python wrong_recipes.py TOOL FOLDER
"""

import json
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

GOOD = {"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "sgd"}}


def recipe(optimizer=None, **changes):
    made = {**GOOD, **changes}
    if optimizer:
        made["optimizer"] = {**GOOD["optimizer"], **optimizer}
    return {key: value for key, value in made.items() if value != "absent"}


WRONG = {
    "list": [1, 2],
    "key": recipe(optimiser={}),
    "no-loss": recipe(loss="absent"),
    "loss": recipe(loss="cross_entropy"),
    "output": recipe(output="probabilities"),
    "labels": recipe(labels="x"),
    "tokens": recipe(loss="causal_lm_shifted_cross_entropy_mean"),
    "no-optimizer": recipe(optimizer=None) | {"optimizer": "sgd"},
    "optimizer": recipe({"kind": "adm"}),
    "hyperparameter": recipe({"betas": [0.9, 0.99]}),
    "learning-rate": recipe({"lr": "small"}),
    "negative": recipe({"lr": -1}),
    "betas": recipe({"kind": "adam", "betas": 0.9}),
    "beta": recipe({"kind": "adam", "betas": [0.9, 1.0]}),
    "flag": recipe({"nesterov": 1}),
    "nesterov": recipe({"nesterov": True}),
    "decay": recipe({"weight_decay_parameters": ["w"]}),
    "schedule": recipe(schedule={"kind": "exponential"}),
    "schedule-key": recipe(schedule={"kind": "step", "every": 3}),
    "step": recipe(schedule={"kind": "step"}),
    "total": recipe(schedule={"kind": "cosine"}),
    "rates": recipe(schedule={"lr_per_step": [0.1, None]}),
    "clip": recipe(clip_global_norm=0),
    "trainable": recipe(trainable=["fc.wieght"]),
    "trainable-kind": recipe(trainable=["table"]),
    "twice": recipe(trainable=["fc.weight", "fc.weight"]),
    "outside-schedule": recipe(lr_per_step=[0.1]),
    "outside-optimizer": recipe(betas=[0.9, 0.9]),
    "precision": recipe(precision="int8"),
    "loss-scale": recipe(loss_scale=1e39),
    "dropout": recipe(dropout=1),
    "seed": recipe(seed=-1),
    "blocks": recipe(accumulation=1 << 40),
    "accumulation": recipe(accumulation=0),
    "means": recipe(mean_over="batch"),
    "communication": recipe(gradient_communication="int8"),
    "communication-type": recipe(gradient_communication="fp16", precision="bf16"),
    "groups": recipe(groups={"parameters": ["*"]}),
    "group": recipe(groups=["*.bias"]),
    "group-key": recipe(groups=[{"parameters": ["*"], "betas": [0.9, 0.9]}]),
    "group-names": recipe(groups=[{"weight_decay": 0}]),
    "group-value": recipe(groups=[{"parameters": ["*"], "momentum": -1}]),
    "group-rate": recipe(groups=[{"parameters": ["*"], "lr": 1, "lr_scale": 2}]),
    "group-rates": recipe(groups=[{"parameters": ["*"], "lr": 1}], schedule={"lr_per_step": [1]}),
    "group-decay": recipe({"weight_decay_parameters": ["fc.bias"]}, groups=[{"parameters": ["*"], "weight_decay": 0}]),
    "group-frozen": recipe(groups=[{"parameters": ["*"], "frozen": True, "lr_scale": 2}]),
    "group-none": recipe(groups=[{"parameters": ["*.bais"], "weight_decay": 0}]),
    "group-twice": recipe(groups=[{"parameters": ["*"]}, {"parameters": ["fc.b*"]}]),
    "group-left-out": recipe(groups=[{"parameters": ["*.bias", "!*.weight"]}]),
    "group-frozen-none": recipe(groups=[{"parameters": ["table"], "frozen": True}]),
    "average": recipe(average=1),
    "run-time": recipe(at_run_time="lr"),
    "run-time-name": recipe(at_run_time=["learning_rate"]),
    "run-time-near": recipe(at_run_time=["weight_decey"]),
    "run-time-other": recipe(at_run_time=["betas"]),
    "run-time-twice": recipe(at_run_time=["lr", "optimizer.lr"]),
    "run-time-flag": recipe(at_run_time=["nesterov"]),
    "run-time-kind": recipe(at_run_time=["optimizer.kind"]),
    "run-time-blocks": recipe(at_run_time=["accumulation"]),
    "run-time-dropout": recipe(at_run_time=["dropout"], dropout=0.5),
    "run-time-start": recipe({"kind": "adagrad"}, at_run_time=["initial_accumulator_value"]),
    "run-time-absent": recipe(at_run_time=["clip_value"]),
    "run-time-scale": recipe(at_run_time=["loss_scale"], loss_scale="dynamic"),
    "run-time-schedule": recipe(at_run_time=["gamma"], schedule={"kind": "cosine"}, steps=3),
    "run-time-list": recipe(at_run_time=["lr"], schedule={"lr_per_step": [1]}),
    "run-time-rates": recipe(at_run_time=["lr_per_step"], schedule={"lr_per_step": [1]}),
    "run-time-dampening": recipe({"momentum": 0.9, "nesterov": True}, at_run_time=["dampening"]),
    "run-time-groups": recipe(at_run_time=["groups"]),
    "run-time-group": recipe(at_run_time=["groups[1].lr"], groups=[{"parameters": ["*"]}]),
    "run-time-group-form": recipe(at_run_time=["groups[x].lr"]),
    "run-time-group-frozen": recipe(at_run_time=["groups[0].lr"], groups=[{"parameters": ["fc.bias"], "frozen": True}]),
    "run-time-group-rate": recipe(at_run_time=["groups[0].lr"], groups=[{"parameters": ["*"], "lr_scale": 2}]),
    "run-time-group-both": recipe(at_run_time=["groups[0].lr", "groups[0].lr_scale"], groups=[{"parameters": ["*"]}]),
    "run-time-group-decay": recipe({"weight_decay_parameters": ["fc.bias"]}, at_run_time=["groups[0].weight_decay"], groups=[{"parameters": ["*"]}]),
    "group-all-frozen": recipe(groups=[{"parameters": ["*"], "frozen": True}]),
}


def save_model(path):
    random = np.random.default_rng(1)
    values = {"fc.weight": random.standard_normal((3, 4)).astype(np.float32), "fc.bias": np.zeros(3, np.float32),
              "table": np.arange(12, dtype=np.int64).reshape(4, 3)}
    nodes = [helper.make_node("Gemm", ["x", "fc.weight", "fc.bias"], ["logits"], name="fc", transB=1),
             helper.make_node("Gather", ["table", "i"], ["rows"], name="rows")]
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "wrong", [tensor("x", TensorProto.FLOAT, [2, 4]), tensor("i", TensorProto.INT64, [2])],
                              [tensor("logits", TensorProto.FLOAT, [2, 3]), tensor("rows", TensorProto.INT64, [2, 3])],
                              [onnx.numpy_helper.from_array(value, name) for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def main():
    tool, folder = sys.argv[1:]
    model, path, program = (os.path.join(folder, name) for name in ("model.onnx", "recipe.json", "program"))
    save_model(model)
    texts = {name: json.dumps({"output": "logits", **wrong} if isinstance(wrong, dict) else wrong) for name, wrong in WRONG.items()}
    texts["json"] = '{"loss": '
    texts["none"] = texts["json"]
    for name, text in texts.items():
        with open(path, "w") as file:
            file.write(text)
        given = os.path.join(folder, "absent.json") if name == "none" else path
        done = subprocess.run([tool, "compile", model, "-o", program, "--train", given], capture_output=True, text=True)
        said = done.stderr.strip().replace(folder + "/", "")
        print(f"{name}: {done.returncode} {said}")


if __name__ == "__main__":
    main()
