"""Python access to autopar: compile a model, run the executable, or load it into this process.

    import autopar
    program = autopar.compile("model.onnx", "model", ranks=4, strategy="auto")
    outputs, report = program.run({"x": x})  # a process for each run

    session = autopar.load("model")  # stays, with its weights
    outputs = session.run({"x": x})
"""

from ._program import AutoparError, Program, compile, find_tool
from ._inference import InferenceSession
from ._session import Session, TensorInfo, load
from ._trainer import Step, Trainer
from .export import Exported, export_for_training

__all__ = ["AutoparError", "Exported", "InferenceSession", "Program", "Session", "Step", "TensorInfo", "Trainer", "compile", "export_for_training",
           "find_tool", "load"]
