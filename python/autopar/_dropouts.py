"""Random draws that PyTorch's exporters do not write, as dropout, which they do."""

import contextlib

ALPHA = 1.7580993408473766  # of SELU: scale times alpha


@contextlib.contextmanager
def as_dropout(torch):
    """Within it the dropout of RNNs, of channels and of alpha, and `bernoulli_` of one probability, call torch.nn.functional.dropout.

    With dropout off, as in eval mode, RNNs and kinds of dropout give what they take, and `bernoulli_` its probability, the mean."""
    functions = torch._VF
    patched = {name: _layered(torch, getattr(functions, name)) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}
    for name, masked in (("feature_dropout", _scaled), ("alpha_dropout", _alpha), ("feature_alpha_dropout", _alpha)):
        patched[name] = _by_mask(torch, getattr(functions, name), masked, by_channel=name.startswith("feature"))
    before = {name: vars(functions)[name] for name in patched if name in vars(functions)}
    vars(functions).update(patched)
    torch.Tensor.bernoulli_ = _bernoulli(torch, torch.Tensor.bernoulli_)
    try:
        yield
    finally:
        del torch.Tensor.bernoulli_  # the one of its base is seen again
        for name in patched:
            del vars(functions)[name]
        vars(functions).update(before)


def _by_mask(torch, original, masked, by_channel):
    """A function of torch._VF with (x, p, train)."""
    def call(x, p, train):
        if not train or p == 0:
            return x.clone()
        if p == 1:
            return original(x, p, train)
        shape = (x.shape[0], x.shape[1], *[1] * (x.dim() - 2)) if by_channel else x.shape
        return masked(torch, x, torch.nn.functional.dropout(x.new_ones(shape), p, True), p)

    return call


def _scaled(torch, x, mask, p):
    return x * mask


def _alpha(torch, x, mask, p):
    """What is dropped becomes a value of its own, and mean and variance stay. A mask of ones is dropout that is off."""
    scale = 1 / ((ALPHA * ALPHA * p + 1) * (1 - p)) ** 0.5
    return torch.where(mask == 1, x, torch.where(mask == 0, -ALPHA * torch.ones_like(x), x) * scale + ALPHA * scale * p)


def _bernoulli(torch, original):
    def call(self, p=0.5, *, generator=None):
        if generator is not None or not isinstance(p, (int, float)) or not 0 < p < 1:
            return original(self, p, generator=generator)
        return self.copy_(torch.nn.functional.dropout(torch.ones_like(self), 1 - p, True) * p)

    return call


def _layered(torch, original):
    """An RNN whose layers are calls of their own, with dropout between them. Packed sequences have batch sizes before the state."""
    def call(x, *rest):
        before = rest[:1] if isinstance(rest[2], (list, tuple)) else ()
        state, weights, bias, layers, p, train, bidirectional, *order = rest[len(before):]
        if not train or p == 0 or layers == 1:
            return original(x, *rest)
        count, size, last = len(weights) // layers, 2 if bidirectional else 1, []
        for layer in range(layers):
            part = slice(layer * size, (layer + 1) * size)
            begin = tuple(value[part] for value in state) if isinstance(state, tuple) else state[part]
            x, *end = original(x, *before, begin, weights[layer * count:(layer + 1) * count], bias, 1, 0.0, train, bidirectional, *order)
            last.append(end)
            if layer + 1 < layers:
                x = torch.nn.functional.dropout(x, p, True)
        return (x, *(torch.cat(values) for values in zip(*last)))

    return call
