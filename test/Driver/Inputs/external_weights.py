"""A chain of five products, each with its weight in a file of its own: external_weights.py FOLDER"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
weights, nodes = [], []
for i in range(5):
    weight = numpy_helper.from_array(np.full((8, 8), i + 1, np.float32), f"w{i}")
    with open(os.path.join(folder, f"w{i}.data"), "wb") as file:
        file.write(weight.raw_data)
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=f"w{i}.data")
    weights.append(weight)
    nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 8]) for name in ("x0", "x5")]
graph = helper.make_graph(nodes, "g", info[:1], info[1:], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), os.path.join(folder, "model.onnx"))
