"""PyTorch's exporters to ONNX, called so that the file has the module's tensors."""

import contextlib
import itertools
import os
import warnings

from ._program import AutoparError


def import_package(name, package):
    try:
        return __import__(name)
    except ImportError as error:
        packages = " ".join(dict.fromkeys([package, "onnx", "onnxscript"]))
        raise AutoparError(f"export_for_training needs {package}, which this Python has not: python -m pip install {packages} ({error})") from None


def first_line(error):
    """Of what an exporter says; its own classes stand around the reason."""
    if isinstance(error, AutoparError):
        return str(error)
    if type(error).__module__.startswith("torch.onnx") and error.__cause__ is not None:
        error = error.__cause__
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return type(error).__name__ + (": " + lines[0][:300] if lines else "")


@contextlib.contextmanager
def quiet():
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


def torchscript(torch, module, call, path, names, inputs, outputs, opset):
    axes = {inputs[index]: {0: "batch"} for index in call.batch} or None
    with call.flat(torch, module):
        torch.onnx.export(module, tuple(value.detach().clone() for value in call.tensors), path, dynamo=False, training=torch.onnx.TrainingMode.PRESERVE,
                          do_constant_folding=False, keep_initializers_as_inputs=False, input_names=inputs, output_names=outputs,
                          dynamic_axes=axes, opset_version=opset)


def dynamo(torch, module, call, path, names, inputs, outputs, opset):
    import_package("onnxscript", "onnxscript")
    shapes = None
    if call.batch:
        batch, index = torch.export.Dim("batch"), itertools.count()
        shapes = dict(torch.utils._pytree.tree_map(
            lambda value: {0: batch} if isinstance(value, torch.Tensor) and next(index) in call.batch else None, call.bound.arguments))
    args, kwargs = call.copies(torch)
    program = torch.onnx.export(module, args, kwargs=kwargs, dynamo=True, optimize=False, verbose=False, input_names=inputs,
                                output_names=outputs, dynamic_shapes=shapes, opset_version=opset)
    for node in program.model.graph.all_nodes():
        for value in node.outputs:
            if value.name in names.tensors and not value.is_graph_output():
                value.name += "/value"  # a buffer is called `mean`, and so is the result of x.mean()
    for value in list(program.model.graph.initializers.values()):
        raw = getattr(value.const_value, "raw", None)
        if hasattr(raw, "data_ptr"):
            first = names.first.get(names.key(raw))
            if first and first != value.name:
                value.name = first
    program.save(path, external_data=False)
