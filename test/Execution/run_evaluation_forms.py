"""Graphs in all forms that Dropout and BatchNormalization have, exported for inference: what onnxruntime computes with them, against NumPy.

    python test/Execution/run_evaluation_forms.py TOOL FOLDER

Nothing is trained: a file of tensors stands for what a training ends with. The last line counts.
"""

import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

from run_exported_models import check_form, export, run_model
from training_runs import report, tool_and_folder

FLOAT = TensorProto.FLOAT

# name: (text, opset, what the same graph computes of x in evaluation by output, operators that are left)
NORM = "<float[2] s = {1,2}, float[2] b = {3,4}, float[2] m = {5,6}, float[2] v = {4,16}, float half = {0.5}, bool yes = {1}>"


def normed(x):
    s, b, m, v = (np.array(row, np.float32).reshape(2, 1) for row in ([1, 2], [3, 4], [-5, 6], [4, 16]))  # m[0] is replaced
    return (x - m) / np.sqrt(v + 1e-5) * s + b


MEAN, VARIANCE = np.array([-5, 6], np.float32), np.array([4, 16], np.float32)
ONES = np.ones((6, 2, 3), bool)
FORMS = {
    "a chain, an output": (f"""g (float[6,2,3] x) => (float[6,2,3] y, float[2] mean) {NORM}
        {{ n, mean, variance = BatchNormalization <training_mode = 1> (x, s, b, m, v)
           d = Dropout(n, half, yes)
           y = Dropout(d, half, yes) }}""", 15, lambda x: {"y": normed(x), "mean": MEAN}, ["BatchNormalization", "Identity", "Identity"]),
    "statistics are read": (f"""g (float[6,2,3] x) => (float[2] y, float[6,2,3] z) {NORM}
        {{ z, mean, variance = BatchNormalization <training_mode = 1> (x, s, b, m, v)
           y = Add(mean, variance) }}""", 17, lambda x: {"y": MEAN + VARIANCE, "z": normed(x)}, ["BatchNormalization", "Add"]),
    "a norm of opset 9": (f"""g (float[6,2,3] x) => (float[6,2,3] y) {NORM}
        {{ n, mean, variance, saved_mean, saved_variance = BatchNormalization (x, s, b, m, v)
           d = Dropout <ratio = 0.5> (n)
           y = Relu(d) }}""", 9, lambda x: {"y": np.maximum(normed(x), 0)}, ["BatchNormalization", "Relu"]),
    "a mask": (f"""g (float[6,2,3] x) => (float[6,2,3] y, bool[6,2,3] mask) {NORM}
        {{ n = BatchNormalization (x, s, b, m, v)
           d, mask = Dropout(n, half, yes)
           y = Neg(d) }}""", 22, lambda x: {"y": -normed(x), "mask": ONES}, ["BatchNormalization", "Shape", "ConstantOfShape", "Neg"]),
    "a mask of opset 9": (f"""g (float[6,2,3] x) => (float[6,2,3] y) {NORM}
        {{ n = BatchNormalization (x, s, b, m, v)
           d, mask = Dropout <ratio = 0.25> (n)
           y = Mul(d, mask) }}""", 9, lambda x: {"y": normed(x)}, ["BatchNormalization", "Clip", "Mul"]),
    "an initializer that is an input": (f"""g (float[6,2,3] x, float[2] m = {{5,6}}, float half = {{0.5}}) => (float[6,2,3] y)
        <float[2] s = {{1,2}}, float[2] b = {{3,4}}, float[2] v = {{4,16}}, bool yes = {{1}}>
        {{ n = BatchNormalization (x, s, b, m, v)
           d = Dropout(n, half, yes)
           y = Neg(d) }}""", 15, lambda x: {"y": -normed(x)}, ["BatchNormalization", "Neg"]),
    "a mask that is not read": (f"""g (float[6,2,3] x) => (float[6,2,3] y) {NORM}
        {{ n = BatchNormalization (x, s, b, m, v)
           d, mask = Dropout <seed = 7> (n, half, yes)
           y = Neg(d) }}""", 13, lambda x: {"y": -normed(x)}, ["BatchNormalization", "Neg"]),
    "ratios that others read": (f"""g (float[6,2,3] x) => (float[6,2,3] y) {NORM}
        {{ n = BatchNormalization (x, s, b, m, v)
           d = Dropout(n, half, yes)
           y = Mul(d, half) }}""", 13, lambda x: {"y": normed(x) / 2}, ["BatchNormalization", "Mul"]),
    "constants of its own": (f"""g (float[6,2,3] x) => (float[6,2,3] y) {NORM}
        {{ n = BatchNormalization (x, s, b, m, v)
           rate = Constant <value = float {{0.25}}> ()
           mode = Constant <value = bool {{1}}> ()
           d = Dropout(n, rate, mode)
           y = Abs(d) }}""", 14, lambda x: {"y": np.abs(normed(x))}, ["BatchNormalization", "Abs"]),
    "branches": (f"""g (float[6,2,3] x) => (float[6,2,3] y) {NORM}
        {{ n = BatchNormalization (x, s, b, m, v)
           d = Dropout(n, half, yes)
           y = If (yes) <then_branch = t () => (float[6,2,3] o) {{ p = Dropout(d, half, yes)
                                                              o = Neg(p) }},
                         else_branch = e () => (float[6,2,3] o2) {{ o2 = Dropout(d, half, yes) }}> }}""", 17,
                 lambda x: {"y": -normed(x)}, ["BatchNormalization", "If", "Neg", "Identity"]),
}


