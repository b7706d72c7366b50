"""Runs the `autopar` tool and the executables it makes."""

import json
import os
import shutil
import subprocess
import tempfile

import numpy as np


class AutoparError(RuntimeError):
    """A command of autopar failed; the message is what it printed on stderr."""


def find_tool(name="autopar"):
    """Path of a tool: $AUTOPAR_BIN, the build folder beside this package, or PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.environ.get("AUTOPAR_BIN"), os.path.join(here, "..", "..", "build", "bin")):
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.abspath(os.path.join(folder, name))
    found = shutil.which(name)
    if not found:
        raise AutoparError(f"cannot find {name}: build it (tools/quickstart.sh) or set AUTOPAR_BIN")
    return found


def _call(command, timeout):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        raise AutoparError(f"{os.path.basename(command[0])} ended with {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout


def model_file(model, folder):
    """The path of a model that may be an onnx.ModelProto or its bytes, which are then written into the folder."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    data = model if isinstance(model, bytes) else model.SerializeToString()
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(data)
    return path


def compile(model, output, *, ranks=None, strategy="auto", options=(), timeout=600):
    """Compiles an ONNX file to the executable `output` and returns it as a Program.

    `options` are further flags of `autopar compile`, as strings. Without `ranks` there is one, or as many as a `--plan` among them has.
    """
    command = [find_tool(), "compile", str(model), "-o", str(output)]
    command += ["--ranks", str(ranks)] if ranks is not None else []
    command += ["--strategy", strategy] if strategy != "auto" else []
    log = _call(command + [str(option) for option in options], timeout)
    return Program(output, log)


class Program:
    """An executable made by autopar; `log` is what the compiler printed (the plan's table)."""

    def __init__(self, path, log=""):
        self.path, self.log = os.path.abspath(path), log

    def run(self, inputs, *, options=(), outputs=True, timeout=600):
        """Runs with a dict of arrays by input name; returns (outputs by name, report). `outputs=False`: none are written."""
        with tempfile.TemporaryDirectory() as folder:
            files = {key: os.path.join(folder, key) for key in ("in.npz", "out.npz", "report.json")}
            np.savez(files["in.npz"], **inputs)
            command = [self.path, "--inputs", files["in.npz"], "--json", files["report.json"]]
            if outputs:
                command += ["--outputs", files["out.npz"]]
            _call(command + [str(option) for option in options], timeout)
            results = {}
            if outputs:
                with np.load(files["out.npz"]) as arrays:
                    results = {name: arrays[name] for name in arrays.files}
            with open(files["report.json"]) as report:
                return results, json.load(report)
