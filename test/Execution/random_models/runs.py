"""Compiling a model in one configuration and running it; what becomes of it."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, replace

from .types import load_arrays

STRATEGIES = ["auto", "replicated", "data", "row", "column", "tensor", "channel", "spatial"]
MESHES = {4: ["data=2,tensor=2", "row=2,column=2", "layer=2,data=2", "channel=2,spatial=2", "data=2,spatial=2", "layer=2,tensor=2"],
          3: ["layer=3", "data=3"], 2: ["layer=2", "data=2"]}
FREE = {"nodes": [{"count": 1, "type": None, "devices": None}], "links": [{"within": "node", "kind": "free"}]}
DEADLINE = 60  # seconds of a command

# What the compiler says where it cannot do what the configuration asks of this model, or where the README says that it does not.
HONEST = [
    (r"no op of this model can follow strategy", "no op can follow the strategy"),
    (r"the batch of \d+ cannot be cut into|the model cannot be cut into|has no batch|micro-batch", "no such micro-batches"),
    (r"stages", "no such stages"),
    (r"must be known while compiling|known while compiling", "a value must be known while compiling"),
]


@dataclass
class Configuration:
    ranks: int = 1
    target: str = "cpu"
    strategy: str = "auto"
    mesh: str = ""
    free: bool = False
    micro_batches: int = 0

    def __str__(self):
        return " ".join([self.target, f"x{self.ranks}", self.strategy] + ["mesh " + self.mesh] * bool(self.mesh) + ["free"] * self.free
                        + [f"{self.micro_batches} micro-batches"] * bool(self.micro_batches))

    def options(self, stem):
        words = ["--target", self.target, "--strategy", self.strategy]
        if self.free:
            device = "cpu" if self.target == "cpu" else "h100-80gb"
            cluster = {**FREE, "nodes": [{"count": 1, "type": device, "devices": self.ranks}]}
            with open(stem + ".cluster.json", "w") as file:
                json.dump(cluster, file)
            words += ["--cluster", stem + ".cluster.json"]
        else:
            words += ["--ranks", str(self.ranks)]
        words += ["--mesh", self.mesh] if self.mesh else []
        return words + (["--micro-batches", str(self.micro_batches)] if self.micro_batches else [])


def instead(configuration, result, rng):
    """Where no op can follow a strategy, the same with one that the message names; else None."""
    named = re.search(r"can follow strategy '.*those that can be followed: ([a-z, ]*)", result.text)
    if result.kind != "refused" or not named:
        return None
    return replace(configuration, strategy=rng.choice(named.group(1).split(", ")), mesh="", micro_batches=0)


def draw(rng, target=None):
    """A configuration of several ranks."""
    target = target or rng.choice(["cpu", "cpu", "emulated"])
    ranks = rng.choice([2, 2, 3, 4, 4])
    if target == "emulated" and rng.random() < 0.25:
        return Configuration(1, target)
    if rng.random() < 0.3:
        return Configuration(ranks, target, free=True)
    if rng.random() < 0.3:
        mesh = rng.choice(MESHES[ranks])
        names = [axis.split("=")[0] for axis in mesh.split(",")]
        micro = rng.choice([0, 1, 2]) if "layer" in names else 0
        return Configuration(ranks, target, ",".join(names), mesh, micro_batches=micro)
    if rng.random() < 0.15:
        return Configuration(ranks, target, "layer", micro_batches=rng.choice([0, 1, 2]))
    return Configuration(ranks, target, rng.choice(STRATEGIES))


@dataclass
class Result:
    """`kind`: right, wrong, crash, hang or refused; `text`: why."""
    kind: str
    text: str = ""

    @property
    def failed(self):
        return self.kind in ("wrong", "crash", "hang") or (self.kind == "refused" and not honest(self.text))


def honest(text):
    """The reason of a refusal that is no fault, or ""."""
    return next((reason for pattern, reason in HONEST if re.search(pattern, text)), "")


def call(command, deadline=DEADLINE):
    """Exit code (None past the deadline) and what was printed on stderr."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    try:
        log = process.communicate(timeout=deadline)[1]
        return process.returncode, log.decode(errors="replace").strip()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return None, ""


def crashed(code, log):
    return code is not None and (code < 0 or code >= 100 or "LLVM ERROR" in log or "Assertion" in log or "PLEASE submit a bug" in log)


def attempt(tool, stem, configuration, tolerance):
    """Compiles and runs STEM.onnx on STEM.in.npz."""
    program, outputs = stem + ".program", stem + ".out.npz"
    for path in (program, outputs):
        if os.path.exists(path):
            os.remove(path)
    for what, command in (("compile", [tool, "compile", stem + ".onnx", "-o", program, *configuration.options(stem)]),
                          ("run", [program, "--inputs", stem + ".in.npz", "--outputs", outputs])):
        code, log = call(command)
        if code is None:
            return Result("hang", f"{what} took more than {DEADLINE} s")
        if crashed(code, log):
            return Result("crash", f"{what} ended with {code}: {first_lines(log)}")
        if code:
            return Result("refused", first_lines(log)) if what == "compile" else Result("wrong", f"run ended with {code}: {first_lines(log)}")
    wrong = tolerance.check(load_arrays(outputs))
    return Result("wrong", wrong) if wrong else Result("right")


def first_lines(log):
    lines = [line for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines
    return " | ".join(errors[:2])[:400]
