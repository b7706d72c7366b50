"""A Trainer writes for TensorBoard, and keeps the place of its iterable: packages that stand in for real ones, and those that are installed.

    python test/Execution/run_trainer_data.py TOOL FOLDER

Of an iterable with a `state_dict`, as torchdata's StatefulDataLoader, a training that goes on in the middle of an epoch sees each batch once, and ends as a whole one does. The last
line counts.
"""

import json
import os
import subprocess
import sys
import warnings

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from autopar import _place  # noqa: E402
from expected import expect_error  # noqa: E402
from run_checkpoints import perceptron  # noqa: E402
from training_runs import Checks, arguments_of_cases, report  # noqa: E402

SUMMARY = """
class Writer:
    def __init__(self, folder):
        self.file = open(folder + ".txt", "w")
    def add_scalar(self, tag, value, step):
        print(tag, value, step, file=self.file)
    def flush(self):
        self.file.flush()
    def close(self):
        self.file.close()
"""


class Batches:
    """Epochs of batches in an order of their own, whose place is a dict of many kinds of values."""

    def __init__(self, path, seed=3):
        with np.load(path) as arrays:
            self.arrays = dict(arrays)
        self.draw, self.order, self.next, self.seen = np.random.Generator(np.random.PCG64(seed)), None, 0, []

    def __iter__(self):
        count = len(self.arrays["x"])
        if self.order is None:
            self.order, self.next = self.draw.permutation(count), 0
        while self.next < count:
            number = int(self.order[self.next])
            self.next += 1
            self.seen.append(number)
            yield {name: array[number] for name, array in self.arrays.items()}
        self.order = None

    def state_dict(self):
        return {"generator": self.draw.bit_generator.state, "order": self.order, "place": (self.next, None), 1: b"\0\xff", "rate": float("inf"), "scalar": np.int64(7)}

    def load_state_dict(self, state):
        assert state[1] == b"\0\xff" and state["rate"] == float("inf") and state["scalar"] == 7 and type(state["place"]) is tuple, state
        self.draw.bit_generator.state, self.order, self.next = state["generator"], state["order"], state["place"][0]


class Stop(Exception):
    pass


def stop_after(trainer, folder, count):
    def callback(step):
        if step.number + 1 == count:
            trainer.save_checkpoint(folder)
            raise Stop
    return callback


def check_place(tool, work):
    training = perceptron(tool, work)
    folder, whole, first, rest = training.path("checkpoints"), Batches(training.data), Batches(training.data), Batches(training.data, seed=99)
    with autopar.Trainer(training.model, training.recipe, ranks=2) as trainer:
        trainer.fit(whole)
        trainer.fit(whole)  # another order
        expected = {name: trainer[name] for name in trainer.parameters}
    with autopar.Trainer(training.model, training.recipe) as trainer:
        try:
            trainer.fit(first, stop_after(trainer, folder, 31))
            trainer.fit(first, stop_after(trainer, folder, 31))
            raise AssertionError("it did not stop")
        except Stop:
            pass
    with autopar.Trainer(training.model, training.recipe, ranks=2) as trainer:
        assert trainer.resume(folder) == 31
        trainer.save_checkpoint(training.path("copy"))  # before an iterable has its place
        trainer.fit(rest)
        for name in expected:
            np.testing.assert_allclose(trainer[name], expected[name], rtol=1e-5, atol=1e-6)
    assert len(whole.seen) == 48 and first.seen + rest.seen == whole.seen, (whole.seen, first.seen, rest.seen)
    listed = subprocess.run([tool, "checkpoint", "inspect", folder], capture_output=True, text=True, timeout=60).stdout
    assert "data        the Trainer's iterable, " in listed, listed
    own = Batches(training.data, seed=4)
    with autopar.Trainer(training.model, training.recipe) as trainer:  # a loop of one's own
        assert trainer.resume(training.path("copy"), data=own) == 31
        for batch in own:
            step = trainer.step(batch)
        assert own.seen == rest.seen and step.number == 47, own.seen
        trainer.save_checkpoint(training.path("own"), data=own)
        with open(os.path.join(training.path("own"), "step-00000048", "manifest.json")) as file:
            assert '["order", null]' in json.load(file)["iterable"]


def warned(body):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        body()
    return [str(one.message) for one in caught]


def check_warnings(tool, work):
    training = perceptron(tool, work)
    with_place, without, batches = training.path("with"), training.path("without"), Batches(training.data)
    with autopar.Trainer(training.model, training.recipe) as trainer:
        batch = next(iter(batches))
        trainer.step(batch)
        trainer.save_checkpoint(without)
        trainer.save_checkpoint(with_place, data=batches)
        assert not warned(lambda: trainer.fit([batch]))
        trainer.resume(with_place)
        assert "have no load_state_dict: they begin at their first batch" in warned(lambda: trainer.fit([batch]))[0]
        assert not warned(lambda: trainer.fit([batch]))
        trainer.resume(with_place)
        assert "resume(path, data=...) gives it" in warned(lambda: trainer.step(batch))[0]
        assert not warned(lambda: trainer.resume(with_place, ignoring="data") and trainer.fit([batch]))
        assert "does not have the place of the data" in warned(lambda: trainer.resume(without, data=batches))[0]
        trainer.resume(without)
        assert not warned(lambda: trainer.fit([batch]))
        told = warned(lambda: [trainer.save_checkpoint(training.path("list"), data=[batch]), trainer.step(batch), trainer.save_checkpoint(training.path("list"), data=[batch])])
        assert len(told) == 1 and "the data have no state_dict" in told[0] and "as many batches as resume returns" in told[0], told
        told = warned(lambda: trainer.resume(training.path("list"), data=[batch]))
        assert len(told) == 1 and "neither the checkpoint nor these data" in told[0] and "itertools.islice" in told[0], told
        assert not warned(lambda: trainer.resume(training.path("list"), data=[batch], ignoring="data"))
        expect_error(lambda: trainer.save_checkpoint(without, data=Unknown()), "state_dict()['worker'][1] is a object, which a checkpoint cannot keep")
        expect_error(lambda: _place.restore(batches, '{"$array": ["|O", [1], ""]}'), "the place of the data in the checkpoint cannot be read")
        expect_error(lambda: _place.restore(batches, "[1"), "cannot be read")


