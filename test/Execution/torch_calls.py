"""Calls of `export_for_training` in states of PyTorch and with paths that are right or wrong: functions that assert, given a folder."""

import math
import os
import re
import sys
import unittest.mock
import warnings

import torch
from autopar import AutoparError, export_for_training
from torch import nn
from torch_modules import Called, real

CALLS = {}


def called(check):
    CALLS[check.__name__] = check
    return check


def exported(module, example, folder, **arguments):
    """What is exported without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        return export_for_training(module, example, os.path.join(folder, "model.onnx"), **arguments)


def said(*arguments, **named):
    """The text of the error."""
    try:
        export_for_training(*arguments, **named)
    except AutoparError as error:
        return str(error)
    raise AssertionError("exported")


@called
def compiled_modules(folder):
    """One that torch.compile made has the names of the original; parts that are compiled have those of the state_dict."""
    module = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.1), nn.Linear(5, 3))
    assert exported(torch.compile(module), real(6, 4), folder).trained == ["0.weight", "0.bias", "2.weight", "2.bias"]
    part = nn.Sequential(torch.compile(nn.Linear(4, 5)), nn.Linear(5, 3))
    assert sorted(exported(part, real(6, 4), folder).trained) == sorted(dict(part.named_parameters()))
    made = Called(torch.compile(lambda self, x: self.layer(x).relu()), layer=nn.Linear(4, 3))
    assert exported(torch.compile(made), real(6, 4), folder).trained == ["layer.weight", "layer.bias"]


@called
def without_gradients(folder):
    """Modes that PyTorch's gradients are off in change nothing."""
    module = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            assert len(exported(module, real(6, 4), folder).trained) == 4


@called
def wide_layers(folder):
    """Thousands of relus have kinks within any step, of which nothing is told; a gradient that is none is found among them."""
    for seed in (3, 7):  # whose differences the kinks move most
        torch.manual_seed(seed)
        module = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 64))
        exported(module, real(64, 64), folder)

    def rounded(self, x):
        x = torch.relu(self.first(x))
        return self.last(x + (torch.round(x * 4) / 4 - x).detach())

    for seed in range(3):
        torch.manual_seed(seed)
        try:
            exported(Called(rounded, first=nn.Linear(64, 512), last=nn.Linear(512, 64)), real(32, 64), folder)
        except UserWarning as warning:
            assert "['first.weight', 'first.bias'] PyTorch's gradient is not the derivative" in str(warning), warning
        else:
            raise AssertionError("nothing is told of gradients that are none")


@called
def converted_types(folder):
    """A forward that converts to float32, as norms of language models do, is rounded where the export looks at it in float64."""
    def forward(self, x):
        x = torch.relu(self.first(x)).float()
        x = x * torch.sigmoid(x.detach()) if self.is_detached else x / (x.norm(dim=1, keepdim=True) + 0.1)
        return self.last(x.to(self.last.weight.dtype))

    for seed in range(4):
        torch.manual_seed(seed)
        made = Called(forward, first=nn.Linear(16, 32), last=nn.Linear(32, 8), is_detached=False)
        exported(made, real(8, 16), folder)
        made.is_detached = True
        try:
            exported(made, real(8, 16), folder)
        except UserWarning as warning:
            assert "'first." in str(warning) and "gradient is not the derivative" in str(warning), warning
        else:
            raise AssertionError("nothing is told of a factor that is detached")


@called
def without_onnxruntime(folder):
    """What the comparison would find is told of sizes and modes."""
    module = Called(lambda self, x: self.layer(x) / len(x) if self.training else self.layer(x).softmax(-1), layer=nn.Linear(4, 3))
    batched = Called(lambda self, x: self.layer(x) / math.sqrt(x.shape[0]), layer=nn.Linear(4, 3))
    with unittest.mock.patch.dict(sys.modules, onnxruntime=None):
        for made, text in ((module, "not compared .*computes otherwise in eval mode"), (batched, "from a size at .*torch_calls.py:.*onnxruntime")):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                export_for_training(made, real(5, 4), os.path.join(folder, "model.onnx"), dynamic_batch=made is batched)
            assert any(re.search(text, str(warning.message)) for warning in told), [str(warning.message) for warning in told]


@called
def kept_example(folder):
    """forward changes its input, and the export does not."""
    example = real(5, 4)
    before = example.clone()
    exported(Called(lambda self, x: self.layer(x.add_(1)), layer=nn.Linear(4, 3)).double(), example.double(), folder)
    exported(Called(lambda self, x: self.layer(x.add_(1)), layer=nn.Linear(4, 3)), example, folder, dynamic_batch=True)
    assert torch.equal(before, example)


@called
def several_outputs(folder):
    """The outputs of what trains have names, where eval mode has one alone."""
    import onnx

    module = Called(lambda self, x: (self.layer(x), self.further(x)) if self.training else self.layer(x), layer=nn.Linear(4, 3), further=nn.Linear(4, 2))
    exported(module, real(5, 4), folder)
    assert [value.name for value in onnx.load(os.path.join(folder, "model.onnx")).graph.output] == ["output_0", "output_1"]


@called
def names_apart(folder):
    """Tensors of the module are called as values of torch.export, as an input and as an output."""
    import onnx

    class Named(nn.Module):
        def __init__(self, name):
            super().__init__()
            self.name, self.layer, self.last = name, nn.Linear(4, 8), nn.Bilinear(8, 8, 3)  # which only torch.export writes
            self.register_buffer(name, torch.linspace(0.5, 2, 8))
            self.x = nn.Parameter(torch.ones(4))

        def forward(self, x):
            hidden = nn.functional.gelu(self.layer(x * self.x)).mean(1)
            return {"x": self.last(hidden * getattr(self, self.name), hidden.relu())}

    for name in ("mean", "gelu", "relu", "scale"):
        assert "x" in exported(Named(name), real(5, 6, 4), folder).trained
        model = onnx.load(os.path.join(folder, "model.onnx"))
        onnx.checker.check_model(model)
        graph = model.graph
        assert ([value.name for value in graph.input], [value.name for value in graph.output]) == (["x_input"], ["x_output"])


@called
def paths(folder):
    absent = os.path.join(folder, "absent", "model.onnx")
    text = said(nn.Linear(4, 3), real(5, 4), absent)
    assert f"there is no folder '{os.path.dirname(absent)}' for '{absent}'" in text, text
    text = said(nn.Linear(4, 3), real(5, 4), folder)
    assert f"'{folder}' is a folder" in text, text
    text = said(nn.Linear(4, 3), "model.onnx", real(5, 4))
    assert "the path is a Tensor, and the arguments are module, example, path" in text, text
    assert not os.listdir(folder)


@called
def scripts(folder):
    """One of torch.jit is refused, and may be part of another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted = torch.jit.script(nn.Linear(4, 3))
    text = said(scripted, real(5, 4), os.path.join(folder, "model.onnx"))
    assert "give the module that it was made of" in text, text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(nn.Linear(4, 3), real(5, 4))
        export_for_training(nn.Sequential(traced, nn.Linear(3, 2)), real(5, 4), os.path.join(folder, "model.onnx"))
