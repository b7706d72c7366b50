"""Thin Python access to the autopar compiler: compile a model, run the executable, read its report.

    import autopar
    program = autopar.compile("model.onnx", "model", ranks=4, strategy="auto")
    outputs, report = program.run({"x": x})
"""

from ._program import AutoparError, Program, compile, find_tool
from .export import Exported, export_for_training

__all__ = ["AutoparError", "Exported", "Program", "compile", "export_for_training", "find_tool"]
