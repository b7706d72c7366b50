"""Functions of PyTorch that its exporters, or training, do not know, by others that they do."""

import contextlib

ALPHA = 1.7580993408473766  # of SELU: scale times alpha


@contextlib.contextmanager
def rewritten(torch):
    """Within it the dropout of RNNs, of channels and of alpha, and `bernoulli_` of one probability, call torch.nn.functional.dropout; a batch norm
    without running statistics and the padding of a bag of embeddings are arithmetic.

    With dropout off, as in eval mode, RNNs and kinds of dropout give what they take, and `bernoulli_` its probability, the mean."""
    low, functions = torch._VF, torch.nn.functional
    patches = [(low, name, _layered(torch, getattr(low, name))) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")]
    for name, masked in (("feature_dropout", _scaled), ("alpha_dropout", _alpha), ("feature_alpha_dropout", _alpha)):
        patches.append((low, name, _by_mask(torch, getattr(low, name), masked, by_channel=name.startswith("feature"))))
    patches += [(functions, "batch_norm", _batch_norm(torch, functions.batch_norm)),
                (functions, "embedding_bag", _embedding_bag(torch, functions.embedding_bag)),
                (torch.Tensor, "bernoulli_", _bernoulli(torch, torch.Tensor.bernoulli_))]
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in patches if name in vars(owner)]
    for patch in patches:
        setattr(*patch)
    try:
        yield
    finally:
        for owner, name, _ in patches:
            delattr(owner, name)  # what a base or __getattr__ has is seen again
        for kept in before:
            setattr(*kept)


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


def _batch_norm(torch, original):
    def call(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
        if running_mean is not None or running_var is not None or not training:
            return original(input, running_mean, running_var, weight, bias, training, momentum, eps)
        dimensions, shape = [dimension for dimension in range(input.dim()) if dimension != 1], (1, -1, *[1] * (input.dim() - 2))
        centered = input - input.mean(dimensions, keepdim=True)
        result = centered * torch.rsqrt((centered * centered).mean(dimensions, keepdim=True) + eps)
        result = result if weight is None else result * weight.view(shape)
        return result if bias is None else result + bias.view(shape)

    return call


def _embedding_bag(torch, original):
    """Of bags of one size: the sum or mean of their rows, of which those of the padding are left out."""
    def call(input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
             per_sample_weights=None, include_last_offset=False, padding_idx=None):
        if input.dim() != 2 or mode not in ("sum", "mean") or max_norm is not None or scale_grad_by_freq:
            return original(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                            padding_idx)
        rows = torch.nn.functional.embedding(input, weight)
        rows = rows if per_sample_weights is None else rows * per_sample_weights.unsqueeze(-1)
        if padding_idx is None:
            return rows.sum(1) if mode == "sum" else rows.mean(1)
        kept = (input != padding_idx % weight.shape[0]).to(weight.dtype)
        total = (rows * kept.unsqueeze(-1)).sum(1)
        return total if mode == "sum" else total / kept.sum(1, keepdim=True).clamp(min=1)

    return call
