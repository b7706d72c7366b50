"""Trains small PyTorch modules and compares each step with PyTorch: what trains is what the module has, or a warning says otherwise.

    python test/Execution/run_modules.py [--modules NAME,...] [--ways export_for_training,dynamo,torchscript] [--ranks N] [--steps N]

Needs torch, onnx and onnxscript; says so and skips where one is absent. Each module of torch_modules.py is exported three ways: by
`autopar.export_for_training`, and by the defaults of both exporters. The first must train as PyTorch does without a warning of
its names, have the state_dict's names, and evaluate from the same file with the trained parameters; the others must train as PyTorch
does, every parameter that PyTorch changes, or be warned of. Modules that train otherwise than by the derivatives of what they compute
(torch_modules.UNTRUE) must be warned of by the export. Of torch_limits, those that drop at random (DROPPED) are run with a learning rate of
0, and their losses' mean and spread must be PyTorch's; those of BATCHED compute what PyTorch does for another batch; those of REFUSED are
refused with their text. Functions of torch_calls (CALLS) assert. The last line counts: "N right, N warned of, N refused by the export, N refused
by the exporter, N refused by autopar, N WRONG".
"""

import argparse
import collections
import contextlib
import copy
import importlib.util
import io
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import AutoparError, export_for_training, find_tool  # noqa: E402

NEEDED = ["torch", "onnx", "onnxscript", "safetensors"]
WAYS = ["export_for_training", "dynamo", "torchscript"]
UNTRUE_TEXTS = ["gradient is not the derivative", "was not looked at", "takes a number or a branch", "momentum=None"]
LOSS_TOLERANCE = 5e-5
FINAL_TOLERANCE = 5e-4  # of a tensor's size and one
RATE, MOMENTUM = 0.05, 0.9
DRAWS = 400  # steps of dropout


class Wrong(Exception):
    """What differs from PyTorch; `kind` is counted."""

    def __init__(self, why, kind="WRONG"):
        super().__init__(why)
        self.kind = kind


# ---------------------------------------------------------------- PyTorch
def without_dropout(module):
    for part in module.modules():
        if hasattr(part, "p") and "Dropout" in type(part).__name__:
            part.p = 0.0
        if hasattr(part, "dropout") and isinstance(part.dropout, float):
            part.dropout = 0.0
    return module


class Case:
    """A module, data for each step, and what PyTorch makes of them."""

    def __init__(self, name, steps):
        import torch
        from torch_modules import MODULES

        self.name, self.steps, self.torch = name, steps, torch
        torch.manual_seed(7)
        self.module, self.inputs, self.loss = MODULES[name]()
        self.data = {key: torch.stack([self.vary(value) for _ in range(steps)]) for key, value in self.inputs.items()}
        with torch.no_grad():
            output = copy.deepcopy(self.module).eval()(*self.inputs.values())
        if self.loss == "softmax_cross_entropy_mean":
            self.data["labels"] = torch.randint(0, output.shape[1], (steps, output.shape[0], *output.shape[2:]))
        elif self.loss == "mse_mean":
            self.data["labels"] = torch.randn(steps, *output.shape)
        self.labels = "labels" if "labels" in self.data else next(iter(self.inputs))
        self.variances = {}
        self.train()

    def vary(self, value):
        torch = self.torch
        if value.is_floating_point():
            return value + 0.5 * torch.randn_like(value)
        return value.flatten()[torch.randperm(value.numel())].view(value.shape)

    def loss_of(self, output, labels):
        F = self.torch.nn.functional
        if self.loss == "mse_mean":
            return F.mse_loss(output, labels)
        if self.loss == "softmax_cross_entropy_mean":
            return F.cross_entropy(output, labels)
        return F.cross_entropy(output[:, :-1].reshape(-1, output.shape[-1]), labels[:, 1:].reshape(-1))

    def watch(self, module):
        """ONNX's running variance is that of the population."""
        for name, part in module.named_modules():
            if "BatchNorm" in type(part).__name__ and part.running_var is not None:
                self.variances[name + ".running_var"] = part.running_var.clone()

                def update(part, inputs, key=name + ".running_var"):
                    dims = [dim for dim in range(inputs[0].dim()) if dim != 1]
                    seen = inputs[0].detach().var(dims, unbiased=False)
                    self.variances[key] = 0.9 * self.variances[key] + 0.1 * seen

                if part.training:
                    part.register_forward_pre_hook(update)

    def train(self):
        module = without_dropout(copy.deepcopy(self.module))
        data = copy.deepcopy(self.data)
        self.watch(module)
        optimizer = self.torch.optim.SGD([p for p in module.parameters() if p.requires_grad], lr=RATE, momentum=MOMENTUM)
        self.losses = []
        for step in range(self.steps):
            loss = self.loss_of(module(*(data[key][step] for key in self.inputs)), self.data[self.labels][step])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.losses.append(loss.item())
        self.final = {key: value.detach() for key, value in module.state_dict().items()}
        self.final.update(self.variances)
        self.trained = {name for name, p in module.named_parameters() if p.grad is not None}
        self.changed = {name for name, p in module.named_parameters() if not self.torch.equal(p, self.module.get_parameter(name))}

    def evaluate(self, weights):
        """The outputs in eval mode with trained weights; names that the module has not are an error."""
        module = copy.deepcopy(self.module)
        unexpected = module.load_state_dict({key: self.torch.from_numpy(value) for key, value in weights.items()}, strict=False).unexpected_keys
        if unexpected:
            raise Wrong(f"the state_dict has not {unexpected}")
        with self.torch.no_grad():
            return module.eval()(*self.inputs.values()).numpy()


