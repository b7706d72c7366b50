"""Compares what an exported file computes with what its module computes."""

import numpy as np

from . import _onnx
from ._program import AutoparError
from ._warnings import warn


def compare(torch, onnx, call, model):
    """AutoparError where the file in eval mode computes otherwise than the module."""
    try:
        import onnxruntime
    except ImportError:
        return
    if model.ByteSize() > _onnx.LARGEST_FILE:
        return
    want = [value.float().numpy() for value in call.values]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(_onnx.evaluated(onnx, model).SerializeToString(), options, providers=["CPUExecutionProvider"])
        taken = {value.name for value in session.get_inputs()}
        feeds = {value.name: tensor.numpy() for value, tensor in zip(model.graph.input, call.tensors) if value.name in taken}
        got = session.run(None, feeds)
    except Exception as error:  # onnxruntime has ops to learn, too
        warn(f"the file was not compared with the module: onnxruntime: {str(error)[:200]}")
        return
    for index, (a, b) in enumerate(zip(got, want)):
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-4 * max(1.0, float(np.abs(b).max(initial=0))), equal_nan=True):
            difference = f"by up to {float(np.abs(a - b).max()):.2g}" if a.shape == b.shape else f"in shape: {a.shape}, not {b.shape}"
            raise AutoparError(f"output {index} of the file differs from that of the module in eval mode {difference}; does forward draw random "
                               "numbers in eval mode, or change a buffer that it reads?")
