"""Makes ONNX files with names and metadata as PyTorch's exporters write them.

    python make_exports.py FOLDER

Nodes named /a/b/Op are of module a.b, as with dynamo=False; dynamo=True has the module in the node's metadata.
"""

import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def tensors(**values):
    return [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in values.items()]


def node(op, inputs, output, name, call=None, paths=(), classes=(), **attributes):
    made = helper.make_node(op, inputs, [output], name=name, **attributes)
    known = {"pkg.torch.onnx.fx_node": call, "pkg.torch.onnx.name_scopes": str(["", *paths, "call"]) if paths else None,
             "pkg.torch.onnx.class_hierarchy": str([*classes, "aten.call.default"]) if classes else None}
    helper.set_model_props(made, {key: value for key, value in known.items() if value})
    return made


def signature(**kinds):
    """`p_w: PARAMETER target='w'`"""
    lines = [f"{'b' if kind == 'BUFFER' else 'p'}_{name.replace('.', '_')}: {kind} target='{name}'" for name, kind in kinds.items()]
    return {"pkg.torch.export.ExportedProgram.graph_signature": "\n# inputs\n" + "\n".join(lines) + "\nx: USER_INPUT\n"}


def save(folder, name, nodes, weights, shape=(4, 3), kind=FLOAT, graph_props=None, model_props=None, producer="pytorch"):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", kind, shape)], [helper.make_tensor_value_info("y", FLOAT, None)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    model.producer_name = producer
    helper.set_model_props(model.graph, graph_props or {})
    helper.set_model_props(model, model_props or {})
    onnx.save(model, os.path.join(folder, name + ".onnx"))