def check_errors(tool, work):
    """What is given wrongly is told with what to give instead, and changes nothing."""
    training, folder = perceptron(tool, work), os.path.join(work, "run")
    with np.load(training.data) as arrays, autopar.Trainer(training.model, training.recipe) as trainer:
        batch = {name: array[0] for name, array in arrays.items()}
        trainer.step(batch)
        trainer.save_checkpoint(folder)
        before = {name: trainer[name] for name in trainer.parameters}
        expect_error(lambda: trainer.load(folder), f"{folder!r} is a folder of checkpoints: trainer.resume(", f"autopar checkpoint export {folder} -o weights.safetensors")
        expect_error(lambda: trainer.load(os.path.join(folder, "step-00000001")), "step-00000001' is a checkpoint: trainer.resume(")
        expect_error(lambda: trainer.load(work), "is a folder: give the file of safetensors that save wrote")
        expect_error(lambda: trainer.load(None), "path is None, but must be a path")
        expect_error(lambda: trainer.save_checkpoint(folder, keep="3"), "keep is '3', but must be a whole number")
        expect_error(lambda: trainer.save_checkpoint(None), "folder is None, but must be a path")
        expect_error(lambda: trainer.resume(None), "path is None, but must be a path")
        expect_error(lambda: trainer.fit(None), "fit of a NoneType: give a list or another iterable of batches")
        expect_error(lambda: trainer.fit(batch), "fit of one batch: give a list of batches, [batch]")
        expect_error(lambda: trainer.export_onnx(training.path("model.txt")), "model.txt' must end in .onnx")
        assert not os.path.exists(training.path("model.txt")) and all(np.array_equal(trainer[name], before[name]) for name in before)


class Unknown:
    def state_dict(self):
        return {"worker": [1, object()]}


def check_stand_in(tool, work):
    """The first of the packages that is there writes; without any the error says what to install."""
    training = perceptron(tool, work, evaluation={"metrics": ["loss", "accuracy"]})
    with np.load(training.data) as arrays:
        batches = [{name: array[step] for name, array in arrays.items()} for step in range(3)]
    code = f"""
import sys
for name in ("tensorboard", "tensorboardX", "torch"):
    sys.modules[name] = None
sys.path[:0] = [{os.path.join(ROOT, "python")!r}]
import autopar
try:
    autopar.Trainer({training.model!r}, {training.recipe!r}, tensorboard={training.path("none")!r})
except autopar.AutoparError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "pip install tensorboard" in done.stdout and not os.path.exists(training.path("none")), done.stdout + done.stderr
    packages = training.path("packages")
    os.makedirs(os.path.join(packages, "tensorboard"))
    for name, text in (("__init__", ""), ("summary", SUMMARY)):
        with open(os.path.join(packages, "tensorboard", name + ".py"), "w") as file:
            file.write(text)
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "tensorboard"}
    sys.path.insert(0, packages)
    try:
        with autopar.Trainer(training.model, training.recipe, tensorboard=training.path("board")) as trainer:
            losses = [trainer.step(batch).loss for batch in batches]
            metrics = trainer.metrics(batches)
    finally:
        sys.path.remove(packages)
        for name in ("tensorboard.summary", "tensorboard"):
            del sys.modules[name]
        sys.modules.update(before)
    with open(training.path("board.txt")) as file:
        told = [line.split() for line in file]
    assert [float(value) for tag, value, _ in told if tag == "train/loss"] == losses, told
    assert [step for tag, _, step in told if tag == "train/learning_rate"] == ["0", "1", "2"], told
    assert {tag: (float(value), step) for tag, value, step in told if tag.startswith("evaluation/")} == {f"evaluation/{name}": (value, "3") for name, value in metrics.items()}, told


def check_real(tool, work):
    """The installed tensorboard reads the files that it wrote."""
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError:
        print("tensorboard is not installed: its own files are not read")
        return
    training = perceptron(tool, work)
    with np.load(training.data) as arrays, autopar.Trainer(training.model, training.recipe, tensorboard=training.path("board")) as trainer:
        losses = [trainer.step({name: array[step] for name, array in arrays.items()}).loss for step in range(3)]
    events = EventAccumulator(training.path("board"))
    events.Reload()
    tags = events.Tags()
    assert {"train/loss", "train/grad_norm", "train/learning_rate"} <= set(tags["scalars"] + tags["tensors"]), tags
    if "train/loss" in tags["scalars"]:
        read = [event.value for event in events.Scalars("train/loss")]
    else:
        from tensorboard.util.tensor_util import make_ndarray
        read = [float(make_ndarray(event.tensor_proto)) for event in events.Tensors("train/loss")]
    np.testing.assert_allclose(read, losses, rtol=1e-6)


def main():
    options = arguments_of_cases(__doc__).parse_args()
    checks = Checks(options.folder)
    checks.add("an iterable's place", lambda work: check_place(options.tool, work))
    checks.add("places that do not fit", lambda work: check_warnings(options.tool, work))
    checks.add("errors", lambda work: check_errors(options.tool, work))
    checks.add("a stand-in for tensorboard", lambda work: check_stand_in(options.tool, work))
    checks.add("tensorboard itself", lambda work: check_real(options.tool, work))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
