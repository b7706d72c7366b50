"""The row of an embedding's padding_idx, which PyTorch does not train and ONNX does not know: where it is zeros, it can be left out."""

import contextlib

from ._module import training


def padded(torch, module):
    """Embeddings with a padding_idx that are trained, by name."""
    return {name: part for name, part in module.named_modules()
            if isinstance(part, torch.nn.Embedding) and part.padding_idx is not None and part.weight.requires_grad}


def left_out(torch, module, call):
    """Those of them whose row is zeros and stays so: nothing else reads the table, as a head that is tied to it."""
    found = {name: part for name, part in padded(torch, module).items() if not part.weight[part.padding_idx].any() and part.max_norm is None}
    tables = [part for part in module.modules() if isinstance(part, torch.nn.Embedding)]
    found = {name: part for name, part in found.items()
             if all(other.padding_idx == part.padding_idx for other in tables if other.weight is part.weight)}
    if not found:
        return found
    try:
        gradients = _gradients(torch, module, call, [part.weight for part in found.values()])
    except RuntimeError:  # a function without a backward
        return {}
    return {name: part for (name, part), gradient in zip(found.items(), gradients)
            if gradient is None or not gradient.to_dense()[part.padding_idx].any()}


def _gradients(torch, module, call, tables):
    args, kwargs = call.copies(torch)
    with training(torch, module):
        outputs = torch.utils._pytree.tree_leaves(module(*args, **kwargs))
        total = sum((value * torch.randn_like(value)).sum() for value in outputs if isinstance(value, torch.Tensor) and value.requires_grad)
        return torch.autograd.grad(total, tables, allow_unused=True) if isinstance(total, torch.Tensor) else [None] * len(tables)


@contextlib.contextmanager
def zeroed(parts):
    """Within it these embeddings give zeros for their padding, whatever the row is."""
    for part in parts:
        part.forward = _masked(part, part.forward)
    try:
        yield
    finally:
        for part in parts:
            del part.forward


def _masked(part, forward):
    return lambda input: forward(input) * (input != part.padding_idx).unsqueeze(-1).to(part.weight.dtype)
