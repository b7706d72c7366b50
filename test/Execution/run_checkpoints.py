"""Trainings that stop and go on from a checkpoint: on the same plan bit for bit what a whole run computes, on other plans within a run's tolerance.

    python test/Execution/run_checkpoints.py TOOL FOLDER [CASE ...] [--full] [--kills 20]

Cases of ../shared/training: each is cut in the middle on one rank and, by turns, on others (--full: on all); each goes on over four ranks, three uneven ones, a mesh of
2x2, one rank and two emulated ones, and is then compared with PyTorch's run. A perceptron with dropout and fp16, whose scaled losses skip steps, is cut, too. Faults: processes killed while
they save, damaged files, folders in use or of another model. The last line counts.
"""

import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
from onnx import TensorProto, helper
from safetensors.numpy import load_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from expected import expect_error  # noqa: E402
from programs import error_of  # noqa: E402
from run_training import compare, recipe_of  # noqa: E402
from shared_models import SHARED, absence_of  # noqa: E402
from training_runs import Checks, arguments_of_cases, report, write_model  # noqa: E402

TRAINING = os.path.join(SHARED, "training")
WAYS = ["--ranks 1", "--ranks 2", "--ranks 3", "--ranks 4 --strategy data,tensor --mesh data=2,tensor=2", "--ranks 2 --target emulated"]
# A run goes on over these; the first way of each that the model can take.
CHAIN = [["--ranks 4 --strategy data", "--ranks 4"], ["--ranks 3"], ["--ranks 4 --strategy data,tensor --mesh data=2,tensor=2", "--ranks 2 --strategy data", "--ranks 2"],
         ["--ranks 1"], ["--ranks 2 --target emulated"]]


class Training:
    """A model, its data and how it is trained."""

    def __init__(self, tool, folder, data, recipe, steps, work, bindings=()):
        os.makedirs(work, exist_ok=True)
        self.tool, self.model, self.data, self.recipe = tool, os.path.join(folder, "model.onnx"), data, recipe
        self.steps, self.work, self.bindings = steps, work, list(bindings)
        with open(self.path("recipe.json"), "w") as file:
            json.dump(recipe, file)

    def path(self, name):
        return os.path.join(self.work, name)

    def compile(self, *ways):
        """The program of the first way that the model can take."""
        program = self.path(f"program{len(glob.glob(self.path('program*')))}")
        for way in ways:
            error = error_of(self.tool, "compile", self.model, "-o", program, "--train", self.path("recipe.json"), *self.bindings, *way.split())
            if not error:
                return program
        raise AssertionError(error)

    def command(self, program, out, steps, *options):
        return [program, "--data", self.data, "--steps", str(steps), "--log", self.path(out + ".jsonl"), "--final", self.path(out + ".safetensors"), *options]

    def run(self, program, out, steps, *options):
        """What is wrong, or None."""
        return error_of(*self.command(program, out, steps, *options))

    def log(self, out):
        with open(self.path(out + ".jsonl")) as file:
            return [{key: value for key, value in json.loads(line).items() if key != "run" and not key.endswith("seconds")} for line in file]

    def assert_equal(self, out, other):
        """Logs and parameters, bit for bit."""
        for one, two in zip(self.log(out), self.log(other)):
            assert one == two, f"{one} is not {two}"
        assert len(self.log(out)) == len(self.log(other))
        mine, theirs = (load_file(self.path(name + ".safetensors")) for name in (out, other))
        assert sorted(mine) == sorted(theirs)
        for name in mine:
            assert mine[name].tobytes() == theirs[name].tobytes(), f"parameter {name} differs"


def of_case(tool, case, work):
    recipe = recipe_of(case)
    bindings = ["--bind", f"batch={recipe['batch'] // recipe['accumulation']}"] if recipe["symbolic_batch"] else []
    folder = os.path.join(TRAINING, case)
    return Training(tool, folder, os.path.join(folder, "data.npz"), recipe, recipe["steps"], work, bindings)


