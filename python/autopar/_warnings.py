"""What `export_for_training` says of a file that is otherwise than its module."""

import inspect
import os
import warnings

from . import _onnx
from ._exporters import quiet
from ._module import kept


def warn(text):
    inside = os.path.dirname(os.path.abspath(__file__))
    level = next((number for number, frame in enumerate(inspect.stack(), 1) if not os.path.abspath(frame.filename).startswith(inside)), 1)
    warnings.warn("export_for_training: " + text, stacklevel=level)


def tell_branches(torch, call, module, told):
    """A trace keeps the branch that the example takes. One that sizes decide is right: they are the example's, or the exporter refuses."""
    inside = os.path.dirname(torch.__file__)
    places = {f"{item.filename}:{item.lineno}": str(item.message) for item in told
              if issubclass(item.category, torch.jit.TracerWarning) and not item.filename.startswith(inside)}
    numbers = [place for place, text in places.items() if "Python boolean" not in text and "Python ind" not in text and "Python int" not in text]
    others = [place for place in places if place not in numbers]
    try:
        if others:
            with kept(torch, module), quiet():
                torch.export.export(module, call.args, call.kwargs)
    except Exception as error:  # it has many classes for values that it does not know
        numbers += others if "data-dependent" in str(error).lower() or "Guard" in type(error).__name__ else []
    if numbers:
        warn(f"forward takes a number or a branch from the values of a tensor at {', '.join(numbers)}; the file has what the example gives. "
              "Write it with torch.where or tensors")


def tell(torch, module, model, changed, exported):
    """Warnings of what the file lacks."""
    cumulative = [name for name, part in module.named_modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)
                  and part.momentum is None and part.track_running_stats]
    if cumulative:
        warn(f"{cumulative} have momentum=None, the mean of all batches, which ONNX has not: the file's running statistics are those of the "
              "last batch; give a momentum")
    padded = [f"'{name}.weight' (row {part.padding_idx})" for name, part in module.named_modules()
              if isinstance(part, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and part.padding_idx is not None and part.weight.requires_grad]
    if padded:
        warn(f"ONNX has no padding_idx: PyTorch does not train that row of {', '.join(padded)}, the file does")
    kept = {name for graph in _onnx.graphs(model.graph) for node in graph.node if node.op_type == "BatchNormalization" for name in node.input[3:]}
    there = {tensor.name for tensor in model.graph.initializer}
    lost = [name for name in changed if name in there and name not in kept]
    if lost:
        warn(f"the module changes {lost} when it trains; in the file they stay as they are")
    if exported["unused"]:
        warn(f"forward does not use {exported['unused']}; they are not in the file")
