"""A training, step by step, from Python."""

import math
import os
import warnings
from typing import Callable, Dict, Iterable, Mapping, NamedTuple, Optional

import numpy as np

from ._hyperparameters import Hyperparameters
from ._program import AutoparError, WorkFolder, compile, model_file
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

    `model`: a path or an onnx.ModelProto. `recipe`: a path or a dict. Further options of `autopar compile` by name, as `bind={"batch": 8}`, or as
    the strings of `options`. `weights`: with which
    parameters it begins, as the executable's --weights takes them. The program lies in a temporary folder until it is loaded.

        trainer = autopar.Trainer("model.onnx", {"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 1e-3}}, ranks=2)
        for batch in loader:
            print(trainer.step({"x": batch["x"], "labels": batch["y"]}).loss)
        trainer.save("trained.safetensors")

    `evaluate=True` compiles the model for inference, too, of the same size: `trainer.evaluate(feeds)` computes with the parameters as they are.
    """

    def __init__(self, model, recipe, *, ranks: int = 1, evaluate: bool = False, options: Iterable[str] = (), threads: int = 0, weights=None,
                 **named):
        folder = WorkFolder()
        program = compile(model_file(model, folder), folder.file("program"), ranks=ranks, train=recipe, evaluate=evaluate, options=options, **named)
        #: The session underneath.
        self.session = Session(program.path, threads=threads, weights=weights)
        folder.remove()  # all was read, and a process that is killed removes nothing
        #: What the recipe names `at_run_time`: a mapping whose values can be assigned.
        self.hyperparameters = Hyperparameters(self.session)
        self._roles = {info.role: info.name for info in self.session.outputs if info.role != "model"}
        self._parameters = {info.name: info for info in self.session.states if info.role == "model"}
        self._averages = [info.name for info in self.session.states if info.role == "average"]
        self._steps = 0

    @property
    def parameters(self):
        """Names of the parameters and other tensors of the model that steps change."""
        return list(self._parameters)

    def step(self, batch: Mapping[str, object]) -> Step:
        """Trains on one batch: arrays by the names of the model's inputs, and `labels` where the loss has them."""
        told = self.session.run(batch, self._roles.values(), entry=self.session.entries[0].name)
        values = {role: float(told[name]) for role, name in self._roles.items()}
        number, self._steps = self._steps, self._steps + 1
        if not math.isfinite(values["loss"]) and not values.get("skipped"):
            warnings.warn(f"the loss of step {number} is {values['loss']}", stacklevel=2)
        return Step(number, values["loss"], values.get("grad_norm"), values.get("learning_rate"), bool(values.get("skipped", 0)))

    def evaluate(self, feeds: Mapping[str, object]) -> Dict[str, np.ndarray]:
        """The model's outputs in inference, with the parameters and running statistics as the last step left them: dropout is off."""
        if len(self.session.entries) == 1:
            raise AutoparError("the trainer was made without evaluate=True: it trains alone")
        return self.session.run(feeds, entry=self.session.entries[1].name)

    def set(self, name: str, value) -> None:
        """Sets a hyperparameter that the recipe names `at_run_time` for the steps that follow, without compiling: `set("lr", 1e-4)`."""
        self.hyperparameters[name] = value

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
        """Writes the parameters as safetensors, as the executable's --final does: with an `average` in the recipe the averaged ones, too, into a file with
        `.average` before its extension. What is not finite goes to PATH.not-finite, which is an error, and PATH stays as it was."""
        save_file, path = _safetensors("save_file"), os.fspath(path)
        tensors = {name: self[name] for name in self._parameters}
        wrong = [name for name, value in tensors.items() if np.isnan(value).any() or np.isposinf(value).any()]
        save_file(tensors, path + ".not-finite" if wrong else path)
        if wrong:
            raise AutoparError(f"parameter {wrong[0]!r} is not finite: the parameters are in {path}.not-finite, and {path} stays as it was")
        if self._averages:
            root, extension = os.path.splitext(path)
            save_file({name: self.average(name) if name in self._averages else value for name, value in tensors.items()}, f"{root}.average{extension}")

    def average(self, name: str) -> np.ndarray:
        """A copy of the exponential average of a parameter, where the recipe has an `average`."""
        return self.session.read_state(name, "average")

    def load(self, path) -> None:
        """Reads the parameters of such a file; one that is missing there, or that the program does not train, is an error."""
        read = _safetensors("load_file")
        try:
            tensors = read(os.fspath(path))
        except Exception as error:
            raise AutoparError(f"{path} cannot be read as safetensors: {error}") from error
        for name in self._parameters:
            if name not in tensors:
                raise AutoparError(f"{path} has no parameter {name!r}")
        for name in tensors:
            if name not in self._parameters:
                raise AutoparError(f"{path} has {name!r}, which is no parameter that this program trains")
        for name, value in tensors.items():
            self[name] = value

    def save_checkpoint(self, folder, *, keep: Optional[int] = None) -> None:
        """Saves all states after the steps that were taken into a folder of checkpoints, as the executable's --checkpoint does; of older ones the newest `keep` stay."""
        self.session.save(folder, self._steps, keep=keep)

    def resume(self, path, *, ignoring: Iterable[str] = ()) -> int:
        """Goes on from a checkpoint, or the newest whole one of a folder, that the executable or a Trainer wrote, with any plan. Returns how many steps it has, of which
        the data are to be left out: `itertools.islice(loader, trainer.resume("run"), None)`. States of the roles `ignoring`, as `["optimizer"]` of a recipe with another
        one, stay as they are: as they begin in a new Trainer."""
        self._steps = self.session.resume(path, ignoring=ignoring)
        return self._steps

    def close(self) -> None:
        """Frees the program and its weights."""
        self.session.close()

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
