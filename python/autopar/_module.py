"""A PyTorch module that is exported: its call, the names of its tensors, and its state, which an export leaves as it was."""

import contextlib
import inspect
import os

from ._program import AutoparError


class Call:
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
        with training(torch, module), torch.no_grad():
            module(*self.args, **self.kwargs)
            changed = [name for name, value in names.values.items() if not torch.equal(names.tensors[name].detach().cpu(), value)]
        with kept(torch, module), torch.no_grad():
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
