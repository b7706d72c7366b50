"""Runs the `autopar` tool and the executables it makes."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

_NODE = re.compile(r"error: node '([^']*)'")


class AutoparError(RuntimeError):
    """What autopar could not do, as its command or library says it.

    `node`: the model's node that the message is about, by name, or None; `file`: the model or program, where one was given.
    """

    node: Optional[str] = None
    file: Optional[str] = None


def find_tool(name: str = "autopar") -> str:
    """Path of a tool: $AUTOPAR_BIN, the build folder beside this package, or PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.environ.get("AUTOPAR_BIN"), os.path.join(here, "..", "..", "build", "bin")):
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.abspath(os.path.join(folder, name))
    found = shutil.which(name)
    if not found:
        raise AutoparError(f"cannot find {name}: build it (tools/quickstart.sh) or set AUTOPAR_BIN")
    return found


def _remove(path, owner):
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


class WorkFolder:
    """A folder for programs that go away with their sessions: removed with this object, or when the process that made it ends, but not by its forks."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="autopar-")
        self._finalizer = weakref.finalize(self, _remove, self.path, os.getpid())

    def file(self, name: str) -> str:
        """Path of a file in it."""
        return os.path.join(self.path, name)

    def remove(self) -> None:
        """Removes it now. Again is fine."""
        self._finalizer()


def call(command: List[str], timeout: float, file=None) -> str:
    """What the command prints; `file`: what it is about."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        error = AutoparError(f"{os.path.basename(command[0])} ended with {done.returncode}:\n{done.stderr.strip()}")
        found = _NODE.search(done.stderr)
        error.node, error.file = found.group(1) if found else None, None if file is None else os.fspath(file)
        raise error
    return done.stdout


def flags(named: Mapping[str, object]) -> List[str]:
    """Options of a command by name: `micro_batches=4` is --micro-batches 4, True the option alone, None and False nothing, a list the option
    again and again, a dict KEY=VALUE again and again; of `ranks`, `strategy` and `mesh`, and of each element of `entry`, one text with commas."""
    words = []
    for name, value in named.items():
        option = "--" + name.replace("_", "-")
        if name == "entry" and isinstance(value, (list, tuple)):
            value = [",".join(_pairs(item)) if isinstance(item, Mapping) else item for item in value]
        if isinstance(value, Mapping):
            value = _pairs(value)
        if name in ("ranks", "strategy", "mesh") and isinstance(value, (list, tuple)):
            value = ",".join(map(_text, value))
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            for item in value if isinstance(value, (list, tuple)) else [value]:
                words += [option, _text(item)]
    return words


def _pairs(sizes):
    return [f"{key}={_text(item)}" for key, item in sizes.items()]


def _text(value):
    """As --bind writes a value."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return json.dumps(np.asarray(value).tolist(), separators=(",", ":"))
    return str(value)


def model_file(model, folder: WorkFolder) -> str:
    """The path of a model that may be an onnx.ModelProto or its bytes, which are then written into the folder."""
    return os.fspath(model) if isinstance(model, (str, os.PathLike)) else write_model(model, folder.file("model.onnx"))


def compile(model, output, *, ranks: Union[int, Sequence[int], None] = None, strategy: str = "auto", options: Iterable[str] = (), timeout: float = 600,
            **named) -> "Program":
    """Compiles a model to the executable `output` and returns it as a Program.

    `model`: the path of an ONNX file, an onnx.ModelProto or its bytes; those are kept as OUTPUT.onnx, for the executable reads weights there.
    Without `ranks` there is one, or as many as a `plan` has; a program of several numbers, `ranks=[1, 2, 4]`, runs with each of them
    (`load(output, ranks=2)`). Further options of `autopar compile` by name, such as `bind={"batch": 8}`, `micro_batches=4`,
    `objective="throughput"`, `entry=["batch=1", "batch=8"]`, `plan=plan`, `train=recipe` (a path or a dict),
    `evaluate=True`; or as the strings of `options`.
    """
    if not isinstance(model, (str, os.PathLike)):
        model = write_model(model, os.fspath(output) + ".onnx")
    folder = WorkFolder()
    named = with_files(named, folder)
    command = [find_tool(), "compile", os.fspath(model), "-o", os.fspath(output)]
    command += flags({"ranks": ranks, "strategy": None if strategy == "auto" else strategy, **named})
    with naming_arguments(named):
        log = call(command + [str(option) for option in options], timeout, model)
    return Program(output, log)


@contextlib.contextmanager
def naming_arguments(named: Mapping[str, object]):
    """Says of an option that the command does not know which argument of the caller it was."""
    try:
        yield
    except AutoparError as error:
        for name in named:
            if f"unknown option '--{name.replace('_', '-')}'" in str(error):
                value = named[name]
                size = f". If the model leaves a size {name!r} open, give bind={{{name!r}: {value}}}" if type(value) is int else ""
                error.args = (f"{name}= is no argument here. Arguments are the options that --help of the command lists, with _ in place of -{size}\n{error}",)
        raise


def with_files(named: Mapping[str, object], folder: WorkFolder) -> dict:
    """The options, of which those that are files may be given as what is in them: a recipe, constraints."""
    contents = {name: value for name, value in named.items() if name in ("train", "constraints") and not isinstance(value, (str, os.PathLike, type(None)))}
    return {**named, **{name: write_json(value, folder.file(name + ".json")) for name, value in contents.items()}}


def write_model(model, path: str) -> str:
    """Writes an onnx.ModelProto or its bytes; returns the path."""
    if not isinstance(model, bytes) and not hasattr(model, "SerializeToString"):
        raise AutoparError(f"the model is a {type(model).__name__}: give the path of an ONNX file, an onnx.ModelProto or its bytes")
    with open(path, "wb") as file:
        file.write(model if isinstance(model, bytes) else model.SerializeToString())
    return path


def write_json(value, path: str) -> str:
    """Writes a dict, whose numbers may be NumPy's; returns the path."""
    with open(path, "w") as file:
        json.dump(value, file, default=lambda item: item.tolist())
    return path


class Program:
    """An executable made by autopar; `log` is what the compiler printed (the plan's table)."""

    def __init__(self, path, log: str = ""):
        self.path, self.log = os.path.abspath(path), log

    def run(self, inputs: Mapping[str, np.ndarray], *, options: Iterable[str] = (), outputs: bool = True,
            timeout: float = 600) -> Tuple[Dict[str, np.ndarray], dict]:
        """Runs with a dict of arrays by input name; returns (outputs by name, report). `outputs=False`: none are written."""
        with tempfile.TemporaryDirectory() as folder:
            files = {key: os.path.join(folder, key) for key in ("in.npz", "out.npz", "report.json")}
            np.savez(files["in.npz"], **inputs)
            command = [self.path, "--inputs", files["in.npz"], "--json", files["report.json"]]
            if outputs:
                command += ["--outputs", files["out.npz"]]
            call(command + [str(option) for option in options], timeout)
            results = {}
            if outputs:
                with np.load(files["out.npz"]) as arrays:
                    results = {name: arrays[name] for name in arrays.files}
            with open(files["report.json"]) as report:
                return results, json.load(report)
