"""Training runs of a small model that a test writes: compiled in one way, run on data, its log and its tensors."""

import argparse
import json
import os

import numpy as np
import onnx
from safetensors.numpy import load_file

from programs import error_of


def write_model(folder, nodes, inputs, outputs, weights, opset=17):
    """`model.onnx` in the folder; inputs and outputs as {name: (type, shape)}, weights as {name: array}."""
    ports = [[onnx.helper.make_tensor_value_info(name, *port) for name, port in side.items()] for side in (inputs, outputs)]
    tensors = [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = onnx.helper.make_graph(nodes, "model", *ports, tensors)
    os.makedirs(folder, exist_ok=True)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8),
              os.path.join(folder, "model.onnx"))


class Runs:
    """Trains the folder's model on one way, with the recipe and what a run changes of it."""

    def __init__(self, tool, folder, way, recipe):
        self.tool, self.folder, self.way, self.recipe = tool, folder, way, recipe

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, *options, **recipe):
        """What is wrong, or None."""
        with open(self.path("recipe.json"), "w") as file:
            json.dump({**self.recipe, **recipe}, file)
        return error_of(self.tool, "compile", self.path("model.onnx"), "-o", self.path("model"), "--train", self.path("recipe.json"),
                        *self.way.split(), *options)

    def run(self, data):
        """What is wrong, or None. As many steps as the data has."""
        np.savez(self.path("data.npz"), **data)
        steps = len(next(iter(data.values())))
        return error_of(self.path("model"), "--data", self.path("data.npz"), "--steps", str(steps), "--log", self.path("log.jsonl"),
                        "--final", self.path("final.safetensors"), "--gradients", self.path("gradients.safetensors"))

    def train(self, data, **recipe):
        """The log and the final tensors; `gradients` has the first step's."""
        error = self.compile(**recipe) or self.run(data)
        assert not error, error
        with open(self.path("log.jsonl")) as file:
            return [json.loads(line) for line in file], load_file(self.path("final.safetensors"))

    def gradients(self):
        return load_file(self.path("gradients.safetensors"))


def arguments_of_tool(about):
    """Arguments of a script that takes the compiler and a folder to work in; it may add others."""
    arguments = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    return arguments


def tool_and_folder(about):
    """The arguments of a script that takes no others."""
    return arguments_of_tool(about).parse_args()


def arguments_of_cases(about):
    """The arguments of a script that runs cases of ../shared/training."""
    arguments = arguments_of_tool(about)
    arguments.add_argument("cases", nargs="*")
    arguments.add_argument("--full", action="store_true")
    return arguments


class Checks(list):
    """Named checks for `report`, each of which gets a folder of its own."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def add(self, name, check):
        work = os.path.join(self.folder, str(len(self)))
        self.append((name, lambda: check(work)))


def report(checks):
    """Runs each (name, function); prints those that fail and the counts. True: some failed."""
    failed = 0
    for name, check in checks:
        try:
            check()
        except Exception as error:
            failed += 1
            what = "" if isinstance(error, AssertionError) else type(error).__name__ + ": "
            print(f"FAIL: {name}: {what}{str(error)[:600]}", flush=True)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return failed > 0
