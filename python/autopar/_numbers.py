"""Compares what an exported file computes with what its module computes."""

import numpy as np

from . import _onnx
from ._exporters import first_line
from ._program import AutoparError
from ._warnings import warn


def compare(torch, onnx, call, model, batches, places, explain):
    """AutoparError where the file in eval mode computes otherwise than the module, for the example or for batches of other sizes. Gives whether
    it was compared. `places` are lines that make numbers of Python, `explain` says what is otherwise in eval mode."""
    try:
        import onnxruntime
    except ImportError:
        return False
    if model.ByteSize() > _onnx.LARGEST_FILE:
        return False
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(_onnx.evaluated(onnx, model).SerializeToString(), options, providers=["CPUExecutionProvider"])
        got = _run(session, model, call.tensors)
    except Exception as error:  # onnxruntime has ops to learn, too
        warn(f"the file was not compared with the module: onnxruntime: {first_line(error)}")
        return False
    if difference := _difference(got, call.values):
        raise AutoparError(f"{difference}; {explain()}")
    for size, (tensors, outputs) in batches.items():
        try:
            difference = _difference(_run(session, model, tensors), outputs)
        except Exception as error:  # a shape that the file has as the example's
            difference = f"the file does not run ({first_line(error)})"
        if difference:
            at = f" ({', '.join(places)})" if places else ""
            raise AutoparError(f"with a batch of {size}, {difference}: forward takes a number or a branch from the batch's size{at}, which the file "
                               f"has as that of the example, {call.tensors[call.batch[0]].shape[0]}. Compute it by tensors, or export without dynamic_batch")
    return True


def _run(session, model, tensors):
    taken = {value.name for value in session.get_inputs()}
    return session.run(None, {value.name: tensor.numpy() for value, tensor in zip(model.graph.input, tensors) if value.name in taken})


def _difference(got, outputs):
    """What differs, as text, or ""."""
    for index, (a, b) in enumerate(zip(got, [value.float().numpy() for value in outputs])):
        if a.shape != b.shape:
            return f"output {index} of the file differs from that of the module in eval mode in shape: {a.shape}, not {b.shape}"
        if not np.allclose(a, b, rtol=1e-3, atol=1e-4 * max(1.0, float(np.abs(b).max(initial=0))), equal_nan=True):
            return f"output {index} of the file differs from that of the module in eval mode by up to {float(np.abs(a - b).max()):.2g}"
    return ""