# ---------------------------------------------------------------- export
def export(case, way, path):
    torch, module = case.torch, copy.deepcopy(case.module)
    inputs = tuple(case.inputs.values())
    if way == "export_for_training":
        before = copy.deepcopy(module.state_dict())
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            exported = export_for_training(module, inputs, path, input_names=list(case.inputs))
        told = [str(warning.message) for warning in told if "export_for_training" in str(warning.message)]
        if untrue := [text for text in told if any(part in text for part in UNTRUE_TEXTS)]:
            raise Wrong(f"a warning without a reason: {untrue[0]}")
        after = module.state_dict()
        if any(not torch.equal(before[key], after[key]) for key in before):
            raise Wrong("the export changed the module")
        return exported
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, inputs, path, dynamo=way == "dynamo", input_names=list(case.inputs))
    except Exception as error:  # the exporters raise nearly every class
        raise Wrong(f"{type(error).__name__}: {str(error).strip().splitlines()[0][:150]}", "refused by the exporter") from None
    return None


# ---------------------------------------------------------------- autopar
def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode < 0 or done.returncode >= 100:
        raise Wrong(f"{command[0]} ended with {done.returncode}: {done.stderr[-300:]}")
    return done.returncode, done.stdout, done.stderr.strip()


class Program:
    """The files of one way in a folder."""

    def __init__(self, case, folder, ranks):
        self.case, self.folder, self.ranks = case, folder, ["--ranks", str(ranks)]

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self):
        """The compiler's warnings."""
        recipe = {"loss": self.case.loss, "labels": self.case.labels, "dropout": 0, "optimizer": {"kind": "sgd", "lr": RATE, "momentum": MOMENTUM}}
        with open(self.path("recipe.json"), "w") as file:
            json.dump(recipe, file)
        code, _, log = call(find_tool(), "compile", self.path("model.onnx"), "-o", self.path("train"), "--train", self.path("recipe.json"), *self.ranks)
        if code:
            raise Wrong(log[:300], "refused by autopar")
        return [line for line in log.splitlines() if "warning" in line]

    def train(self):
        """The losses and the final tensors."""
        from safetensors.numpy import load_file

        np.savez(self.path("data.npz"), **{key: value.numpy() for key, value in self.case.data.items()})
        code, _, log = call(self.path("train"), "--data", self.path("data.npz"), "--steps", str(self.case.steps), "--log", self.path("log.jsonl"),
                            "--final", self.path("final.safetensors"))
        if code:
            raise Wrong(log[:300])
        with open(self.path("log.jsonl")) as file:
            losses = [json.loads(line)["loss"] for line in file]
        return losses, load_file(self.path("final.safetensors"))

    def evaluate(self):
        """What the training's file computes in eval mode with the final tensors."""
        code, _, log = call(find_tool(), "compile", self.path("model.onnx"), "-o", self.path("evaluate"), "--evaluate", *self.ranks)
        if code:
            raise Wrong("--evaluate: " + log[:300])
        np.savez(self.path("inputs.npz"), **{key: value.numpy() for key, value in self.case.inputs.items()})
        code, _, log = call(self.path("evaluate"), "--weights", self.path("final.safetensors"), "--inputs", self.path("inputs.npz"),
                            "--outputs", self.path("outputs.npz"))
        if code:
            raise Wrong("the run of --evaluate: " + log[:300])
        with np.load(self.path("outputs.npz")) as arrays:
            return next(iter(arrays.values()))