def check_cut(training, way):
    """The whole run, and one that stops in the middle."""
    program = training.compile(way)
    folder, cut = training.path("checkpoints"), training.steps // 2
    errors = [training.run(program, "whole", training.steps), training.run(program, "parts", cut, "--checkpoint", folder),
              training.run(program, "parts", training.steps, "--resume", "auto", "--checkpoint", folder)]
    assert not any(errors), errors
    training.assert_equal("whole", "parts")
    if training.recipe.get("precision") == "fp16":
        skipped = [line["skipped"] for line in training.log("whole")]
        assert any(skipped) and not all(skipped), f"steps that were skipped: {skipped}"
    assert sorted(os.listdir(folder)) == ["lock", f"step-{cut:08}", f"step-{training.steps:08}"], os.listdir(folder)


def check_chain(tool, case, work):
    """A run that goes on over other plans, each for some of its steps."""
    training = of_case(tool, case, work)
    folder = training.path("checkpoints")
    for number, ways in enumerate(CHAIN):
        program = training.compile(*ways)
        error = training.run(program, "parts", max(training.steps * (number + 1) // len(CHAIN), number + 1), "--checkpoint", folder, "--resume", "auto", "--keep", "2")
        assert not error, f"{ways[0]}: {error}"
    assert len(glob.glob(os.path.join(folder, "step-*"))) == 2
    error = compare(os.path.join(TRAINING, case), training.recipe, training.path("parts"))
    assert not error, error


def perceptron(tool, work, **recipe):
    """With dropout; its losses are large enough that fp16 skips the first steps."""
    draw = np.random.Generator(np.random.PCG64(5))
    weights = {"w0": draw.standard_normal((12, 32)).astype(np.float32) / 4, "b0": np.zeros(32, np.float32),
               "w1": draw.standard_normal((32, 5)).astype(np.float32) / 4, "b1": np.zeros(5, np.float32), "rate": np.float32(0.3), "on": np.array(True)}
    nodes = [helper.make_node("Gemm", ["x", "w0", "b0"], ["h"], name="fc0"), helper.make_node("Relu", ["h"], ["r"], name="relu"),
             helper.make_node("Dropout", ["r", "rate", "on"], ["d"], name="drop"), helper.make_node("Gemm", ["d", "w1", "b1"], ["y"], name="fc1")]
    write_model(work, nodes, {"x": (TensorProto.FLOAT, [8, 12])}, {"y": (TensorProto.FLOAT, [8, 5])}, weights)
    data = os.path.join(work, "data.npz")
    size = 300 if recipe.get("precision") == "fp16" else 1
    np.savez(data, x=size * draw.standard_normal((24, 8, 12)).astype(np.float32), labels=draw.integers(0, 5, (24, 8)))
    return Training(tool, work, data, {"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 1e-2}, "dropout": 0.3, "seed": 3, **recipe}, 24, work)


#===------------------------------------------------------------------------===#
# Faults
#===------------------------------------------------------------------------===#


def saved(tool, work, *options):
    """A program with checkpoints of the steps 4, 8 and 12, and their folder."""
    training = perceptron(tool, work)
    program, folder = training.compile("--ranks 2"), training.path("checkpoints")
    error = training.run(program, "first", 12, "--checkpoint", folder, "--checkpoint-every", "4", *options)
    assert not error, error
    return training, program, folder


def check_kills(tool, work, kills):
    """Whole runs and runs that are killed at random moments, again and again, end alike."""
    training = perceptron(tool, work)
    program, folder, draw = training.compile("--ranks 2"), training.path("checkpoints"), random.Random(7)
    error = training.run(program, "whole", 24)
    assert not error, error
    command = training.command(program, "parts", 24, "--checkpoint", folder, "--checkpoint-every", "1", "--resume", "auto", "--keep", "3")
    killed, newest = 0, 0
    for _ in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        time.sleep(draw.uniform(0.02, 0.12))
        victims = [process.pid] + children(process.pid)
        os.kill(draw.choice(victims), signal.SIGKILL)
        _, told = process.communicate(timeout=60)
        killed += process.returncode != 0
        steps = sorted(int(os.path.basename(path)[5:]) for path in glob.glob(os.path.join(folder, "step-*")))
        assert not steps or steps[-1] >= newest, f"step {newest} was lost: {steps}"
        newest = steps[-1] if steps else newest
        if process.returncode == 0 or b"is the total of all runs" in told:
            shutil.rmtree(folder)
            newest = 0
    assert killed > kills // 3, f"{killed} of {kills} runs were killed in time"
    shutil.rmtree(folder, ignore_errors=True)
    for _ in range(3):  # a run that is killed, and then goes on
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.06)
        process.kill()
        process.wait()
    if not glob.glob(os.path.join(folder, "step-00000024")):
        error = error_of(*command)
        assert not error, error
        training.assert_equal("whole", "parts")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def refused(training, program, *said, steps=16, options=("--resume", "auto")):
    """The run fails and says so."""
    error = training.run(program, "refused", steps, "--checkpoint", training.path("checkpoints"), *options) or "it ran"
    assert all(words in error for words in said), f"no {said} in: {error}"


def change(path, place):
    """One byte of a file."""
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)
        file.seek(place)
        file.write(bytes([byte[0] ^ 0x11]))


def check_damage(tool, work):
    """A checkpoint with a damaged file is left out, or refused by name; the one before it is taken."""
    training, program, folder = saved(tool, os.path.join(work, "saved"))
    kept = training.path("kept")
    shutil.copytree(folder, kept)
    newest = os.path.join(folder, "step-00000012")
    for name in sorted(os.listdir(newest)):
        path = os.path.join(newest, name)
        size = os.path.getsize(path)
        for place in (3, size // 4, size // 2, size - 2):
            shutil.rmtree(folder)
            shutil.copytree(kept, folder)
            change(path, place)
            done = subprocess.run(training.command(program, "damaged", 16, "--checkpoint", folder, "--resume", "auto"), capture_output=True, text=True, timeout=60)
            told = done.stderr
            left_out = "is left out, for it is not whole" in told and "step-00000008' after 8 steps" in told and done.returncode == 0
            # A letter of what is for information only changes nothing.
            harmless = name == "manifest.json" and done.returncode == 0 and "step-00000012' after 12 steps" in told
            assert left_out or harmless, f"{name} at {place}: {done.returncode} {told}"
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)
    for name in sorted(os.listdir(newest)):
        path = os.path.join(newest, name)
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) // 2)
        done = subprocess.run(training.command(program, "damaged", 10, "--checkpoint", folder, "--resume", "auto"), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "is left out" in done.stderr and "after 8 steps" in done.stderr, f"{name} cut: {done.stderr}"
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)


def check_refusals(tool, work):
    training, program, folder = saved(tool, os.path.join(work, "saved"), "--keep", "2")
    assert sorted(os.listdir(folder)) == ["lock", "step-00000008", "step-00000012"]
    refused(training, program, "is of 12 steps, and --steps 11 is the total of all runs: give more", steps=11)
    error = training.run(program, "none", 12, "--resume", folder)  # all steps were taken: the parameters are written
    assert not error, error
    mine, theirs = (load_file(training.path(name + ".safetensors")) for name in ("none", "first"))
    assert all(mine[name].tobytes() == theirs[name].tobytes() for name in theirs)
    refused(training, program, "its value is empty", options=("--resume", ""))
    refused(training, program, "'5m' is neither a number of steps, 100, nor of seconds, 60s", options=("--checkpoint-every", "5m"))
    refused(training, program, "there is no folder '/nowhere'", options=("--resume", "/nowhere"))
    refused(training, program, "has a checkpoint of step 12 already: --resume auto goes on from it, or name another folder", options=())
    refused(training, program, "has a checkpoint of step 12 already", options=("--resume", os.path.join(folder, "step-00000008")))
    with open(os.path.join(folder, "step-00000012", "manifest.json")) as file:
        manifest = json.load(file)
    manifest["format"] = 99
    shutil.copytree(os.path.join(folder, "step-00000012"), training.path("newer"))
    with open(os.path.join(training.path("newer"), "manifest.json"), "w") as file:
        json.dump(manifest, file)
    refused(training, program, "is of format 99, which a newer autopar writes", options=("--resume", training.path("newer")))
    other = perceptron(tool, os.path.join(work, "other"), optimizer={"kind": "sgd", "lr": 1e-2, "momentum": 0.9})
    others = other.compile("--ranks 1")
    refused(other, others, "has no state 'optimizer/", "it is of another model or recipe; --resume-ignoring optimizer begins such states anew", options=("--resume", folder))
    error = other.run(others, "anew", 16, "--resume", folder, "--resume-ignoring", "optimizer")
    assert not error and [line["step"] for line in other.log("anew")] == [12, 13, 14, 15], error
    process = subprocess.Popen(training.command(program, "long", 5000000, "--checkpoint", folder, "--resume", "auto", "--checkpoint-every", "0.05s"), stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        refused(training, program, "another run writes checkpoints into", "give each run a folder of its own")
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 143
    steps = sorted(int(name[5:]) for name in os.listdir(folder) if name.startswith("step-"))
    assert len(steps) > 3 and steps[-1] > 12, steps  # by time, and at the signal
    error = training.run(program, "on", steps[-1] + 3, "--checkpoint", folder, "--resume", "auto")
    assert not error and len(training.log("on")) == 3, error


def check_trainer(tool, work):
    """A Trainer goes on with what the executable saved, and the executable with what the Trainer saved."""
    training = perceptron(tool, work)
    program, folder = training.compile("--ranks 2"), training.path("checkpoints")
    errors = [training.run(program, "whole", 24), training.run(program, "parts", 7, "--checkpoint", folder)]
    assert not any(errors), errors
    with np.load(training.data) as arrays:
        data = dict(arrays)
    log = training.log("whole")
    with autopar.Trainer(training.model, training.path("recipe.json"), ranks=2) as trainer:
        done = trainer.resume(folder)
        for number in range(done, 16):
            step = trainer.step({name: array[number] for name, array in data.items()})
            assert (step.number, step.loss) == (number, log[number]["loss"]), (step, log[number])
        error = training.run(program, "refused", 20, "--checkpoint", folder, "--resume", "auto") if trainer.save_checkpoint(folder, keep=2) is None else ""
        assert "another run writes checkpoints into" in error, error
        expect_error(lambda: trainer.save_checkpoint(folder, keep=0), "keep is 0, but must be 1 or more")
        expect_error(lambda: trainer.resume(work), "has no checkpoint, no folder step-N: name another one")
        assert trainer.step({name: array[16] for name, array in data.items()}).number == 16
    with autopar.Trainer(training.model, {**training.recipe, "optimizer": {"kind": "sgd", "lr": 1e-2, "momentum": 0.9}}) as other:
        expect_error(lambda: other.resume(folder), "has no state 'optimizer/", "--resume-ignoring optimizer begins such states anew")
        expect_error(lambda: other.resume(folder, ignoring=["model"]), "'model' is no role of states that may begin anew: it is none of optimizer, average, loss_scale")
        assert other.resume(folder, ignoring=["optimizer"]) == 16 and other.step({name: array[16] for name, array in data.items()}).number == 16
    error = training.run(program, "parts", 24, "--checkpoint", folder, "--resume", "auto")
    assert not error, error
    mine, theirs = (load_file(training.path(name + ".safetensors")) for name in ("parts", "whole"))
    assert all(mine[name].tobytes() == theirs[name].tobytes() for name in theirs), "the parameters differ"


def check_run(tool, work):
    """`autopar run` starts a training again whose rank was killed, on as many ranks and on fewer."""
    training = perceptron(tool, work)
    program, folder = training.compile("--ranks 3,2,1"), training.path("checkpoints")
    assert not training.run(program, "whole", 4000)
    command = training.command(program, "parts", 4000, "--checkpoint", folder, "--checkpoint-every", "50", "--keep", "2")
    for options, code, said in ((["--max-restarts", "9"], 0, "it goes on from step "), (["--shrink"], 0, ", on 2 ranks (1 of 3)"), (["--max-restarts", "1"], 1, "and no more")):
        shutil.rmtree(folder, ignore_errors=True)
        process = subprocess.Popen([tool, "run", *options, "--", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2 if "no more" in said else 1):
            seen = checkpoints_of(folder)
            while process.poll() is None and not checkpoints_of(folder) - seen:
                time.sleep(0.01)
            started = children(process.pid)
            for child in started:
                os.kill(random.choice(children(child) or [child]), signal.SIGKILL)
            while process.poll() is None and children(process.pid) == started:
                time.sleep(0.01)
        _, told = process.communicate(timeout=120)
        assert process.returncode == code and said in told, f"code {process.returncode}: {told[-300:]}"
        if options[0] == "--max-restarts" and code == 0:
            training.assert_equal("whole", "parts")


def checkpoints_of(folder):
    return {name for name in os.listdir(folder) if name.startswith("step-")} if os.path.isdir(folder) else set()


def check_command(tool, work):
    """`autopar checkpoint`, and the lines by which the docs read a state."""
    training, program, folder = saved(tool, os.path.join(work, "saved"))

    def told(*arguments, code=0):
        done = subprocess.run([tool, "checkpoint", *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout + done.stderr
    listed = told("inspect", folder)
    for words in ("steps       12\n", "2 ranks", "model/w0", "optimizer/w0/exp_avg", "f32[12,32]"):
        assert words in listed, listed
    assert "are as they were written" in told("verify", folder)
    told("export", folder, "-o", training.path("exported.safetensors"))
    mine, final = (load_file(training.path(name + ".safetensors")) for name in ("exported", "first"))
    assert sorted(mine) == sorted(final) and all(mine[name].tobytes() == final[name].tobytes() for name in final)
    assert "the states are equal" in told("diff", folder, "--against", os.path.join(folder, "step-00000012"))
    assert "model/w0: differs by at most" in told("diff", folder, "--against", os.path.join(folder, "step-00000004"), code=1)
    assert "write one of inspect, verify, export, diff" in told("inspct", folder, code=1)
    assert "add -o FILE" in told("export", folder, code=1)
    assert "first.safetensors' is a file; give the folder of a checkpoint" in told("inspect", training.path("first.safetensors"), code=1)
    with open(os.path.join(ROOT, "docs", "Checkpoints.md")) as file:
        lines = re.search(r"\n(    import json, numpy.*?return whole\n)", file.read(), re.S).group(1)
    names = {}
    exec(textwrap.dedent(lines), names)
    files = sorted(glob.glob(os.path.join(folder, "step-00000012", "rank-*.safetensors")))
    assert all(names["state"](files, "model/" + name).tobytes() == final[name].tobytes() for name in final)
    path = os.path.join(folder, "step-00000012", "rank-0000.safetensors")
    change(path, os.path.getsize(path) - 3)
    assert "are others than were written" in told("verify", folder, code=1)


def main():
    arguments = arguments_of_cases(__doc__)
    arguments.add_argument("--kills", type=int, default=20)
    options = arguments.parse_args()
    checks = Checks(options.folder)
    checks.add("kills", lambda work: check_kills(options.tool, work, options.kills))
    checks.add("damaged files", lambda work: check_damage(options.tool, work))
    checks.add("a Trainer", lambda work: check_trainer(options.tool, work))
    checks.add("autopar run", lambda work: check_run(options.tool, work))
    checks.add("the command", lambda work: check_command(options.tool, work))
    checks.add("refusals", lambda work: check_refusals(options.tool, work))
    for way in WAYS:
        checks.add(f"dropout and fp16, {way}", lambda work, way=way: check_cut(perceptron(options.tool, work, precision="fp16"), way))
    if absence := absence_of(TRAINING):
        print(absence)
    cases = [] if absence else options.cases or sorted(case for case in os.listdir(TRAINING) if os.path.exists(os.path.join(TRAINING, case, "run.json")))
    for number, case in enumerate(cases):
        for way in WAYS if options.full else (WAYS[0], WAYS[1 + number % 3]):
            checks.add(f"{case}, {way}", lambda work, case=case, way=way: check_cut(of_case(options.tool, case, work), way))
        checks.add(f"{case} over other plans", lambda work, case=case: check_chain(options.tool, case, work))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
