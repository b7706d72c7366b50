"""Model files with one fault each: python make_hostile.py FOLDER"""

import gzip
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def model(initializers, nodes=None):
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph(nodes or [helper.make_node("Relu", ["x"], ["y"])], "g", [info],
                              [onnx.ValueInfoProto(name="y")], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def tensor(name, dims=(2,), data_type=TensorProto.INT64, **fields):
    return TensorProto(name=name, dims=dims, data_type=data_type, **fields)


def external(name, **entries):
    proto = tensor(name, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        proto.external_data.add(key=key, value=str(value))
    return proto


def expands(initializers):
    """A model that needs the bytes of each initializer: they are shapes."""
    nodes = [helper.make_node("Expand", ["x", t.name], [f"y{i}"]) for i, t in enumerate(initializers)]
    nodes.append(helper.make_node("Identity", [f"y{len(initializers) - 1}"], ["y"]))
    return model(initializers, nodes)


def varint(value):
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def deep(levels):
    """Graphs within attributes of nodes of graphs, encoded by hand: no library writes as many levels."""

    def field(number, payload):
        return bytes([number << 3 | 2]) + varint(len(payload)) + payload

    graph = b""
    for _ in range(levels):
        graph = field(1, field(5, field(6, graph)))  # node, attribute, graph
    return field(7, graph)


def write_names(write):
    """One name of each kind that is no UTF-8."""
    branches = {name: helper.make_graph([helper.make_node("Relu", ["x"], [f"{name}-result"])], "g", [],
                                        [onnx.ValueInfoProto(name=f"{name}-result")]) for name in ("then_branch", "else_branch")}
    nodes = [helper.make_node("If", ["condition"], ["i"], **branches), helper.make_node("Relu", ["i"], ["y"], name="a-node")]
    named = model([numpy_helper.from_array(np.array(True), "condition"), external("weight", location="a-file")], nodes)
    text = named.SerializeToString()
    for name in (b"a-node", b"condition", b"else_branch-result", b"a-file"):
        write(f"name-{name.decode()}.onnx", text.replace(name, b"\xff" + name[1:]))


def many_dims():
    dims = [1] * 32 + [2]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name in ("x", "y")]
    weight = numpy_helper.from_array(np.ones(2, np.float32), "w")
    weight.dims[:] = dims
    expanded = [helper.make_node("Mul", ["x", "w"], ["y"])]
    return helper.make_model(helper.make_graph(expanded, "g", ports[:1], ports[1:], [weight]), opset_imports=[helper.make_opsetid("", 20)])


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)

    def write(name, data):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.SerializeToString())

    good = model([numpy_helper.from_array(np.ones(4000, np.float32), "w")], [helper.make_node("Add", ["x", "w"], ["y"])])
    data = good.SerializeToString()
    write("text.onnx", b"this is no model at all, but it is long enough to look like one\n")
    write("empty.onnx", b"")
    write("cut.onnx", data[: len(data) // 2])
    write("cut.onnx.gz", gzip.compress(data)[:-20])
    write("deep.onnx", deep(200))
    write("bomb.onnx.gz", gzip.compress(bytes(50_000_000)))
    write("ratio.onnx.gz", gzip.compress(bytes(70_000_000)))
    write("nodes.onnx", b"\x3a" + varint(2 * 4_200_000) + b"\x0a\x00" * 4_200_000)  # a graph of empty nodes

    write("tensors.onnx", model([
        tensor("short", raw_data=bytes(8)), tensor("negative", dims=(-2,)),
        tensor("overflow", dims=(1 << 40, 1 << 40)), tensor("strings", data_type=TensorProto.STRING, string_data=[b"a", b"b"]),
        tensor("wrongfield", data_type=TensorProto.DOUBLE, float_data=[1, 2, 3, 4]),
        tensor("twice", raw_data=bytes(16)), tensor("twice", raw_data=bytes(16))]))
    write("places.onnx", model([
        external("noplace", offset=0), external("climbs", location="../weights.bin"),
        external("absolute", location="/etc/passwd"), external("minus", location="weights.bin", offset=-4),
        external("large", location="weights.bin", offset=1 << 64),
        external("wraps", location="weights.bin", offset=(1 << 63) - 1), external("length", location="weights.bin", length=12),
        external("unknown", location="weights.bin", colour="red")]))

    shape = np.array([2, 3], np.int64).tobytes()
    write("weights.bin", shape * 4)
    write("target.bin", shape * 4)
    os.makedirs(os.path.join(folder, "folder"), exist_ok=True)
    outside = folder.rstrip("/") + ".outside"
    with open(outside, "wb") as file:
        file.write(shape)
    for link, target in (("symlink.bin", "target.bin"), ("leaving.bin", outside)):
        if not os.path.lexists(os.path.join(folder, link)):
            os.symlink(target, os.path.join(folder, link))
    if not os.path.exists(os.path.join(folder, "hardlink.bin")):
        write("linksource.bin", shape * 4)
        os.link(os.path.join(folder, "linksource.bin"), os.path.join(folder, "hardlink.bin"))
    write("files.onnx", expands([
        external("past", location="weights.bin", offset=60), external("symbolic", location="symlink.bin"),
        external("hard", location="hardlink.bin"), external("folder", location="folder"),
        external("missing", location="missing.bin")]))
    write("linked.onnx", expands([external("symbolic", location="symlink.bin"), external("hard", location="hardlink.bin")]))
    write("leaving.onnx", expands([external("leaving", location="leaving.bin")]))
    write_names(write)
    write("dims.onnx", many_dims())


if __name__ == "__main__":
    main()