def operators(graph):
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from operators(attribute.g)


def make_form(text, opset):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')
    model.doc_string = "kept"
    return model


def check_form_of(tool, work, name):
    os.makedirs(work)
    text, opset, wanted, left = FORMS[name]
    path = {part: os.path.join(work, part) for part in ("model.onnx", "m.safetensors", "out.onnx")}
    model = make_form(text, opset)
    onnx.save(model, path["model.onnx"])
    save_file({"m": MEAN}, path["m.safetensors"])
    export(tool, path["m.safetensors"], "-o", path["out.onnx"], "--model", path["model.onnx"])
    got = onnx.load(path["out.onnx"])
    assert got.doc_string == "kept"
    check_form(got, model, {"m": MEAN})
    assert list(operators(got.graph)) == left, list(operators(got.graph))
    gone = {tensor.name for tensor in model.graph.initializer} - {tensor.name for tensor in got.graph.initializer}
    of_dropout = {name for node in model.graph.node if node.op_type == "Dropout" for name in node.input[1:]} - {port.name for port in model.graph.input}
    assert gone == {name for name in of_dropout & {"half", "yes"} if f'input: "{name}"' not in str(got.graph)}, gone
    x = np.random.default_rng(1).standard_normal((6, 2, 3)).astype(np.float32)
    outputs = run_model(path["out.onnx"], {"x": x})
    for output, value in wanted(x).items():
        assert np.allclose(outputs[output], value, rtol=1e-5, atol=1e-6), f"{output} is {outputs[output]}, not {value}"


def check_function(tool, work):
    """Functions of the model have such nodes; a packed model; numbers that are no bytes; a weight of a Constant node."""
    os.makedirs(work)
    path = {part: os.path.join(work, part) for part in ("model.onnx", "model.onnx.gz", "w.safetensors", "out.onnx")}
    large = np.arange(600, dtype=np.float32).reshape(2, 300)
    block = helper.make_function("own", "block", ["a", "b"], ["c"], [
        helper.make_node("Constant", [], ["rate"], value_float=0.5), helper.make_node("Constant", [], ["on"], value=numpy_helper.from_array(np.array(True))),
        helper.make_node("Dropout", ["a", "rate", "on"], ["d"]), helper.make_node("Add", ["d", "b"], ["e"]), helper.make_node("Dropout", ["e", "rate", "on"], ["c"])],
        [helper.make_opsetid("", 17)])
    floats = helper.make_tensor("floats", FLOAT, large.shape, large.flatten())  # float_data
    nodes = [helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(large, "w")), helper.make_node("block", ["x", "w"], ["h"], domain="own"),
             helper.make_node("Add", ["h", "floats"], ["k"]), helper.make_node("Add", ["k", "scale"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", FLOAT, [2, 300])], [helper.make_tensor_value_info("y", FLOAT, [2, 300])],
                              [floats, numpy_helper.from_array(np.float32(3), "scale")])
    model = helper.make_model(graph, functions=[block], opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)], ir_version=8)
    onnx.save(model, path["model.onnx"])
    subprocess.run(["gzip", "-k", path["model.onnx"]], check=True)
    changed = {"w": -large, "scale": np.array(7, np.float32)}
    save_file(changed, path["w.safetensors"])
    told = export(tool, path["w.safetensors"], "-o", path["out.onnx"], "--model", path["model.onnx.gz"])
    assert "2 tensors replaced" in told and "2 Dropout nodes taken out" in told and "'floats'" in told, told
    with open(path["out.onnx"], "rb") as file:
        packed = file.read()
    export(tool, path["w.safetensors"], "-o", path["out.onnx"], "--model", path["model.onnx"])
    with open(path["out.onnx"], "rb") as file:
        assert file.read() == packed
    x = np.ones((2, 300), np.float32)
    assert np.allclose(run_model(path["out.onnx"], {"x": x})["y"], x - large + large + 7)
    got = onnx.load(path["out.onnx"])
    assert [node.op_type for node in got.functions[0].node] == ["Add", "Identity"], got.functions[0]


def main():
    options = tool_and_folder(__doc__)
    checks = [(name, lambda name=name: check_form_of(options.tool, os.path.join(options.folder, name.replace(" ", "-")), name)) for name in FORMS]
    checks.append(("functions", lambda: check_function(options.tool, os.path.join(options.folder, "functions"))))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
