"""A training, step by step, from Python."""

import json
import os
import tempfile
from typing import Callable, Iterable, Mapping, NamedTuple, Optional

import numpy as np

from ._program import AutoparError, compile, model_file
from ._session import Session


class Step(NamedTuple):
    """What a step told; None where the recipe has no such thing. `number` counts from 0."""

    number: int
    loss: float
    grad_norm: Optional[float]
    learning_rate: Optional[float]
    skipped: bool


class Trainer:
    """Trains a model by a recipe (docs/Training.md), batch by batch, on `ranks` ranks of this host.

    `model`: a path or an onnx.ModelProto. `recipe`: a path or a dict. `options`: further flags of `autopar compile`. `weights`: with which
    parameters it begins, as the executable's --weights takes them. The program lies in a temporary folder that goes away with the trainer.

        trainer = autopar.Trainer("model.onnx", {"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 1e-3}}, ranks=2)
        for batch in loader:
            print(trainer.step({"x": batch["x"], "labels": batch["y"]}).loss)
        trainer.save("trained.safetensors")
    """

    def __init__(self, model, recipe, *, ranks: int = 1, options: Iterable[str] = (), threads: int = 0, weights=None):
        self._folder = tempfile.TemporaryDirectory(prefix="autopar-")
        path = self._folder.name
        if isinstance(recipe, Mapping):
            with open(f"{path}/recipe.json", "w") as file:
                json.dump(recipe, file)
            recipe = f"{path}/recipe.json"
        flags = ["--train", os.fspath(recipe), *options]
        program = compile(model_file(model, path), f"{path}/program", ranks=ranks, options=flags)
        #: The session underneath.
        self.session = Session(program.path, threads=threads, weights=weights)
        self._roles = {info.role: info.name for info in self.session.outputs if info.role != "model"}
        self._parameters = {info.name: info for info in self.session.states if info.role == "model"}
        self._steps = 0

    @property
    def parameters(self):
        """Names of the parameters and other tensors of the model that steps change."""
        return list(self._parameters)

    def step(self, batch: Mapping[str, object]) -> Step:
        """Trains on one batch: arrays by the names of the model's inputs, and `labels` where the loss has them."""
        told = self.session.run(batch, self._roles.values())
        values = {role: float(told[name]) for role, name in self._roles.items()}
        number, self._steps = self._steps, self._steps + 1
        return Step(number, values["loss"], values.get("grad_norm"), values.get("learning_rate"), bool(values.get("skipped", 0)))

    def fit(self, data: Iterable[Mapping[str, object]], callback: Optional[Callable[[Step], object]] = None) -> Optional[Step]:
        """A step for each batch of `data`, such as a DataLoader of dicts; `callback` gets each step. Returns the last one."""
        last = None
        for batch in data:
            last = self.step(batch)
            if callback:
                callback(last)
        return last

    def __getitem__(self, name: str) -> np.ndarray:
        """A copy of a parameter."""
        return self.session.read_state(name, "model")

    def __setitem__(self, name: str, value) -> None:
        self.session.write_state(name, value, "model")

    def save(self, path) -> None:
        """Writes the parameters as safetensors, as the executable's --final does."""
        save_file = _safetensors("save_file")
        save_file({name: self[name] for name in self._parameters}, os.fspath(path))

    def load(self, path) -> None:
        """Reads the parameters of such a file; one that is missing there, or that the program does not train, is an error."""
        tensors = _safetensors("load_file")(os.fspath(path))
        for name in self._parameters:
            if name not in tensors:
                raise AutoparError(f"{path} has no parameter {name!r}")
        for name in tensors:
            if name not in self._parameters:
                raise AutoparError(f"{path} has {name!r}, which is no parameter that this program trains")
        for name, value in tensors.items():
            self[name] = value

    def close(self) -> None:
        """Frees the program and its weights."""
        self.session.close()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _safetensors(function):
    try:
        import safetensors.numpy as numpy_files
    except ImportError:
        raise AutoparError("the package safetensors is missing: pip install safetensors") from None
    return getattr(numpy_files, function)
