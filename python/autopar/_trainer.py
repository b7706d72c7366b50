"""A training, step by step, from Python."""

import math
import os
import time
import warnings
from typing import Callable, Dict, Iterable, Mapping, NamedTuple, Optional

import numpy as np

from . import _check
from ._calls import NO_CALLS
from ._hyperparameters import Hyperparameters
from ._place import place_of, restore, takes_place
from ._program import AutoparError, WorkFolder, call, compile, find_tool, model_file
from ._session import Session
from ._tensorboard import Board
from ._tensors import COUNTED_ROWS


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

    `tensorboard`: a folder, into which each step writes its loss, norm and rate, and `metrics` what it comes to, for TensorBoard; one of the packages tensorboard,
    tensorboardX and torch.utils.tensorboard does it.
    """

    def __init__(self, model, recipe, *, ranks: int = 1, evaluate: bool = False, options: Iterable[str] = (), threads: int = 0, weights=None,
                 tensorboard=None, **named):
        if not isinstance(recipe, (str, os.PathLike, Mapping)):
            raise AutoparError(f"the recipe is a {type(recipe).__name__}: give the path of a JSON file, or a dict")
        self._board = Board(tensorboard)
        folder = WorkFolder()
        self._model = os.path.abspath(model) if isinstance(model, (str, os.PathLike)) else None
        program = compile(model_file(model, folder), folder.file("program"), ranks=ranks, train=recipe, evaluate=evaluate, options=options, **named)
        #: The session underneath.
        self.session = Session(program.path, threads=threads, weights=weights)
        folder.remove()  # all was read, and a process that is killed removes nothing
        #: What the recipe names `at_run_time`: a mapping whose values can be assigned.
        self.hyperparameters = Hyperparameters(self.session)
        self._roles = {info.role: info.name for info in self.session.outputs if info.role != "model"}
        entry = self.session.entries[0]
        wants_all = all(info.role != "model" for info in entry.outputs)
        self._usual_step = (self.session._usual_of(entry.name) if wants_all else NO_CALLS).run
        self._parameters = {info.name: info for info in self.session.states if info.role == "model"}
        self._averages = [info.name for info in self.session.states if info.role == "average"]
        self._steps = 0
        #: The iterable that steps read; and what the checkpoint says of its place from which the trainer went on, until an iterable has taken it ("": nothing; None: no
        #: iterable is to take it).
        self._data, self._place = None, None
        self._told_of_no_place = False

    @property
    def parameters(self):
        """Names of the parameters and other tensors of the model that steps change."""
        return list(self._parameters)

    def step(self, batch: Mapping[str, object]) -> Step:
        """Trains on one batch: arrays by the names of the model's inputs, and `labels` where the loss has them."""
        if self._place:
            warnings.warn("the checkpoint has the place of the data, which none were given: resume(path, data=...) gives it to those that have a load_state_dict", stacklevel=2)
        self._data, self._place = None, None
        return self._take(batch)

    def _take(self, batch):
        begin = time.monotonic()
        told = self._usual_step(batch)
        if told is None:
            told = self._unusual_step(batch)
        values = {role: float(told[name]) for role, name in self._roles.items()}
        number, self._steps = self._steps, self._steps + 1
        if not math.isfinite(values["loss"]) and not values.get("skipped"):
            warnings.warn(f"the loss of step {number} is {values['loss']}", stacklevel=3)
        self._board.add_step(number, values, time.monotonic() - begin)
        return Step(number, values["loss"], values.get("grad_norm"), values.get("learning_rate"), bool(values.get("skipped", 0)))

    def _unusual_step(self, batch):
        """The outputs of a step whose batch may have fewer rows, or arrays of other kinds."""
        entry = self.session.entries[0]
        return self.session.run(_padded(batch, entry)[0], self._roles.values(), entry=entry.name)

    def evaluate(self, feeds: Mapping[str, object]) -> Dict[str, np.ndarray]:
        """The model's outputs in inference, with the parameters and running statistics as the last step left them: dropout is off. With an `evaluation` in the recipe,
        whose metrics read labels, `feeds` need the labels, too; zeros do, where the model does not read them."""
        if len(self.session.entries) == 1:
            raise AutoparError("the trainer was made without evaluate=True: it trains alone")
        entry = self.session.entries[1]
        self._check_evaluated(feeds, entry)
        feeds, rows = _padded(feeds, entry)
        outputs = self.session.run(feeds, [info.name for info in entry.outputs if info.role == "model"], entry=entry.name)
        return {name: array[:rows] if array.shape[:1] == (_rows(entry),) else array for name, array in outputs.items()}

    def _check_evaluated(self, feeds, entry):
        """An error where `feeds` lack an input of an evaluation with metrics: it may be the labels."""
        missing = [info for info in entry.inputs if isinstance(feeds, Mapping) and info.role != COUNTED_ROWS and info.name not in feeds]
        if missing and self.session.metric_names(entry=entry.name):
            raise AutoparError(f"input {missing[0].name!r} is missing: it is {missing[0]}. The recipe's 'evaluation' has metrics, so that an evaluation takes the labels, too. "
                               "If you want outputs alone, give zeros for the labels (numpy.zeros(shape, dtype)), which change no output unless the model itself reads them")

    def metrics(self, batches: Iterable[Mapping[str, object]]) -> Dict[str, float]:
        """The metrics of the recipe's `evaluation` over all rows of the batches, which have labels, with the parameters as they are: `{"loss": 0.31, "accuracy": 0.9}`.
        A batch may have fewer rows than the program's."""
        entry = self.session.entries[-1]
        names = self.session.metric_names(entry=entry.name)
        if not names:
            raise AutoparError("the recipe has no 'evaluation', which names metrics: {\"evaluation\": {\"metrics\": [\"loss\"]}}")
        wanted = [info.name for info in entry.outputs if info.role == "metric"]
        _check.batches("metrics", batches)
        self.session.begin_metrics(entry=entry.name)
        count = 0
        for batch in batches:
            feeds, rows = _padded(batch, entry)
            self.session.add_metrics(self.session.run(feeds, wanted, entry=entry.name), rows, entry=entry.name)
            count += 1
        if not count:
            raise AutoparError("metrics of no batch: there is nothing to evaluate")
        values = self.session.metric_values(entry=entry.name)
        self._board.add_metrics(self._steps, values)
        return values

    def set(self, name: str, value) -> None:
        """Sets a hyperparameter that the recipe names `at_run_time` for the steps that follow, without compiling: `set("lr", 1e-4)`."""
        self.hyperparameters[name] = value

    def fit(self, data: Iterable[Mapping[str, object]], callback: Optional[Callable[[Step], object]] = None) -> Optional[Step]:
        """A step for each batch of `data`, such as a DataLoader of dicts; `callback` gets each step. Returns the last one.

        Data that tell their place by `state_dict`, such as torchdata's StatefulDataLoader, have it in checkpoints (`save_checkpoint`); after `resume` they go on from
        there by `load_state_dict`."""
        _check.batches("fit", data)
        self._restore(data)
        last = None
        for batch in data:
            self._data = data
            last = self._take(batch)
            if callback:
                callback(last)
        return last

    def _restore(self, data, *, needs_place=False):
        """Gives the data the place that the checkpoint has, once. `needs_place`: the caller gave the data in order to have that done."""
        place, self._place = self._place, None
        told = None
        if place and takes_place(data):
            restore(data, place)
            self._data = data
        elif place:
            told = "the checkpoint has the place of the data, which these cannot take, for they have no load_state_dict"
        elif place == "" and takes_place(data):
            told = "the checkpoint does not have the place of the data"
        elif place == "" and needs_place:
            told = "neither the checkpoint nor these data, which have no load_state_dict, have a place"
        if told:
            warnings.warn(told + ": they begin at their first batch. Leave out as many batches as resume returns: itertools.islice(data, trainer.resume(path), None)", stacklevel=3)

    def __getitem__(self, name: str) -> np.ndarray:
        """A copy of a parameter."""
        return self.session.read_state(name, "model")

    def __setitem__(self, name: str, value) -> None:
        self.session.write_state(name, value, "model")

    def save(self, path) -> None:
        """Writes the parameters as safetensors, as the executable's --final does: with an `average` in the recipe the averaged ones, too, into a file with
        `.average` before its extension. What is not finite goes to PATH.not-finite, which is an error, and PATH stays as it was."""
        save_file, path = _safetensors("save_file"), os.fspath(path)
        tensors, wrong = self._tensors()
        save_file(tensors, path + ".not-finite" if wrong else path)
        if wrong:
            raise AutoparError(f"parameter {wrong[0]!r} is not finite: the parameters are in {path}.not-finite, and {path} stays as it was")
        if self._averages:
            root, extension = os.path.splitext(path)
            save_file(self._averaged(tensors), f"{root}.average{extension}")

    def export_onnx(self, path, model=None, *, averages: bool = False) -> None:
        """Writes a copy of the model for inference with the parameters as they are, or with their averages, as `autopar checkpoint export --model` does
        (docs/Checkpoints.md). `model`: the model that is trained, where the trainer was not made of a path or the file has moved."""
        if not _check.path("path", path).endswith(b".onnx"):
            raise AutoparError(f"export_onnx writes an ONNX model: {os.fspath(path)!r} must end in .onnx")
        source = self._model if model is None else model
        if source is None:
            raise AutoparError("the trainer was made of a model in memory, which it does not keep: give it as model=")
        if averages and not self._averages:
            raise AutoparError("averages=True: the recipe has no 'average'")
        tensors, wrong = self._tensors()
        if wrong:
            raise AutoparError(f"parameter {wrong[0]!r} is not finite: nothing is exported")
        folder = WorkFolder()
        try:
            weights = folder.file("trained.safetensors")
            _safetensors("save_file")(self._averaged(tensors) if averages else tensors, weights)
            call([find_tool(), "checkpoint", "export", weights, "-o", os.fspath(path), "--model", model_file(source, folder)], timeout=3600, file=path)
        finally:
            folder.remove()

    def _tensors(self):
        """The parameters, and names of those that are not finite."""
        tensors = {name: self[name] for name in self._parameters}
        return tensors, [name for name, value in tensors.items() if np.isnan(value).any() or np.isposinf(value).any()]

    def _averaged(self, tensors):
        return {name: self.average(name) if name in self._averages else value for name, value in tensors.items()}

    def average(self, name: str) -> np.ndarray:
        """A copy of the exponential average of a parameter, where the recipe has an `average`."""
        return self.session.read_state(name, "average")

    def load(self, path) -> None:
        """Reads the parameters of a file that `save` wrote; one that is missing there, or that the program does not train, is an error."""
        _refuse_folder(path)
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

    def save_checkpoint(self, folder, *, keep: Optional[int] = None, data=None) -> None:
        """Saves all states after the steps that were taken into a folder of checkpoints, as the executable's --checkpoint does; of older ones the newest `keep` stay.
        `data`: the iterable that a loop of one's own reads, whose place is saved if it has a `state_dict`, and a warning says so if it has none; `fit` knows its own."""
        place = place_of(self._data if data is None else data)
        if data is not None and not place and not self._told_of_no_place:
            self._told_of_no_place = True
            warnings.warn("the data have no state_dict, so that checkpoints do not have their place: who goes on from one begins at the first batch. Leave out as many batches as "
                          "resume returns, or give data with state_dict and load_state_dict, such as torchdata's StatefulDataLoader", stacklevel=2)
        self.session.save(folder, self._steps, keep=keep, iterable=place or self._place or "")

    def resume(self, path, *, ignoring: Iterable[str] = (), data=None) -> int:
        """Goes on from a checkpoint, or the newest whole one of a folder, that the executable or a Trainer wrote, with any plan. Returns how many steps it has, of which
        the data are to be left out: `itertools.islice(loader, trainer.resume("run"), None)`. States of the roles `ignoring`, as `["optimizer"]` of a recipe with another
        one, stay as they are: as they begin in a new Trainer.
        Data with a `state_dict` whose place was saved go on from there by themselves: `data` of a loop of one's own at once, those of `fit` when it begins; with "data" among
        `ignoring` they begin at their first batch."""
        ignored = {ignoring} if isinstance(ignoring, str) else set(ignoring)
        self._steps = self.session.resume(path, ignoring=sorted(ignored - {"data"}))
        self._data, self._place = None, None if "data" in ignored else self.session.resumed_iterable()
        if data is not None:
            self._restore(data, needs_place=True)
        return self._steps

    def close(self) -> None:
        """Frees the program and its weights."""
        self._board.close()
        self.session.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _padded(batch, entry):
    """The batch with as many rows as the entry takes, and how many count: rows that are missing are zeros, which count for nothing."""
    if not isinstance(batch, Mapping):
        return batch, 0  # the session says what it wants
    counted = [info for info in entry.inputs if info.role == COUNTED_ROWS]
    size, rows = counted[0].shape[0] if counted else _rows(entry), {}
    for info in entry.inputs:
        shape = tuple(getattr(batch.get(info.name), "shape", ()))
        if shape and shape[0] != size == info.shape[0] and shape[1:] == info.shape[1:]:
            rows[info.name] = shape[0]
    if not rows or (counted and counted[0].name in batch):
        return batch, size
    if len(set(rows.values())) > 1:
        raise AutoparError(f"the arrays of a batch have {' and '.join(str(count) for count in sorted(set(rows.values())))} rows: all must have as many")
    count = next(iter(rows.values()))
    if not counted or not 0 < count < size:
        fewer = "" if counted else '; fewer are taken if the recipe has "last_batch": "pad", or drop the last batch'
        raise AutoparError(f"a batch has {count} rows, but the program takes {size}{fewer}")
    padded = {name: np.concatenate([np.asarray(array), np.zeros((size - count, *array.shape[1:]), np.asarray(array).dtype)]) if name in rows else array
              for name, array in batch.items()}
    padded[counted[0].name] = np.arange(size) < count
    return padded, count


def _refuse_folder(path):
    """Says of a folder in place of a file of parameters what it is, and what takes it, as --weights does."""
    if not os.path.isdir(_check.path("path", path)):
        return
    inside, folder = os.listdir(path), os.fspath(path)
    is_one, has_some = "manifest.json" in inside, any(name.startswith("step-") for name in inside)
    if not is_one and not has_some:
        raise AutoparError(f"load: {folder!r} is a folder: give the file of safetensors that save wrote")
    kind = "a checkpoint" if is_one else "a folder of checkpoints"
    raise AutoparError(f"load: {folder!r} is {kind}: trainer.resume({folder!r}) goes on with its training; `autopar checkpoint export {folder} -o weights.safetensors` writes its "
                       "parameters, which load takes")


def _rows(entry):
    """The rows of a batch that the program cannot be told to count in part."""
    return max((info.shape[0] for info in entry.inputs if info.shape), default=1)


def _safetensors(function):
    try:
        import safetensors.numpy as numpy_files
    except ImportError:
        raise AutoparError("the package safetensors is missing: pip install safetensors") from None
    return getattr(numpy_files, function)
