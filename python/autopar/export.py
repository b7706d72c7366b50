"""Exports a PyTorch module so that training trains what the module has: one file for `compile --train` and `compile --evaluate`."""

import contextlib
import dataclasses
import inspect
import json
import os
import tempfile
import warnings

import numpy as np

from . import _gradients, _onnx
from ._program import AutoparError

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
    what is trained: parameters with requires_grad, scalars, too. Without `dynamic_batch` sizes are the example's; with it the first
    dimension of every input is "batch". A module in eval mode is exported as after `module.train()`; of one in training mode each
    part as it is, so that a batch norm in eval mode stays frozen. The module is left as it was. The file's numbers are compared with
    the module's by onnxruntime, if that is installed. AutoparError says what is wrong, with names.
    """
    torch = _import("torch", "torch")
    onnx = _import("onnx", "onnx")
    call = _Call(torch, module, example, kwargs)
    names = _Names(module)
    changed = call.run(torch, module, names)
    inputs, outputs = input_names or call.names, output_names or call.outputs
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for exporter in (_torchscript, _dynamo):
            raw = os.path.join(folder, "model.onnx")
            try:
                with _kept(torch, module), _quiet() as told:
                    if not module.training:
                        module.train()
                    exporter(torch, module, call, raw, names, dynamic_batch, inputs, outputs, opset_version)
                model = onnx.load(raw)
                exported = _finish(torch, onnx, module, call, names, model)
                if [value.name for value in model.graph.input] != list(inputs):
                    raise AutoparError(f"its inputs are {[value.name for value in model.graph.input]}, not {list(inputs)}")
                _compare(torch, onnx, call, model)
            except Exception as error:  # exporters raise nearly every class
                problems.append(f"{exporter.__name__[1:]}: {_first_line(error)}")
                continue
            _onnx.save(onnx, model, os.fspath(path))
            _tell(torch, module, model, changed, exported)
            _tell_branches(torch, call, module, told)
            with _kept(torch, module):
                outcome = _gradients.check(torch, module, call, names)
            _gradients.tell(_warn, outcome)
            return Exported(os.fspath(path), exporter.__name__[1:], **exported)
    raise AutoparError("export_for_training: no exporter of PyTorch writes this module:\n  " + "\n  ".join(problems))


def _import(name, package):
    try:
        return __import__(name)
    except ImportError as error:
        packages = " ".join(dict.fromkeys([package, "onnx", "onnxscript"]))
        raise AutoparError(f"export_for_training needs {package}, which this Python has not: python -m pip install {packages} ({error})") from None


def _first_line(error):
    """Of what an exporter says; its own classes stand around the reason."""
    if type(error).__module__.startswith("torch.onnx") and error.__cause__ is not None:
        error = error.__cause__
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return ("" if isinstance(error, AutoparError) else type(error).__name__ + ": ") + lines[0][:300] if lines else type(error).__name__


class _Call:
    """The example as arguments of forward, and the names of its tensors."""

    def __init__(self, torch, module, example, kwargs):
        by_name = dict(example) if isinstance(example, dict) else {}
        self.args = () if by_name else tuple(example) if isinstance(example, (tuple, list)) else (example,)
        self.kwargs = {**by_name, **(kwargs or {})}
        try:
            bound = inspect.signature(module.forward).bind(*self.args, **self.kwargs)
        except TypeError as error:
            raise AutoparError(f"export_for_training: the example is no call of {type(module).__name__}.forward: {error}") from None
        self.names, self.tensors = [], []
        for name, value in bound.arguments.items():
            self._add(torch, bound.signature.parameters[name], name, value)
        self.bound = bound
        if not self.tensors:
            raise AutoparError("export_for_training: the example has no tensor")

    def _add(self, torch, parameter, name, value):
        if isinstance(value, torch.Tensor):
            self.names.append(name)
            self.tensors.append(value)
        elif isinstance(value, (tuple, list)):
            for i, item in enumerate(value):
                self._add(torch, parameter, f"{name}_{i}", item)
        elif isinstance(value, dict):
            for key, item in value.items():
                self._add(torch, parameter, key if parameter.kind == parameter.VAR_KEYWORD else f"{name}_{key}", item)


    def run(self, torch, module, names):
        """Runs the module in both modes, for the outputs in eval mode and their names; the buffers that it changes when it trains."""
        leaves = torch.utils._pytree.tree_leaves
        with _kept(torch, module), torch.no_grad():
            if not module.training:
                module.train()
            module(*self.args, **self.kwargs)
            changed = [name for name, value in names.values.items() if not torch.equal(names.tensors[name].detach().cpu(), value)]
        with _kept(torch, module), torch.no_grad():
            outputs = module.eval()(*self.args, **self.kwargs)
        self.values = [value for value in leaves(outputs) if isinstance(value, torch.Tensor)]
        keys = [str(key) for key, value in outputs.items() if isinstance(value, torch.Tensor)] if isinstance(outputs, dict) else []
        if len(keys) != len(self.values):
            keys = ["output"] if len(self.values) == 1 else [f"output_{i}" for i in range(len(self.values))]
        self.outputs = [key + "_output" if key in self.names else key for key in keys]
        return changed

    @contextlib.contextmanager
    def flat(self, torch, module):
        """Within it the module's forward takes the tensors one by one: an exporter names its inputs in this order."""
        forward = module.forward

        def of_tensors(*tensors):
            left = iter(tensors)
            args, kwargs = torch.utils._pytree.tree_map(lambda value: next(left) if isinstance(value, torch.Tensor) else value,
                                                        (self.bound.args, self.bound.kwargs))
            return forward(*args, **kwargs)

        module.forward = of_tensors
        try:
            yield
        finally:
            del module.forward


