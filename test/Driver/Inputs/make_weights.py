"""Writes a small model, in DIR/base, and files that are nearly the same, each in a folder of its own.

    python make_weights.py DIR

x -> relu(x @ w + b) * val_1 @ table. `w` is raw, `b` is numbers, `val_1` a scalar that the compiler looks at, `table` a Constant
node. inputs.npz and, by numpy, base.npz and tuned.npz (the results with the weights of base and of tuned).
"""

import os
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
rng = np.random.Generator(np.random.PCG64(0))


def drawn(*shape):
    return rng.standard_normal(shape).astype(np.float32)


x, table = drawn(4, 8), drawn(8, 16)
base = {"w": drawn(8, 8), "b": drawn(8), "scale": np.float32(0.5).reshape(())}
tuned = {"w": drawn(8, 8), "b": drawn(8), "scale": base["scale"]}


def model(weights, names=("h", "r")):
    multiplied, active = names
    nodes = [
        helper.make_node("Constant", [], ["table"], value=numpy_helper.from_array(table)),
        helper.make_node("MatMul", ["x", "w"], [multiplied]),
        helper.make_node("Add", [multiplied, "b"], ["sum"]),
        helper.make_node("Relu", ["sum"], [active]),
        helper.make_node("Mul", [active, "val_1"], ["scaled"]),
        helper.make_node("MatMul", ["scaled", "table"], ["y"]),
    ]
    initializers = [
        numpy_helper.from_array(weights["w"], "w"),
        helper.make_tensor("b", TensorProto.FLOAT, [8], weights["b"].tolist()),
        numpy_helper.from_array(weights["scale"], "val_1"),
    ]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16])], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def result(weights):
    return np.maximum(x @ weights["w"] + weights["b"], 0) * weights["scale"] @ table


def place(name):
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    return os.path.join(folder, name, "model.onnx")


def save_safetensors(path, arrays):
    header, at = [], 0
    for name, array in arrays.items():
        shape = ",".join(map(str, array.shape))
        header.append(f'"{name}":{{"dtype":"F32","shape":[{shape}],"data_offsets":[{at},{at + array.nbytes}]}}')
        at += array.nbytes
    text = ("{" + ",".join(header) + "}").encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in arrays.values()))


onnx.save(model(base), place("base"))
onnx.save(model(tuned), place("tuned"))
onnx.save(model(base, names=("j", "r")), place("renamed"))  # as long as base, another graph
onnx.save(model({**base, "scale": np.float32(2).reshape(())}), place("scaled"))
larger = model(base)
larger.metadata_props.add(key="author", value="somebody")
onnx.save(larger, place("metadata"))

split = model(base)  # each weight in a file of its own, the table too
split.graph.initializer[1].CopyFrom(numpy_helper.from_array(base["b"], "b"))
split.graph.initializer.append(numpy_helper.from_array(table, "table"))
del split.graph.node[0]
for tensor, file in zip(split.graph.initializer, ("w.bin", "b.bin", None, "table.bin")):
    if not file:
        continue
    with open(os.path.join(os.path.dirname(place("split")), file), "wb") as data:
        data.write(tensor.raw_data)
    onnx.external_data_helper.set_external_data(tensor, file)
    tensor.ClearField("raw_data")
onnx.save(split, place("split"))

os.makedirs(os.path.join(folder, "parts"), exist_ok=True)
save_safetensors(os.path.join(folder, "parts", "1.safetensors"), {"w": tuned["w"]})
save_safetensors(os.path.join(folder, "parts", "2.safetensors"), {"b": tuned["b"], "other": tuned["w"]})
np.savez(os.path.join(folder, "inputs.npz"), x=x)
np.savez(os.path.join(folder, "base.npz"), y=result(base))
np.savez(os.path.join(folder, "tuned.npz"), y=result(tuned))