def differences(case, losses, final):
    """What differs from PyTorch, as text, or ""."""
    worst = max(abs(a - b) / max(abs(b), 1e-30) for a, b in zip(losses, case.losses))
    if not worst <= LOSS_TOLERANCE:
        return f"losses differ by {worst:.2e}"
    if lost := sorted(case.changed - set(final)):
        return f"PyTorch trains {lost[:4]}, the file does not"
    for name, got in final.items():
        if name not in case.final:
            return f"'{name}' is trained, and no name of the state_dict"
        want = case.final[name].numpy()
        difference = np.linalg.norm(got.astype(np.float64) - want) / max(1, np.linalg.norm(want))
        if not difference <= FINAL_TOLERANCE:
            return f"{name} differs by {difference:.2e}"
    return ""


def attempt(case, way, folder, ranks):
    """(kind, why)"""
    program = Program(case, folder, ranks)
    exported = export(case, way, program.path("model.onnx"))
    told = program.compile()
    losses, final = program.train()
    difference = differences(case, losses, final)
    if way != "export_for_training":
        return ("warned of", difference or "though right") if told else ("WRONG", difference) if difference else ("right", "")
    told = [line for line in told if "batch norm without training_mode" not in line or case.name != "frozen"]
    if told or difference:
        raise Wrong(difference or told[0])
    if set(exported.trained) != case.trained:
        raise Wrong(f"exported {sorted(set(exported.trained) ^ case.trained)} otherwise than PyTorch trains them")
    got, want = program.evaluate(), case.evaluate(final)
    if not np.allclose(got, want, rtol=1e-4, atol=1e-5 * max(1, np.abs(want).max())):
        raise Wrong(f"--evaluate differs by {np.abs(got - want).max():.2e}")
    return "right", ""


def attempt_untrue(make):
    """The module trains otherwise than a file of it, and the export says so."""
    module, inputs, expected = make()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        export_for_training(module, tuple(inputs.values()), os.path.join(folder, "model.onnx"))
    texts = [str(warning.message) for warning in told if "export_for_training" in str(warning.message)]
    return ("warned of", "") if any(re.search(expected, text) for text in texts) else ("WRONG", f"told {texts}")