class _Names:
    """Names of the state_dict by tensor: one that several names have is called by the first."""

    def __init__(self, module):
        self.tensors = {name: value for name, value in module.state_dict(keep_vars=True).items() if hasattr(value, "data_ptr")}
        # Buffers that no state_dict has are in files, too.
        self.tensors.update({name: value for name, value in module.named_buffers() if name not in self.tensors})
        parameters = dict(module.named_parameters(remove_duplicate=False))
        limited = {id(value) for value in _limited(module)}
        self.values = {name: value.detach().cpu().clone() for name, value in self.tensors.items()
                       if name not in parameters or id(value) in limited}
        self.first, self.shared = {}, {}
        for name, value in self.tensors.items():
            first = self.first.setdefault(self.key(value), name)
            if first != name:
                self.shared[name] = first
        self.parameters = [name for name in parameters if name not in self.shared]
        self.trained = [name for name in self.parameters if parameters[name].requires_grad]

    @staticmethod
    def key(value):
        """What is one tensor: the place, not the values."""
        return (value.data_ptr(), tuple(value.shape), value.stride(), value.dtype) if value.numel() else id(value)

    def value(self, name):
        """As it was before the export, which runs the module."""
        return self.values[name] if name in self.values else self.tensors[name].detach().cpu()


def _limited(module):
    """Tables whose rows forward itself shortens."""
    return [part.weight for part in module.modules() if getattr(part, "max_norm", None) is not None]


@contextlib.contextmanager
def _kept(torch, module):
    """Modes, buffers and random numbers are as before when it ends: exporters run the module, which moves running statistics."""
    modes = [(part, part.training) for part in module.modules()]
    buffers = [(buffer, buffer.detach().clone()) for buffer in [*module.buffers(), *_limited(module)]]
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)
        for part, mode in modes:
            part.training = mode


@contextlib.contextmanager
def _quiet():
    """Exporters print from Python and from C++. Gives the list of their warnings."""
    with open(os.devnull, "w") as nothing, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kept = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in kept:
            os.dup2(nothing.fileno(), number)
        try:
            with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
                yield told
        finally:
            for number, copied in kept:
                os.dup2(copied, number)
                os.close(copied)


# ---------------------------------------------------------------- exporters
def _torchscript(torch, module, call, path, names, dynamic_batch, inputs, outputs, opset):
    axes = {name: {0: "batch"} for name, value in zip(inputs, call.tensors) if value.dim()} if dynamic_batch else None
    with call.flat(torch, module):
        torch.onnx.export(module, tuple(call.tensors), path, dynamo=False, training=torch.onnx.TrainingMode.PRESERVE,
                          do_constant_folding=False, keep_initializers_as_inputs=False, input_names=inputs, output_names=outputs,
                          dynamic_axes=axes, opset_version=opset)


