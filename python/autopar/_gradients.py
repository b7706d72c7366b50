"""Whether a PyTorch module's gradients are the derivatives of what its forward computes, which is what a file of it trains by."""

import copy
import time

MOST_BYTES = 4 << 30  # of the copy in float64 that is looked at
MOST_SECONDS = 30
STEP, EXACT, KINK = 1e-5, 1e-4, 1e-3  # of a parameter's size; of the derivative
COARSE_STEP, COARSE = 1e-3, 1e-2  # the same where forward itself converts to float32
SMALLER, SAME, LARGE = 1e-2, 0.3, 0.05  # a further step; of the first one's error; of the derivative


class Outcome:
    """`other`: parameters whose gradient is not the derivative; `is_whole`: those are all; `unknown`: why nothing could be said, or None."""

    def __init__(self):
        self.other, self.is_whole, self.unknown = [], True, None


def check(torch, module, call, names):
    """Compares the gradients of a random sum of the outputs with differences along random directions, in float64: two more runs of the
    module where they agree, and six for each parameter where they do not. At a kink (both sides differ) nothing is said."""
    outcome = Outcome()
    if sum(8 * value.numel() for value in names.tensors.values()) > MOST_BYTES:
        outcome.unknown = "it is large"
        return outcome
    try:
        _Check(torch, module, call, names, outcome).run()
    except Exception as error:  # a module may not run in float64
        outcome.unknown = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200] if str(error).strip() else ''}"
    hooked = [name for name in names.trained if getattr(names.tensors[name], "_backward_hooks", None)
              or getattr(names.tensors[name], "_post_accumulate_grad_hooks", None)]
    outcome.other = [name for name in names.trained if name in {*outcome.other, *hooked}]
    return outcome


class _Check:
    def __init__(self, torch, module, call, names, outcome):
        self.torch, self.outcome = torch, outcome
        self.module = copy.deepcopy(module).double()
        if not module.training:
            self.module.train()
        self.args, self.kwargs = torch.utils._pytree.tree_map(
            lambda value: value.detach().double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value,
            (call.args, call.kwargs))
        parameters = dict(self.module.named_parameters(remove_duplicate=False))
        self.parameters = {name: parameters[name] for name in names.trained if parameters[name].is_floating_point()}
        self.begin = [(value, value.detach().clone()) for value in (*self.module.buffers(), *self.module.parameters())]
        self.padding = {id(part.weight): part.padding_idx for part in self.module.modules()
                        if isinstance(part, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and part.padding_idx is not None}

    def run(self):
        default = self.torch.get_default_dtype()
        self.torch.set_default_dtype(self.torch.float64)  # of tensors that forward makes
        try:
            self._run()
        finally:
            self.torch.set_default_dtype(default)

    def _run(self):
        torch = self.torch
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(0)
            directions = {name: self._direction(value) for name, value in self.parameters.items()}
            with _conversions(torch) as seen:
                total = self._total()
            self.step, self.exact, self.rounding = (COARSE_STEP, COARSE, 1e-7) if seen.is_coarse else (STEP, EXACT, 1e-12)
            names = [name for name, value in self.parameters.items() if torch.equal(value.detach(), self._first(value))]  # forward changes others
            gradients = [None] * len(names)
            if total.requires_grad:
                gradients = torch.autograd.grad(total, [self.parameters[name] for name in names], allow_unused=True)
            self.value = total.detach()
            self.slopes = {name: 0.0 if gradient is None else float((gradient.to_dense() * directions[name]).sum())
                           for name, gradient in zip(names, gradients)}
            self.directions, self.until = directions, time.monotonic() + MOST_SECONDS
            with torch.no_grad():
                self._find(names)

    def _first(self, parameter):
        return next(value for tensor, value in self.begin if tensor is parameter)

    def _direction(self, parameter):
        direction = self.torch.randn_like(parameter) * max(float(parameter.detach().abs().mean()), 1e-2)
        if id(parameter) in self.padding:
            direction[self.padding[id(parameter)]] = 0  # has a warning of its own
        return direction

    def _total(self, names=(), step=0.0):
        """A random sum of all outputs, `step` along the directions of these parameters; each time with the same random numbers."""
        torch = self.torch
        with torch.no_grad():
            for tensor, value in self.begin:
                tensor.copy_(value)
            for name in names:
                self.parameters[name].add_(self.directions[name], alpha=step)
        torch.manual_seed(1)
        args, kwargs = torch.utils._pytree.tree_map(lambda value: value.clone() if isinstance(value, torch.Tensor) else value, (self.args, self.kwargs))
        outputs = [value for value in torch.utils._pytree.tree_leaves(self.module(*args, **kwargs))
                   if isinstance(value, torch.Tensor) and value.is_floating_point()]
        torch.manual_seed(2)
        return sum((value * torch.randn_like(value)).sum() for value in outputs)

    def _find(self, names):
        """Halves the parameters until those are left that do not agree."""
        if not names or self._agrees(names):
            return
        if time.monotonic() > self.until:
            self.outcome.is_whole = False
            return
        if len(names) == 1:
            self.outcome.other += names if self._is_confirmed(names) else []
            return
        middle = len(names) // 2
        self._find(names[:middle])
        self._find(names[middle:])

    def _agrees(self, names):
        error, _, size, noise = self._error(names, self.step)
        return abs(error) <= self.exact * size + noise

    def _is_confirmed(self, names):
        """Whether a smaller step has the same error, or where the first one meets a kink a large one. The error of many kinks, as of a wide
        layer with relu, is less; at a kink of the smaller one nothing is said."""
        if self.step == COARSE_STEP:  # a smaller one would be rounded away
            return True
        error, apart, size, noise = self._error(names, STEP)
        is_kink = apart > KINK * size + noise
        again, apart, size, noise = self._error(names, STEP * SMALLER)
        if apart > KINK * size + noise:
            return False
        if is_kink:
            return abs(again) > LARGE * size + noise
        return abs(again - error) <= SAME * abs(error) + noise and abs(again) > EXACT * size

    def _error(self, names, step):
        """The difference's from the slope, how far both sides are apart, and their size and noise."""
        above = float(self._total(names, step) - self.value) / step
        below = float(self.value - self._total(names, -step)) / step
        size = max(sum(abs(self.slopes[name]) for name in names), abs(above), abs(below))
        noise = self.rounding * max(abs(float(self.value)), 1.0) / step
        return (above + below) / 2 - sum(self.slopes[name] for name in names), abs(above - below), size, noise


def _conversions(torch):
    class Mode(torch.overrides.TorchFunctionMode):
        """Sees whether what depends on parameters is converted to a type that is coarser than float64."""

        is_coarse = False

        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            for value in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(value, torch.Tensor) and value.requires_grad and value.is_floating_point() and value.dtype != torch.float64:
                    self.is_coarse = True
            return result

    return Mode()


def tell(warn, outcome):
    """Says by `warn` what training by the file does otherwise."""
    if outcome.other:
        more = "" if outcome.is_whole else " and perhaps others"
        warn(f"of {outcome.other}{more} PyTorch's gradient is not the derivative of what forward computes (detach, no_grad, an "
             "autograd.Function or a hook is in the way); the file has no gradients, and the compiler takes the derivative: these train "
             "otherwise than in PyTorch. Compute without that, or freeze them by requires_grad_(False)")
    if outcome.unknown:
        warn("whether PyTorch's gradients are the derivatives of what forward computes was not looked at (the module does not run in "
             f"float64: {outcome.unknown}); detach, no_grad, autograd.Function and hooks are not in the file")
