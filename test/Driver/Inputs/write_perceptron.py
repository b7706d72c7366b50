"""Writes FOLDER/model.onnx: a perceptron of 4 layers of 256, with a symbolic batch.

    python write_perceptron.py FOLDER
"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

WIDTH, LAYERS = 256, 4
nodes, tensors, last = [], [], "x"
for layer in range(LAYERS):
    tensors.append(onnx.numpy_helper.from_array(np.full((WIDTH, WIDTH), 1 / WIDTH, np.float32), f"w{layer}"))
    nodes += [helper.make_node("MatMul", [last, f"w{layer}"], [f"m{layer}"], name=f"fc{layer}"),
              helper.make_node("Tanh", [f"m{layer}"], [f"h{layer}"], name=f"tanh{layer}")]
    last = f"h{layer}"
nodes[-1].output[0] = "y"
ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", WIDTH])] for name in ("x", "y")]
graph = helper.make_graph(nodes, "perceptron", *ports, tensors)
os.makedirs(sys.argv[1], exist_ok=True)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), os.path.join(sys.argv[1], "model.onnx"))
