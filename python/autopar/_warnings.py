"""What `export_for_training` says of a file that is otherwise than its module."""

import inspect
import os
import re
import warnings

from . import _onnx
from ._exporters import quiet
from ._module import is_inside, kept, place, training
from ._padding import padded

READS = {"item", "tolist", "numpy", "is_nonzero", "equal", "allclose", "__array__", "__bool__", "__complex__", "__float__", "__index__", "__int__"}

def warn(text):
    inside = os.path.dirname(os.path.abspath(__file__))
    level = next((number for number, frame in enumerate(inspect.stack(), 1) if not os.path.abspath(frame.filename).startswith(inside)), 1)
    warnings.warn("export_for_training: " + text, stacklevel=level)


def traced_places(torch, told):
    """Lines where a trace made a number of Python of a tensor or a size, with PyTorch's text."""
    return {f"{item.filename}:{item.lineno}": str(item.message) for item in told
            if issubclass(item.category, torch.jit.TracerWarning) and not is_inside(torch, item.filename)}


def tell_branches(torch, call, module, told, is_compared):
    """A trace keeps the branch that the example takes. One that sizes decide is right: they are the example's, or the batch's is compared."""
    places = traced_places(torch, told)
    of_values = _places_of_values(torch, call, module) if places else set()
    numbers = [place for place, text in places.items() if place in of_values and not re.search("Python (boolean|index|integer)", text)]
    others = [place for place in places if place in of_values and place not in numbers]
    try:
        if others:
            with kept(torch, module), quiet():
                torch.export.export(module, *call.copies(torch))
    except Exception as error:  # it has many classes for values that it does not know
        numbers += others if "data-dependent" in str(error).lower() or "Guard" in type(error).__name__ else []
    if numbers:
        warn(f"forward takes a number or a branch from the values of a tensor at {', '.join(numbers)}; the file has what the example gives. "
              "Write it with torch.where or tensors")
    sizes = [place for place in places if place not in of_values]
    if sizes and call.batch and not is_compared:
        warn(f"forward takes a number or a branch from a size at {', '.join(sizes)}; if it is the batch's, the file has that of the example. "
             "Compute it by tensors; onnxruntime, which would tell, is not installed or does not run the file")


def _places_of_values(torch, call, module):
    """Lines that read values of tensors; sizes are numbers when nothing is traced."""
    places = set()

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if getattr(function, "__name__", "") in READS:
                places.add(place(torch))
            return function(*args, **(kwargs or {}))

    args, kwargs = call.copies(torch)
    with training(torch, module), torch.no_grad(), Mode():
        module(*args, **kwargs)
    return places


def tell(torch, module, model, changed, exported, tensors, zeros):
    """Warnings of what the file lacks."""
    cumulative = [name for name, part in module.named_modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)
                  and part.momentum is None and part.track_running_stats]
    if cumulative:
        warn(f"{cumulative} have momentum=None, the mean of all batches, which ONNX has not: the file's running statistics are those of the "
              "last batch; give a momentum")
    trained = [f"'{name}.weight' (row {part.padding_idx})" for name, part in padded(torch, module).items() if name not in zeros]
    if trained:
        warn(f"ONNX has no padding_idx: PyTorch does not train that row of {', '.join(trained)}, the file does; a row of zeros that nothing else "
             "reads is left out of the file's sums")
    kept = {name for graph in _onnx.graphs(model.graph) for node in graph.node if node.op_type == "BatchNormalization" for name in node.input[3:]}
    lost = [name for name in changed if name not in kept and tensors[name].is_floating_point()]
    if lost:
        warn(f"the module changes {lost} when it trains; in the file they stay as they are")
    if exported["unused"]:
        warn(f"forward does not use {exported['unused']}; they are not in the file")
