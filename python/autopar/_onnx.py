"""Changes of ONNX files that `export_for_training` makes. `onnx` and `torch` are given: nobody needs them to compile."""

import copy
import os
import tempfile

import numpy as np

LARGEST_FILE = 2**31 - 2**20  # above it weights are external data


def graphs(graph):
    """The graph and those inside its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.HasField("g") else list(attribute.graphs)):
                yield from graphs(inner)


def rename(model, to):
    """A shared tensor has its first name."""
    there = {tensor.name for tensor in model.graph.initializer}
    to = {name: first for name, first in to.items() if name in there and first not in there}
    for tensor in model.graph.initializer:
        tensor.name = to.get(tensor.name, tensor.name)
    for graph in graphs(model.graph):
        for node in graph.node:
            node.input[:] = [to.get(name, name) for name in node.input]
        for value in [*graph.output, *graph.value_info]:
            value.name = to.get(value.name, value.name)


def train_batch_norms(onnx, model):
    """Exports with dynamo=True write batch norms in training mode without it."""
    for graph in graphs(model.graph):
        for node in graph.node:
            calls = [entry.value for entry in node.metadata_props if entry.key == "pkg.torch.onnx.class_hierarchy"]
            if node.op_type == "BatchNormalization" and calls and "_native_batch_norm_legit_functional" in calls[0]:
                kept = [attribute for attribute in node.attribute if attribute.name != "training_mode"]
                del node.attribute[:]
                node.attribute.extend([*kept, onnx.helper.make_attribute("training_mode", 1)])
                node.output[:] = [node.output[0], node.output[0] + "/running_mean", node.output[0] + "/running_var"]


def activate_dropouts(onnx, model):
    """Dropout of attention is written without `training_mode`, which is off, where the module drops: of a ratio of 0 there is no node. Gives how
    many nodes of the file drop when it trains."""
    values, count = constants(onnx, model), 0
    for graph in graphs(model.graph):
        for node in graph.node:
            if node.op_type != "Dropout" or any(attribute.name == "ratio" for attribute in node.attribute):  # before opset 12 it never drops
                continue
            ratio, mode = [*node.input[1:], "", ""][:2]
            if not mode:
                node.input[:] = [node.input[0], ratio, "autopar/yes"]
            if values.get(ratio, 0.5) != 0 and (not mode or values.get(mode, True)):
                count += 1
    if any("autopar/yes" in node.input for graph in graphs(model.graph) for node in graph.node):
        model.graph.initializer.append(onnx.helper.make_tensor("autopar/yes", onnx.TensorProto.BOOL, [], [True]))
    return count


def constants(onnx, model):
    """Numbers of the file by name."""
    tensors = {tensor.name: tensor for tensor in model.graph.initializer if np.prod(tensor.dims) == 1}
    for graph in graphs(model.graph):
        tensors.update({node.output[0]: attribute.t for node in graph.node if node.op_type == "Constant" for attribute in node.attribute
                        if attribute.name == "value" and np.prod(attribute.t.dims) == 1})
    return {name: onnx.numpy_helper.to_array(tensor).item() for name, tensor in tensors.items()}


def remove_copies(model):
    """Tensors that no node reads are not in the file."""
    used = {name for graph in graphs(model.graph) for node in graph.node for name in node.input}
    used |= {value.name for value in model.graph.output}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    if len(kept) < len(model.graph.initializer):
        kept = [copy.deepcopy(tensor) for tensor in kept]
        del model.graph.initializer[:]
        model.graph.initializer.extend(kept)


def float_types(onnx):
    types = onnx.TensorProto
    return (types.FLOAT, types.DOUBLE, types.FLOAT16, types.BFLOAT16)


def raw_bytes(torch, value):
    return value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""


def equal(onnx, torch, tensor, want):
    if tensor.HasField("raw_data"):
        return tensor.raw_data == raw_bytes(torch, want)
    return np.array_equal(onnx.numpy_helper.to_array(tensor), want.float().numpy(), equal_nan=True)


def set_value(onnx, torch, tensor, want):
    if not equal(onnx, torch, tensor, want):
        fresh = onnx.numpy_helper.from_array(want.numpy(), tensor.name)
        tensor.CopyFrom(fresh)


def evaluated(onnx, model):
    """A copy in which dropout and batch norm are as in eval mode."""
    model = copy.deepcopy(model)
    model.graph.initializer.append(onnx.helper.make_tensor("autopar/no", onnx.TensorProto.BOOL, [], [False]))
    for graph in graphs(model.graph):
        for node in graph.node:
            if node.op_type == "Dropout" and len(node.input) > 2:
                node.input[2] = "autopar/no"
            if node.op_type == "BatchNormalization":
                kept = [attribute for attribute in node.attribute if attribute.name != "training_mode"]
                del node.attribute[:]
                node.attribute.extend(kept)
                del node.output[1:]
    return model


def save(onnx, model, path):
    """Beside, then renamed: no file is half written."""
    if model.ByteSize() > LARGEST_FILE:
        data = os.path.basename(path) + ".data"
        onnx.save(model, path, save_as_external_data=True, location=data, size_threshold=1024)
        return
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path) or ".", suffix=".onnx", delete=False) as file:
        file.write(model.SerializeToString())
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
