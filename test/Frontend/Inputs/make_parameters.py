"""A model with parameters stored in every way, and a check that their bytes are found.

    python make_parameters.py FOLDER
    python make_parameters.py --check AUTOPAR_IMPORT MODEL [MODEL ...]

The check reads each parameter twice: through `--read-parameter`, and from file, offset and length of the printed IR.
"""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

N = 1024


def values(name):
    if name == "varints":
        return np.arange(N, dtype=np.int64) * 3 - 7
    if name == "floats":
        return np.arange(2 * N, dtype=np.float32) * 0.5
    return np.arange(N, dtype=np.float32) + len(name)


def make(folder):
    os.makedirs(folder, exist_ok=True)
    raw = numpy_helper.from_array(values("raw"), "raw")
    floats = helper.make_tensor("floats", TensorProto.FLOAT, [2 * N], values("floats"))
    varints = helper.make_tensor("varints", TensorProto.INT64, [N], values("varints"))
    outside = TensorProto(name="outside", data_type=TensorProto.FLOAT, dims=[N], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "weights.bin"), ("offset", "64"), ("length", str(4 * N))):
        outside.external_data.add(key=key, value=value)
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        file.write(bytes(64) + values("outside").tobytes())
    two = numpy_helper.from_array(np.array(2, np.float32), "val_2")
    nodes = [
        helper.make_node("Add", ["x", "raw"], ["a"]),
        helper.make_node("ReduceSum", ["floats"], ["b"], keepdims=0),
        helper.make_node("Add", ["a", "b"], ["c"]),
        helper.make_node("Cast", ["varints"], ["d"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["c", "d"], ["e"]),
        helper.make_node("Add", ["e", "outside"], ["f"]),
        helper.make_node("Constant", [], ["node"], value=numpy_helper.from_array(values("node"), "inner")),
        helper.make_node("Add", ["f", "node"], ["h"]),
        helper.make_node("Mul", ["h", "val_2"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [N])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [N])], [raw, floats, varints, outside, two])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(model.SerializeToString())


def check(tool, path):
    ir = subprocess.run([tool, path], capture_output=True, text=True, check=True).stdout
    for name, file, offset, length in re.findall(r'parameter<"(\w+)", "([\w.]+)", offset = (-?\d+), length = (\d+)>', ir):
        read = subprocess.run([tool, path, "--read-parameter", name], capture_output=True, check=True).stdout
        assert read == values(name).tobytes(), f"{path}: {name} reads wrong"
        if int(offset) < 0:
            continue
        with open(os.path.join(os.path.dirname(path), file), "rb") as data:
            data.seek(int(offset))
            assert data.read(int(length)) == read, f"{path}: {name} is elsewhere"


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        for model_path in sys.argv[3:]:
            check(shutil.which(sys.argv[2]) or sys.argv[2], model_path)
    else:
        make(sys.argv[1])