def _dynamo(torch, module, call, path, names, dynamic_batch, inputs, outputs, opset):
    _import("onnxscript", "onnxscript")
    shapes = None
    if dynamic_batch:
        batch = torch.export.Dim("batch")
        shapes = torch.utils._pytree.tree_map(lambda value: {0: batch} if isinstance(value, torch.Tensor) and value.dim() else None,
                                              inspect.signature(module.forward).bind(*call.args, **call.kwargs).arguments)
        shapes = dict(shapes)
    program = torch.onnx.export(module, call.args, kwargs=call.kwargs, dynamo=True, optimize=False, verbose=False, input_names=inputs,
                                output_names=outputs, dynamic_shapes=shapes, opset_version=opset)
    for value in list(program.model.graph.initializers.values()):
        raw = getattr(value.const_value, "raw", None)
        if hasattr(raw, "data_ptr"):
            first = names.first.get(names.key(raw))
            if first and first != value.name:
                value.name = first
    program.save(path, external_data=False)


# ---------------------------------------------------------------- what the file shall say
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
    with _kept(torch, module), torch.enable_grad():
        outputs = torch.utils._pytree.tree_leaves(module(*call.args, **call.kwargs))
        total = sum(value.float().sum() for value in outputs if isinstance(value, torch.Tensor) and value.requires_grad)
        if not isinstance(total, torch.Tensor):
            return set()
        gradients = torch.autograd.grad(total, [names.tensors[name] for name in candidates], allow_unused=True)
    return {name for name, gradient in zip(candidates, gradients) if gradient is not None}


# ---------------------------------------------------------------- numbers
def _warn(text):
    inside = os.path.dirname(os.path.abspath(__file__))
    level = next((number for number, frame in enumerate(inspect.stack()) if not frame.filename.startswith(inside)), 1)
    warnings.warn("export_for_training: " + text, stacklevel=level)


def _tell_branches(torch, call, module, told):
    """A trace keeps the branch that the example takes. One that sizes decide is right: they are the example's, or the exporter refuses."""
    inside = os.path.dirname(torch.__file__)
    places = {f"{item.filename}:{item.lineno}": str(item.message) for item in told
              if issubclass(item.category, torch.jit.TracerWarning) and not item.filename.startswith(inside)}
    numbers = [place for place, text in places.items() if "Python boolean" not in text and "Python ind" not in text and "Python int" not in text]
    others = [place for place in places if place not in numbers]
    try:
        if others:
            with _kept(torch, module), _quiet():
                torch.export.export(module, call.args, call.kwargs)
    except Exception as error:  # it has many classes for values that it does not know
        numbers += others if "data-dependent" in str(error).lower() or "Guard" in type(error).__name__ else []
    if numbers:
        _warn(f"forward takes a number or a branch from the values of a tensor at {', '.join(numbers)}; the file has what the example gives. "
              "Write it with torch.where or tensors")


def _tell(torch, module, model, changed, exported):
    """Warnings of what the file lacks."""
    cumulative = [name for name, part in module.named_modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)
                  and part.momentum is None and part.track_running_stats]
    if cumulative:
        _warn(f"{cumulative} have momentum=None, the mean of all batches, which ONNX has not: the file's running statistics are those of the "
              "last batch; give a momentum")
    padded = [f"'{name}.weight' (row {part.padding_idx})" for name, part in module.named_modules()
              if isinstance(part, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and part.padding_idx is not None and part.weight.requires_grad]
    if padded:
        _warn(f"ONNX has no padding_idx: PyTorch does not train that row of {', '.join(padded)}, the file does")
    kept = {name for graph in _onnx.graphs(model.graph) for node in graph.node if node.op_type == "BatchNormalization" for name in node.input[3:]}
    there = {tensor.name for tensor in model.graph.initializer}
    lost = [name for name in changed if name in there and name not in kept]
    if lost:
        _warn(f"the module changes {lost} when it trains; in the file they stay as they are")
    if exported["unused"]:
        _warn(f"forward does not use {exported['unused']}; they are not in the file")


def _compare(torch, onnx, call, model):
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
        _warn(f"the file was not compared with the module: onnxruntime: {str(error)[:200]}")
        return
    for index, (a, b) in enumerate(zip(got, want)):
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-4 * max(1.0, float(np.abs(b).max(initial=0))), equal_nan=True):
            difference = f"by up to {float(np.abs(a - b).max()):.2g}" if a.shape == b.shape else f"in shape: {a.shape}, not {b.shape}"
            raise AutoparError(f"output {index} of the file differs from that of the module in eval mode {difference}; does forward draw random "
                               "numbers in eval mode, or change a buffer that it reads?")
