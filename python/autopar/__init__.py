"""Python access to autopar: compile a model, run the executable, or load it into this process.

    import autopar
    program = autopar.compile("model.onnx", "model", ranks=4, strategy="auto")
    outputs, report = program.run({"x": x})  # a process for each run

    session = autopar.load("model")  # stays, with its weights
    outputs = session.run({"x": x})
"""

from ._program import AutoparError, Program, compile, find_tool
from ._inference import InferenceSession
from ._plan import Plan, plan
from ._session import Session, TensorInfo, load
from ._trainer import Step, Trainer
from .export import Exported, export_for_training

__all__ = ["AutoparError", "Exported", "InferenceSession", "Plan", "Program", "Session", "Step", "TensorInfo", "Trainer", "compile", "export_for_training",
           "find_tool", "load", "plan"]


def __getattr__(name):
    if name != "backend":
        raise AttributeError(f"module 'autopar' has no attribute {name!r}")
    import importlib  # it needs the package onnx, which nothing else here does
    return importlib.import_module(".backend", __name__)
