"""What the scripts that make models themselves share: compiling one, running the program, and what onnxruntime computes."""

import os
import subprocess

import onnxruntime


def error_of(*command, timeout=300):
    """The error that the command ended with, or None."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    return (done.stderr.strip()[-400:] or f"{os.path.basename(command[0])} ended with {done.returncode}") if done.returncode else None


def shared_names():
    """The names of autopar's shared memory in this host. Other programs that run at the same time have names of their own."""
    return {name for name in os.listdir("/dev/shm") if name.startswith("autopar")}


def said_of_run(text):
    """Of what a program said what is not of this host's cores, which ranks may have to share."""
    return "".join(line for line in text.splitlines(keepends=True) if "share this host" not in line)


def compile_and_run(tool, folder, *options, run=(), timeout=120):
    """Compiles the folder's model.onnx and runs it, with the options `run`, on inputs.npz to out.npz; the error that one ended with, or None."""
    path = {name: os.path.join(folder, name) for name in ("model.onnx", "program", "inputs.npz", "out.npz")}
    for command in ([tool, "compile", path["model.onnx"], "-o", path["program"], *options],
                    [path["program"], "--inputs", path["inputs.npz"], "--outputs", path["out.npz"], *run]):
        if error := error_of(*command, timeout=timeout):
            return error
    return None


def reference(folder, inputs):
    """The outputs of the folder's model.onnx, by name."""
    session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))
