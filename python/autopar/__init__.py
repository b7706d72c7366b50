"""Python access to autopar: compile a model, run the executable, or load it into this process.

    import autopar
    program = autopar.compile("model.onnx", "model", ranks=4, strategy="auto")
    outputs, report = program.run({"x": x})  # a process for each run

    session = autopar.load("model")  # stays, with its weights
    outputs = session.run({"x": x})
"""

from ._program import AutoparError, Program, compile, find_tool
from ._inference import InferenceSession
from ._onnxruntime import ExecutionMode, GraphOptimizationLevel, ModelMetadata, OrtValue, RunOptions, SessionOptions, get_available_providers, get_device
from ._plan import Plan, plan
from ._session import Session, load
from ._tensors import TensorInfo
from ._trainer import Step, Trainer
from .export import Exported, export_for_training

__version__ = "0.1.0"

__all__ = ["AutoparError", "ExecutionMode", "Exported", "GraphOptimizationLevel", "InferenceSession", "ModelMetadata", "OrtValue", "Plan", "Program", "RunOptions",
           "Session", "SessionOptions", "Step", "TensorInfo", "Trainer", "compile", "export_for_training", "find_tool", "get_available_providers", "get_device", "load",
           "plan"]


def __getattr__(name):
    if name != "backend":
        raise AttributeError(f"module 'autopar' has no attribute {name!r}; of onnxruntime's names it has those that docs/PyTorchUsers.md lists")
    import importlib  # it needs the package onnx, which nothing else here does
    return importlib.import_module(".backend", __name__)