def square(value=1.0):
    return np.full((3, 3), value)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    save(folder, "made-up", [node("MatMul", ["x", "onnx::MatMul_8"], "a", "/fc/MatMul"), node("MatMul", ["a", "val_3"], "b", "n"),
                             node("Mul", ["b", "17"], "c", "m"), node("MatMul", ["c", "/fc/Slice_output_0"], "d", "o"),
                             node("Add", ["d", "fc.bias"], "y", "p")],
         tensors(**{"onnx::MatMul_8": square(), "val_3": square(), "17": np.ones(3), "/fc/Slice_output_0": square(), "fc.bias": np.ones(3)}))
    norm = [node("Identity", ["enc.layers.0.norm.weight"], "enc.layers.1.norm.weight", "Identity_1"),
            node("Mul", ["x", "enc.layers.0.norm.weight"], "a", "/enc/layers.0/norm/Mul"),
            node("Mul", ["a", "enc.layers.1.norm.weight"], "b", "/enc/layers.1/norm/Mul"),
            node("MatMul", ["b", "conv_1.weight"], "c", "/conv_1/MatMul"), node("MatMul", ["c", "conv_1.weight"], "y", "/conv_2/MatMul")]
    save(folder, "merged", norm, tensors(**{"enc.layers.0.norm.weight": np.ones(3), "conv_1.weight": square()}))
    # A table is the head, a cell is called three times, the code around a layer reads its weight once more.
    tied = [node("Gather", ["table.weight", "x"], "a", "/table/Gather"), node("MatMul", ["a", "cell.weight"], "b", "/cell/MatMul"),
            node("MatMul", ["b", "cell.weight"], "c", "/cell_1/MatMul"), node("MatMul", ["c", "seq.0.weight"], "d", "/seq/seq.0/MatMul"),
            node("MatMul", ["d", "seq.0.weight"], "e", "/seq/seq.0_1/MatMul"), node("MatMul", ["e", "encoder.weight"], "f", "/encoder/MatMul"),
            node("Transpose", ["encoder.weight"], "t", "/Transpose"), node("MatMul", ["f", "t"], "g", "/MatMul"),
            node("Transpose", ["table.weight"], "u", "/head/Transpose"), node("MatMul", ["g", "u"], "y", "/head/MatMul")]
    weights = {"table.weight": np.ones((5, 3)), "cell.weight": square(), "seq.0.weight": square(), "encoder.weight": square()}
    save(folder, "tied", tied, tensors(**weights), (4,), TensorProto.INT64)
    save(folder, "scalar", [node("MatMul", ["x", "fc.weight"], "a", "/fc/MatMul"), node("Mul", ["a", "temperature"], "y", "/Mul")],
         tensors(**{"fc.weight": square(), "temperature": 2.0}))
    save(folder, "buffer", [node("MatMul", ["x", "fc.weight"], "a", "/fc/MatMul"), node("Add", ["a", "positions"], "y", "/Add")],
         tensors(**{"fc.weight": square(), "positions": np.ones((4, 3))}))
    save(folder, "scale", [node("MatMul", ["x", "w"], "a", "product"), node("Mul", ["a", "s"], "b", "scaled"), node("Add", ["b", "t"], "y", "moved")],
         tensors(w=square(), s=np.full(1, 0.5), t=np.zeros(1)), producer="")
    save(folder, "folded", [node("Conv", ["x", "onnx::Conv_5", "onnx::Conv_6"], "y", "/conv/Conv")],
         tensors(**{"onnx::Conv_5": np.ones((2, 3, 1, 1)), "onnx::Conv_6": np.ones(2)}), (2, 3, 4, 4))
    # dynamo=True: the bias of zeros is dropped, the second weight was merged with the first, head.weight is tied to fc.weight on purpose.
    listed = dict.fromkeys(["fc.weight", "fc.bias", "again.weight", "head.weight", "unused.weight", "scale"], "PARAMETER")
    layers = [node("MatMul", ["x", "fc.weight"], "a", "n0", "args = (%x, %p_fc_weight, %p_fc_bias)", ["fc"]),
              node("MatMul", ["a", "fc.weight"], "b", "n1", "args = (%a, %p_again_weight)", ["again"]),
              node("MatMul", ["b", "val_2"], "c", "n2", "args = (%b, %mul)", ["normed"]), node("Mul", ["c", "scale"], "d", "n3", "args = (%c, %p_scale)"),
              node("Add", ["d", "positions"], "y", "n4", "args = (%d, %b_positions)")]
    weights = {"fc.weight": square(), "val_2": square(), "scale": 2.0, "positions": np.ones((4, 3))}
    save(folder, "dynamo", layers, tensors(**weights), graph_props=signature(**listed, positions="BUFFER"))
    tied = [node("MatMul", ["x", "fc.weight"], "a", "n0", "args = (%x, %p_fc_weight, None)", ["fc"]),
            node("MatMul", ["a", "fc.weight"], "y", "n1", "args = (%a, %p_fc_weight, None)", ["head"])]
    save(folder, "dynamo-tied", tied, tensors(**{"fc.weight": square()}), graph_props=signature(**{"fc.weight": "PARAMETER", "head.weight": "PARAMETER"}))
    conv = node("Conv", ["x", "conv.weight"], "y", "node_Conv_28", "args = (%conv2d, %p_norm_weight)", ["norm"], ["torch.nn.modules.batchnorm.BatchNorm2d"])
    save(folder, "dynamo-folded", [conv], tensors(**{"conv.weight": np.ones((2, 3, 1, 1))}), (2, 3, 4, 4),
         graph_props=signature(**{"conv.weight": "PARAMETER", "norm.weight": "PARAMETER"}))
    # autopar.export_for_training lists what is trained: a scalar, no positions, nothing that is frozen.
    save(folder, "listed", [node("MatMul", ["x", "w"], "a", "n0"), node("MatMul", ["a", "frozen"], "b", "n1"), node("Mul", ["b", "temperature"], "c", "n2"),
                            node("Mul", ["c", "one"], "d", "n3"), node("Add", ["d", "positions"], "y", "n4")],
         tensors(w=square(), frozen=square(), temperature=2.0, one=np.ones(1), positions=np.ones((4, 3))),
         model_props={"autopar.parameters": json.dumps(["w", "temperature", "one", "absent"])})
    # A running sum mixes the steps of a sequence, not the samples.
    for name, axis in (("sequence-first", 0), ("batch-first", 1)):
        steps = [node("MatMul", ["x", "w"], "a", "product"), node("CumSum", ["a", "axis"], "y", "sum")]
        save(folder, name, steps, [*tensors(w=square()), numpy_helper.from_array(np.array(axis), "axis")], (5, 4, 3))


if __name__ == "__main__":
    main()
