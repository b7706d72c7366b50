"""Exports a PyTorch module so that training trains what the module has: one file for `compile --train` and `compile --evaluate`."""

import contextlib
import dataclasses
import json
import os
import tempfile

import numpy as np

from . import _gradients, _onnx
from ._draws import Draws
from ._exporters import dynamo, first_line, import_package, quiet, torchscript
from ._module import Call, Names, kept, original, training
from ._numbers import compare
from ._padding import left_out, zeroed
from ._program import AutoparError
from ._refusals import refuse
from ._rewrites import rewritten
from ._warnings import tell, tell_branches, traced_places, warn

TRAINED = "autopar.parameters"  # of the file's metadata: the names that are trained (lib/Frontend/ExportedModule.cpp)
SHARED = "autopar.shared_parameters"


@dataclasses.dataclass
class Exported:
    """What `export_for_training` wrote: names are those of the module's state_dict."""

    path: str
    exporter: str  # "torchscript" or "dynamo"
    trained: list  # parameters with requires_grad
    frozen: list  # the other ones
    shared: dict  # further names of a parameter: the name that the file has
    unused: list  # parameters and buffers of floats that `forward` does not use, which are not in the file


def export_for_training(module, example, path, *, kwargs=None, dynamic_batch=False, input_names=None, output_names=None,
                        opset_version=None):
    """Writes the torch.nn.Module as an ONNX file that trains as the module does, and returns what is in it (`Exported`).

    `example` is a tensor or a tuple of the arguments of `forward`, or a dict of them by name; `kwargs` more of them by name. Every parameter
    and buffer stands in the file under its name of the state_dict, dropout and batch norm are in training mode, and the file lists
    what is trained: parameters with requires_grad, scalars, too. Sizes are the example's; with `dynamic_batch=True` the first dimension of
    every input that has the first one's is "batch", and with a list of names that of these inputs. A module in eval mode is exported as
    after `module.train()`; of one in training mode each part as it is, so that a batch norm in eval mode stays frozen. The module is left as
    it was. The file's numbers are compared with the module's by onnxruntime, if that is installed, for other batches, too. AutoparError says
    what is wrong, with names.
    """
    torch, onnx = import_package("torch", "torch"), import_package("onnx", "onnx")
    module, path = original(torch, module), _path(path)
    eager = torch.compiler.set_stance("force_eager") if hasattr(torch.compiler, "set_stance") else contextlib.nullcontext()
    with torch.inference_mode(False), torch.enable_grad(), eager:
        return _export(torch, onnx, module, example, path, kwargs, dynamic_batch, input_names, output_names, opset_version)


def _path(path):
    """AutoparError where no file can be written there."""
    try:
        path = os.fspath(path)
    except TypeError:
        raise AutoparError(f"export_for_training: the path is a {type(path).__name__}, and the arguments are module, example, path") from None
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise AutoparError(f"export_for_training: there is no folder '{folder}' for '{path}'")
    if os.path.isdir(path):
        raise AutoparError(f"export_for_training: '{path}' is a folder; give it the name of a file")
    return path


def _export(torch, onnx, module, example, path, kwargs, dynamic_batch, input_names, output_names, opset_version):
    call = Call(torch, module, example, kwargs)
    names = Names(module)
    changed = call.run(torch, module, names)
    refuse(torch, module, call, names)
    draws = Draws(torch, module, call, changed)
    call.choose_batch(dynamic_batch, input_names or call.names)
    batches = call.with_batch(torch, module)
    zeros = left_out(torch, module, call)
    problems = {}  # who says it, by text
    for exporter in (torchscript, dynamo):
        try:
            with tempfile.TemporaryDirectory() as folder, training(torch, module), rewritten(torch), zeroed(zeros.values()), quiet() as told:
                raw = os.path.join(folder, "model.onnx")
                exporter(torch, module, call, raw, names, input_names or call.names, output_names or call.outputs, opset_version)
                model = onnx.load(raw)
            exported = _finish(torch, onnx, module, call, names, model)
            inputs = [value.name for value in model.graph.input]
            if inputs != list(input_names or call.names):
                raise AutoparError(f"its inputs are {inputs}, not {list(input_names or call.names)}")
            draws.check(_onnx.activate_dropouts(onnx, model))
            is_compared = compare(torch, onnx, call, model, batches, traced_places(torch, told), draws.explain)
        except Exception as error:  # exporters raise nearly every class
            problems.setdefault(first_line(error), []).append(exporter.__name__)
            continue
        _onnx.save(onnx, model, path)
        _tell_all(torch, module, call, names, model, changed, exported, told, draws, is_compared, zeros)
        return Exported(path, exporter.__name__, **exported)
    raise AutoparError("export_for_training: no exporter of PyTorch writes this module:"
                       + "".join(f"\n  {', '.join(exporters)}: {text}" for text, exporters in problems.items()))


