"""A PyTorch module that is exported: its call, the names of its tensors, and its state, which an export leaves as it was."""

import contextlib
import inspect
import os
import sys

from ._program import AutoparError


def original(torch, module):
    """The module that torch.compile made another of. AutoparError for what is no module."""
    module = getattr(module, "_orig_mod", module)
    if isinstance(module, torch.jit.ScriptModule):
        raise AutoparError("export_for_training: the module is one of torch.jit, which has no code of Python: give the module that it was made of")
    if not isinstance(module, torch.nn.Module):
        what = f"the class {module.__name__}, no instance of it" if isinstance(module, type) else f"a {type(module).__name__}, no torch.nn.Module"
        raise AutoparError(f"export_for_training: the module is {what}")
    return module


class Call:
    """The example as arguments of forward, and the names of its tensors."""

    def __init__(self, torch, module, example, kwargs):
        example, kwargs = torch.utils._pytree.tree_map(
            lambda value: value.clone() if isinstance(value, torch.Tensor) and value.is_inference() else value, (example, kwargs))
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

    def choose_batch(self, dynamic_batch, inputs):
        """Which tensors' first dimension is the batch: all that have that of the first one, or those that are named."""
        if len(inputs) != len(self.tensors):
            raise AutoparError(f"export_for_training: input_names has {len(inputs)} names, and the example {len(self.tensors)} tensors: {self.names}")
        if isinstance(dynamic_batch, bool):
            sizes = [value.shape[0] if value.dim() else None for value in self.tensors]
            size = next((size for size in sizes if size is not None), None)
            self.batch = [index for index, value in enumerate(sizes) if dynamic_batch and value is not None and value == size]
            return
        chosen = [dynamic_batch] if isinstance(dynamic_batch, str) else list(dynamic_batch)
        if unknown := [name for name in chosen if name not in inputs]:
            raise AutoparError(f"export_for_training: dynamic_batch names {unknown}; the inputs are {list(inputs)}")
        self.batch = [index for index, name in enumerate(inputs) if name in chosen]
        shapes = {inputs[index]: tuple(self.tensors[index].shape) for index in self.batch}
        if len({shape[:1] for shape in shapes.values()}) > 1 or () in shapes.values():
            raise AutoparError(f"export_for_training: inputs of dynamic_batch have one first dimension, the batch; the example's are {shapes}")

    def with_batch(self, torch, module):
        """The tensors and the outputs in eval mode for batches of other sizes, which are rows of the example's: {size: (tensors, outputs)}."""
        if not self.batch:
            return {}
        count, problems, found = self.tensors[self.batch[0]].shape[0], [], {}
        for size in sorted({2, count + 1, count * (4 if count <= 8 else 2)} - {count}):
            rows = torch.arange(size) % max(count, 1)
            tensors = [value[rows] if index in self.batch else value.clone() for index, value in enumerate(self.tensors)]
            try:
                with kept(torch, module), torch.no_grad():
                    args, kwargs = self.arguments(torch, [value.clone() for value in tensors])
                    outputs = torch.utils._pytree.tree_leaves(module.eval()(*args, **kwargs))
            except Exception as error:  # what a module raises
                problems.append(f"with {size} rows: {type(error).__name__}: {str(error).strip()[:200]}")
                continue
            found[size] = (tensors, [value for value in outputs if isinstance(value, torch.Tensor)])
        if not found:
            raise AutoparError(f"export_for_training: with dynamic_batch forward has to take other batches than of {count} rows, the example's: "
                               f"{problems[0]}. Name the inputs whose first dimension is the batch, as dynamic_batch=['x'], or leave it out")
        return found

    def arguments(self, torch, tensors):
        """The arguments of forward with other tensors."""
        left = iter(tensors)
        return torch.utils._pytree.tree_map(lambda value: next(left) if isinstance(value, torch.Tensor) else value,
                                            (self.bound.args, self.bound.kwargs))

    def run(self, torch, module, names):
        """Runs the module in both modes, for the outputs in eval mode and their names; the buffers that it changes when it trains."""
        leaves = torch.utils._pytree.tree_leaves
        self.names = [name + "_input" if name in names.tensors else name for name in self.names]
        with training(torch, module), torch.no_grad():
            trained = self._forward(torch, module, "when it trains")
            changed = [name for name, value in names.values.items()
                       if name not in names.shared and not torch.equal(names.tensors[name].detach().cpu(), value)]
        with kept(torch, module), torch.no_grad():
            outputs = self._forward(torch, module.eval(), "in eval mode")
        self.values = [value for value in leaves(outputs) if isinstance(value, torch.Tensor)]
        written = [value for value in leaves(trained) if isinstance(value, torch.Tensor)]  # by the exporters, which see the module as it trains
        keys = [str(key) for key, value in trained.items() if isinstance(value, torch.Tensor)] if isinstance(trained, dict) else []
        if len(keys) != len(written):
            keys = ["output"] if len(written) == 1 else [f"output_{i}" for i in range(len(written))]
        self.outputs = [key + "_output" if key in self.names or key in names.tensors else key for key in keys]
        return changed

    def copies(self, torch):
        """The arguments for one call: forward may change them."""
        return torch.utils._pytree.tree_map(lambda value: value.detach().clone() if isinstance(value, torch.Tensor) else value,
                                            (self.args, self.kwargs))

    def _forward(self, torch, module, mode):
        args, kwargs = self.copies(torch)
        try:
            return module(*args, **kwargs)
        except Exception as error:  # what a module raises
            raise AutoparError(f"export_for_training: {mode} forward fails with the example: {type(error).__name__}: {error}") from error

    @contextlib.contextmanager
    def flat(self, torch, module):
        """Within it the module's forward takes the tensors one by one: an exporter names its inputs in this order."""
        forward = module.forward

        def of_tensors(*tensors):
            args, kwargs = self.arguments(torch, tensors)
            return forward(*args, **kwargs)

        module.forward = of_tensors
        try:
            yield
        finally:
            del module.forward


class Names:
    """Names of the state_dict by tensor: one that several names have is called by the first."""

    def __init__(self, module):
        self.tensors = {name: value for name, value in module.state_dict(keep_vars=True).items() if hasattr(value, "data_ptr")}
        # Buffers that no state_dict has are in files, too.
        self.tensors.update({name: value for name, value in module.named_buffers() if name not in self.tensors})
        parameters = dict(module.named_parameters(remove_duplicate=False))
        shortened = {id(value) for value in limited(module)}
        self.values = {name: value.detach().cpu().clone() for name, value in self.tensors.items()
                       if name not in parameters or id(value) in shortened}
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


def limited(module):
    """Tables whose rows forward itself shortens."""
    return [part.weight for part in module.modules() if getattr(part, "max_norm", None) is not None]


@contextlib.contextmanager
def kept(torch, module):
    """Modes, buffers and random numbers are as before when it ends: exporters run the module, which moves running statistics."""
    modes = [(part, part.training) for part in module.modules()]
    buffers = [(buffer, buffer.detach().clone()) for buffer in [*module.buffers(), *limited(module)]]
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
def training(torch, module):
    """The module as it trains; afterwards it is as before."""
    with kept(torch, module):
        if not module.training:
            module.train()
        yield


def is_inside(torch, path):
    """Whether a source file is PyTorch's or this package's."""
    return os.path.abspath(path).startswith(tuple(os.path.dirname(os.path.abspath(module)) + os.sep for module in (torch.__file__, __file__)))


def place(torch):
    """The innermost line that runs and is neither PyTorch's nor this package's."""
    frame = sys._getframe()
    while frame.f_back is not None and is_inside(torch, frame.f_code.co_filename):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
