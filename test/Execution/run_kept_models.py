"""Small models that once were wrong, refused or ended the compiler, against the oracle of the random models.

    python test/Execution/run_kept_models.py AUTOPAR WORK_FOLDER [--only TEXT] [--target emulated]

A file of Inputs/kept is a model as onnx.parser reads it, after lines of comment. Of these `# name = numbers` gives an input its
elements (else they are random), `# weights NAME ...` says which inputs are weights of the model, and `# run OPTIONS` is a
configuration of the compiler (else it is one rank). One line per failure; the last line counts: "N passed, N failed, 0 skipped".
"""

import argparse
import os
import random
import re
import sys
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.parser  # noqa: E402

from random_models import runs  # noqa: E402
from random_models.graph import Graph  # noqa: E402
from random_models.tolerance import Tolerance  # noqa: E402
from random_models.types import NUMPY, array_of, save_arrays, tensor  # noqa: E402

KEPT = os.path.join(HERE, "Inputs", "kept")


@dataclass
class Kept:
    """`given`: numbers of inputs as text; `weights`: names of inputs; `runs`: options of configurations."""
    model: onnx.ModelProto
    given: dict
    weights: set
    runs: list


def read(path):
    with open(path) as file:
        lines = file.read().splitlines()
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    model = onnx.parser.parse_model("\n".join(line for line in lines if not line.startswith("#")))
    given = dict(match.groups() for line in comments if (match := re.fullmatch(r"(\w+) = ([-+.\w ]+)", line)))
    weights = {name for line in comments if line.startswith("weights ") for name in line.split()[1:]}
    return Kept(model, given, weights, [line[3:].split() for line in comments if line.startswith("run ")] or [[]])


def shape_of(value):
    return tuple(d.dim_value for d in value.type.tensor_type.shape.dim)


def oracle_of(kept, seed):
    """A graph that computed the model, with its inputs' arrays; the model's weights become initializers."""
    model = kept.model
    graph = Graph(random.Random(seed), model.opset_import[0].version, np.dtype(np.float32))
    for initializer in model.graph.initializer:
        graph.values[initializer.name] = array_of(initializer)
        graph.weights.append(initializer.name)
    for value in list(model.graph.input):
        dtype = NUMPY[value.type.tensor_type.elem_type]
        array = np.array(kept.given[value.name].split(), float).astype(dtype).reshape(shape_of(value)) if value.name in kept.given else \
            np.asarray(graph.random.standard_normal(shape_of(value)).clip(-3, 3)).astype(dtype)
        graph.values[value.name] = array
        (graph.weights if value.name in kept.weights else graph.inputs).append(value.name)
        if value.name in kept.weights:
            model.graph.input.remove(value)
            model.graph.initializer.append(tensor(array, value.name))
    for node in model.graph.node:
        types = {v.name: NUMPY[v.type.tensor_type.elem_type] for v in list(model.graph.output) + list(model.graph.value_info)}
        names = [name for name in node.output if name]
        dtypes = [types[name] for name in names] if all(name in types for name in names) else graph._types(node)[0]
        graph.values.update(graph.oracle.add(node, dict(zip(node.output, dtypes)), graph.values))
        graph.nodes.append(node)
    return graph


class Plain:
    """A configuration by its options."""

    def __init__(self, words, target):
        self.words = (words if "--ranks" in words or "--cluster" in words else words + ["--ranks", "1"]) + ["--target", target]

    def options(self, stem):
        return self.words


def attempt(tool, path, work, target):
    """What is wrong, or ""."""
    kept = read(path)
    model = kept.model
    graph = oracle_of(kept, os.path.basename(path))
    stem = os.path.join(work, os.path.basename(path))
    onnx.save(model, stem + ".onnx")
    save_arrays(stem + ".in.npz", {name: graph.values[name] for name in graph.inputs})
    leaves = {name: graph.values[name] for name in graph.inputs + graph.weights}
    tolerance = Tolerance(graph.oracle, leaves, graph.values, [v.name for v in model.graph.output], 1)
    for words in kept.runs:
        result = runs.attempt(tool, stem, Plain(words, target), tolerance)
        if result.kind != "right":
            return f"{' '.join(words) or 'one rank'}: {result.kind}: {result.text}"
    return ""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("work")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--target", default="cpu")
    options = arguments.parse_args()
    names = sorted(name for name in os.listdir(KEPT) if options.only in name)
    failed = 0
    for name in names:
        error = attempt(options.tool, os.path.join(KEPT, name), options.work, options.target)
        failed += bool(error)
        if error:
            print(f"FAIL: {name}: {error}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
