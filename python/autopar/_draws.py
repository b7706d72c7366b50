"""The random numbers that a module draws when it trains: a file for training has those of dropout, as Dropout nodes, and no others."""

import contextlib
import dataclasses

from ._module import place, training
from ._program import AutoparError
from ._rewrites import rewritten

SEEDS, FURTHER_SEEDS = 3, 16  # of what PyTorch does not show, and of what it draws otherwise than by dropout


@dataclasses.dataclass
class Draw:
    """One call of PyTorch that draws."""

    part: str  # name of the submodule whose forward calls it, "" of the whole
    kind: str  # that submodule's class
    operation: str
    place: str  # file:line

    @property
    def is_dropout(self):
        return self.operation in ("bernoulli_.float", "native_dropout.default") or "attention" in self.operation

    def __str__(self):
        return (f"'{self.part}' ({self.kind})" if self.part else self.kind) + f" by {self.operation.split('.')[0]} at {self.place}"


class Draws:
    """Draws of one call of the module in training mode that its outputs depend on; AutoparError for those that no file has."""

    def __init__(self, torch, module, call, changed):
        self.torch, self.module, self.call, self.changed = torch, module, call, changed
        self.means, draws = self._run(0)
        others = [draw for draw in draws if not draw.is_dropout]
        self.dropouts = [draw for draw in draws if draw.is_dropout]
        if all(self._agree(self._run(seed)[0], self.means) for seed in range(1, FURTHER_SEEDS if others else SEEDS)):
            return
        by = ", ".join(dict.fromkeys(str(draw) for draw in others)) or "those of Python, numpy or an operation of its own"
        raise AutoparError(f"export_for_training: forward draws random numbers: {by}; a file for training has none but those of dropout. Take them as "
                           "an input of forward, set their probability to 0 (layerdrop, drop_path_rate), or multiply by x.new_empty(shape).bernoulli_(p), which is "
                           "exported as dropout, or use nn.Dropout")

    def check(self, count):
        """AutoparError where the file has fewer active dropouts, `count`, than the outputs depend on."""
        if count >= len(self.dropouts):
            return
        seen = [draw for index, draw in enumerate(self.dropouts) if not self._agree(self._run(1, kept=index)[0], self.means)]
        if count < len(seen):
            parts = ", ".join(dict.fromkeys(str(draw) for draw in seen))
            raise AutoparError(f"the file has {count} of the {len(seen)} draws of dropout: {parts}")

    def explain(self):
        """Why the outputs in eval mode are others than those of what trains, whose dropout drops nothing and whose batch norm is in eval mode."""
        changed = [name for name in self.changed if not name.endswith(("running_mean", "running_var", "num_batches_tracked"))]
        return self.explain_modes() or f"forward changes {changed}, which it may read: ONNX has no such states" * bool(changed) or "why is not known"

    def explain_modes(self):
        """The same by what is drawn and by `training` of the module's own parts, or ""."""
        drawn = ", ".join(dict.fromkeys(str(draw) for draw in self._run(0, trains=())[1]))
        if drawn:
            return f"forward draws random numbers in eval mode, too: {drawn}; functional.dropout takes training=self.training"
        evaluated = self._run(0, trains=())[0]
        own = {name: part for name, part in self.module.named_modules() if not type(part).__module__.startswith("torch.nn.")}
        parts = [f"'{name}' ({type(part).__name__})" if name else type(part).__name__ for name, part in own.items()
                 if not self._agree(self._run(0, trains=(part,))[0], evaluated)]
        if parts:
            return (f"forward of {', '.join(parts)} computes otherwise in eval mode than when it trains, by self.training: a file is one graph, of which "
                    "dropout and batch norm alone differ in eval mode. Compute the same in both, what is of eval mode alone outside of the module")
        return ""

    def _run(self, seed, kept=None, trains=None):
        """The outputs, where dropouts, but number `kept` of them, drop nothing, and all draws. Of `trains` alone, if given, is `training` set."""
        torch, (args, kwargs) = self.torch, self.call.copies(self.torch)
        with training(torch, self.module), torch.no_grad(), rewritten(torch), _mode(torch)(torch, self.module, kept) as mode, mode.parts():
            for part in self.module.modules() if trains is not None else ():
                part.training = part in trains
            torch.manual_seed(seed)
            outputs = self.module(*args, **kwargs)
        return [value for value in torch.utils._pytree.tree_leaves(outputs) if isinstance(value, torch.Tensor)], mode.draws

    def _agree(self, a, b):
        close = self.torch.allclose
        return len(a) == len(b) and all(
            x.shape == y.shape and (not y.numel() or close(x.double(), y.double(), rtol=1e-4, atol=1e-5 * float(y.abs().max()), equal_nan=True))
            for x, y in zip(a, b))


def _is_drawn(torch, function, args, kwargs):
    """Whether this call of an operation draws: those of probability 0 or in eval mode do not."""
    if torch.Tag.nondeterministic_seeded not in function.tags:
        return False
    given = dict(zip((argument.name for argument in function._schema.arguments), args), **kwargs)
    if given.get("dropout_p", 0.0 if "attention" in str(function) else 1.0) == 0 or given.get("train", given.get("training")) is False:
        return False
    return "dropout" not in str(function) or given.get("p") != 0


def _mode(torch):
    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __init__(self, torch, module, kept):
            super().__init__()
            self.torch, self.kept, self.draws, self.stack = torch, kept, [], [module]
            self.names, self.count = {part: name for name, part in module.named_modules()}, 0

        @contextlib.contextmanager
        def parts(self):
            parts = [part for part in self.names if not isinstance(part, self.torch.jit.ScriptModule)]  # they have no hooks
            handles = [handle for part in parts for handle in (part.register_forward_pre_hook(lambda part, inputs: self.stack.append(part)),
                                                               part.register_forward_hook(self._leave, always_call=True))]
            try:
                yield
            finally:
                for handle in handles:
                    handle.remove()

        def _leave(self, part, inputs, outputs):
            self.stack.pop()

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if not _is_drawn(self.torch, function, args, kwargs):
                return function(*args, **kwargs)
            part = self.stack[-1]
            draw = Draw(self.names[part], type(part).__name__, str(function).split(".", 1)[1], place(torch))
            self.draws.append(draw)
            if draw.is_dropout:
                self.count += 1
                if self.count - 1 != self.kept:
                    return self._mean(draw, function, args, kwargs)
            return function(*args, **kwargs)

        def _mean(self, draw, function, args, kwargs):
            if draw.operation == "bernoulli_.float":
                return args[0].fill_(args[1] if len(args) > 1 else 0.5)
            if draw.operation == "native_dropout.default":
                return args[0].clone(), self.torch.ones_like(args[0], dtype=self.torch.bool)
            return function(*args, **kwargs)

    return Mode
