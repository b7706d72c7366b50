"""What of a module no file for training can have, by the submodule's name, and what to write instead."""

from ._module import training
from ._program import AutoparError


def refuse(torch, module, call, names):
    """AutoparError where `compile --train` would refuse the file."""
    if not names.trained:
        what = "all parameters have requires_grad=False: set it to True for those that are" if names.parameters else "the module has no parameters"
        raise AutoparError(f"export_for_training: nothing is trained: {what}. For inference alone torch.onnx.export does")
    with training(torch, module):
        texts = [f"'{name}' ({type(part).__name__}) {text}" for name, part in module.named_modules() if (text := _refused(torch, part))]
    for part, count in _calls(torch, module, call).items():
        name = next(name for name, other in module.named_modules() if other is part)
        if count > 1:
            texts.append(f"'{name}' ({type(part).__name__}) is called {count} times by one forward, and updates its running statistics each time; a "
                         "file changes them once a step: call it once, of the inputs joined by torch.cat, make a batch norm for each call, or give "
                         "it track_running_stats=False")
    if texts:
        raise AutoparError("export_for_training: " + "; ".join(texts))


def _refused(torch, part):
    if isinstance(part, torch.nn.modules.instancenorm._InstanceNorm) and part.track_running_stats and part.training:
        return ("has track_running_stats=True, running statistics that ONNX's InstanceNormalization has not: give it track_running_stats=False, with "
                "which it is in eval mode as when it trains")
    if isinstance(part, torch.nn.EmbeddingBag) and part.padding_idx is not None and (part.mode == "max" or part.max_norm is not None):
        return "has a padding_idx, which a file has of mode 'sum' and 'mean' without max_norm alone: use torch.nn.Embedding and torch.amax"
    return ""


def _calls(torch, module, call):
    """How often one forward calls each batch norm that updates running statistics."""
    counts = {}

    def count(part, inputs):
        if part.training and part.running_mean is not None:
            counts[part] = counts.get(part, 0) + 1

    norms = [part for part in module.modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]
    handles = [part.register_forward_pre_hook(count) for part in norms]
    try:
        if norms:
            args, kwargs = call.copies(torch)
            with training(torch, module), torch.no_grad():
                module(*args, **kwargs)
    finally:
        for handle in handles:
            handle.remove()
    return counts