def _tell_all(torch, module, call, names, model, changed, exported, told, draws, is_compared, zeros):
    """Warnings of what the file has otherwise than the module."""
    if not is_compared and (text := draws.explain_modes()):
        warn(f"the file was not compared with the module, for want of an onnxruntime that runs it: {text}")
    tell(torch, module, model, changed, exported, names.tensors, zeros)
    tell_branches(torch, call, module, told, is_compared)
    with kept(torch, module):
        outcome = _gradients.check(torch, module, call, names)
    _gradients.tell(warn, outcome)


def _finish(torch, onnx, module, call, names, model):
    """Names, values and modes; what `Exported` tells. AutoparError where a parameter is not in the file."""
    _onnx.rename(model, names.shared)
    _onnx.train_batch_norms(onnx, model)
    _onnx.remove_copies(model)
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    wrong = []
    for name in [name for name in names.tensors if name not in names.shared]:
        if name not in initializers:
            continue
        want = names.value(name)
        if list(initializers[name].dims) != list(want.shape):
            wrong.append(f"'{name}' is {list(initializers[name].dims)} in the file and {list(want.shape)} in the module")
            continue
        if name in names.values:  # running statistics moved while it was exported
            _onnx.set_value(onnx, torch, initializers[name], want)
        elif not _onnx.equal(onnx, torch, initializers[name], want):
            wrong.append(f"'{name}' has other values in the file than in the module")
    absent = [name for name in names.parameters if name not in initializers]
    used = _used(torch, call, module, [name for name in absent if name in names.trained], names) if absent else set()
    wrong += [f"'{name}' is no tensor of the file: the exporter computed something from it" for name in absent if name in used]
    made_up = [tensor.name for tensor in model.graph.initializer
               if tensor.name not in names.tensors and tensor.data_type in _onnx.float_types(onnx) and np.prod(tensor.dims) > 1]
    wrong += [f"'{name}', a tensor of the file, is none of the module's state_dict" for name in made_up if absent]
    if wrong:
        raise AutoparError("; ".join(wrong))
    trained = [name for name in names.trained if name in initializers]
    for key, value in ((TRAINED, trained), (SHARED, names.shared)):
        entry = model.metadata_props.add()
        entry.key, entry.value = key, json.dumps(value)
    return {"trained": trained, "frozen": [name for name in names.parameters if name in initializers and name not in names.trained],
            "shared": dict(names.shared), "unused": absent}


def _used(torch, call, module, candidates, names):
    """Those that a gradient of the outputs reaches."""
    if not candidates:
        return set()
    with kept(torch, module), torch.enable_grad():
        args, kwargs = call.copies(torch)
        outputs = torch.utils._pytree.tree_leaves(module(*args, **kwargs))
        total = sum(value.float().sum() for value in outputs if isinstance(value, torch.Tensor) and value.requires_grad)
        if not isinstance(total, torch.Tensor):
            return set()
        gradients = torch.autograd.grad(total, [names.tensors[name] for name in candidates], allow_unused=True)
    return {name for name, gradient in zip(candidates, gradients) if gradient is not None}