def attempt_dropped(make):
    """The losses where no parameter moves differ by dropout alone."""
    import torch

    torch.manual_seed(7)
    module, example = make()
    with torch.no_grad():
        want = np.array([float((module(example) ** 2).mean()) for _ in range(DRAWS)])
        shape = module(example).shape
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)  # noqa: E731
        export_for_training(module, example, path("model.onnx"), input_names=["x"])
        with open(path("recipe.json"), "w") as file:
            json.dump({"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.0}}, file)
        np.savez(path("data.npz"), x=example.numpy()[None], labels=np.zeros((1, *shape), np.float32))
        for command in ([find_tool(), "compile", path("model.onnx"), "-o", path("train"), "--train", path("recipe.json")],
                        [path("train"), "--data", path("data.npz"), "--steps", str(DRAWS), "--log", path("log.jsonl"),
                         "--final", path("final.safetensors")]):
            code, _, log = call(*command)
            if code or "warning" in log:
                return "WRONG", log[:300]
        with open(path("log.jsonl")) as file:
            got = np.array([json.loads(line)["loss"] for line in file])
    told = f"losses of {got.mean():.4g} +- {got.std():.4g}, PyTorch's {want.mean():.4g} +- {want.std():.4g}"
    apart = abs(got.mean() - want.mean()) / np.hypot(got.std(), want.std()) * DRAWS**0.5
    return ("right" if apart < 4 and 0.8 < got.std() / want.std() < 1.25 else "WRONG"), told


def attempt_batched(make):
    """A file of both exports computes what the module does, with another batch where it has one."""
    import torch

    torch.manual_seed(7)
    module, inputs, dynamic_batch = make()
    larger = {name: torch.cat([value, value[:2] + 1 if value.is_floating_point() else value[:2]]) if name == "x" else value
              for name, value in inputs.items()}
    for chosen, values, flags in ((dynamic_batch, larger, ["--bind", f"batch={len(larger['x'])}"]), (False, inputs, [])):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            path = lambda name: os.path.join(folder, name)  # noqa: E731
            warnings.simplefilter("error", UserWarning)
            export_for_training(module, tuple(inputs.values()), path("model.onnx"), input_names=list(inputs), dynamic_batch=chosen)
            np.savez(path("in.npz"), **{name: value.numpy() for name, value in values.items()})
            for command in ([find_tool(), "compile", path("model.onnx"), "-o", path("run"), "--evaluate", *flags],
                            [path("run"), "--inputs", path("in.npz"), "--outputs", path("out.npz")]):
                code, _, log = call(*command)
                if code:
                    return "WRONG", log[:300]
            with torch.no_grad():
                want = copy.deepcopy(module).eval()(*values.values()).numpy()
            with np.load(path("out.npz")) as arrays:
                got = next(iter(arrays.values()))
        if got.shape != want.shape or not np.allclose(got, want, rtol=1e-4, atol=1e-5):
            return "WRONG", f"{flags}: {got.shape} {want.shape}"
    return "right", ""


def attempt_call(check):
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(folder)
        except (AssertionError, AutoparError, UserWarning) as error:
            return "WRONG", f"{type(error).__name__}: {error}"
    return "right", ""


def attempt_refused(make):
    """The export says why, and writes nothing."""
    module, example, arguments, expected = make()
    with tempfile.TemporaryDirectory() as folder:
        try:
            export_for_training(module, example, os.path.join(folder, "model.onnx"), **arguments)
        except AutoparError as error:
            said = bool(re.search(expected, str(error))) and not os.listdir(folder)
            return ("refused by the export" if said else "WRONG"), str(error)
    return "WRONG", "exported"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: Python has no {', '.join(missing)}; install it with: {sys.executable} -m pip install {' '.join(missing)}")
        return 0
    logging.disable(logging.WARNING)
    import torch
    from torch_calls import CALLS
    from torch_limits import BATCHED, DROPPED, REFUSED
    from torch_modules import MODULES, TOLD_BY_NOBODY, UNTRUE

    torch.set_num_threads(1)
    counts = collections.Counter()
    for name in options.modules.split(",") if options.modules else MODULES:
        if name not in MODULES:
            continue
        case = Case(name, options.steps)
        for way in options.ways.split(","):
            if name in TOLD_BY_NOBODY and way != "export_for_training":
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    kind, why = attempt(case, way, folder, options.ranks)
                except Wrong as wrong:
                    kind, why = wrong.kind, str(wrong)
            counts[kind] += 1
            print(f"{name} {way}: {kind}{': ' + why if why else ''}", flush=True)
    further = [(name, attempt_of, make) for attempt_of, modules in ((attempt_untrue, UNTRUE), (attempt_dropped, DROPPED),
                                                                       (attempt_batched, BATCHED), (attempt_refused, REFUSED),
                                                                       (attempt_call, CALLS))
               for name, make in modules.items()]
    for name, attempt_of, make in further:
        if options.modules and name not in options.modules.split(","):
            continue
        kind, why = attempt_of(make)
        counts[kind] += 1
        print(f"{name} export_for_training: {kind}{': ' + why if why else ''}", flush=True)
    kinds = ["right", "warned of", "refused by the export", "refused by the exporter", "refused by autopar", "WRONG"]
    print(", ".join(f"{counts[kind]} {kind}" for kind in kinds))
    return counts["WRONG"] > 0


if __name__ == "__main__":
    sys.exit(main())
