"""`autopar run`: trainings whose ranks are killed again and again go on, on as many ranks and on fewer; errors that cannot change are not repeated.

    python test/Execution/run_restarts.py TOOL FOLDER [CHECK ...] [--restarts 20]

The next step comes within 30 s of each death, and the losses are those of a run that was not killed. The last line counts.
"""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np

from run_checkpoints import children, perceptron
from training_runs import arguments_of_cases, report

MOST_SECONDS = 30
TOLERANCE = 1e-4  # relative, of losses on other ranks


class Driven:
    """`autopar run` of a training, whose notes are read as they come."""

    def __init__(self, tool, training, program, *options, steps, arguments=()):
        self.notes, self.training = [], training
        command = training.command(program, "parts", steps, "--checkpoint", training.path("checkpoints"), "--checkpoint-every", "50", "--keep", "2", *arguments)
        self.process = subprocess.Popen([tool, "run", *options, "--", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def program(self):
        """The process of the training, once it is there."""
        return self.await_(lambda: next(iter(children(self.process.pid)), None), "the program does not start")

    def ranks(self, number):
        return self.await_(lambda: (ranks := children(self.program())) and len(ranks) == number and ranks, f"there are no {number} ranks")

    def await_(self, value, what):
        until = time.monotonic() + MOST_SECONDS
        while not (found := value()):
            assert self.process.poll() is None, f"it has ended: {self.end()}"
            assert time.monotonic() < until, what
            time.sleep(0.005)
        return found

    def await_step(self):
        path = self.training.path("parts.jsonl")
        self.await_(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "no step was taken")

    def read_until(self, words):
        """The note that has the words, which begin with those of all notes before it."""
        while words not in (line := self.process.stderr.readline()):
            self.notes.append(line)
            assert line, f"it has ended: {''.join(self.notes)}"
        self.notes.append(line)
        return line

    def kill(self, rank):
        """Kills a rank; how long the next step takes to come."""
        start = time.monotonic()
        os.kill(rank, signal.SIGKILL)
        note = self.read_until("it goes on from")
        self.read_until("the next step was taken")
        return note, time.monotonic() - start

    def end(self):
        _, told = self.process.communicate(timeout=200)
        self.notes.append(told)
        return self.process.returncode, "".join(self.notes)


def whole(training, program, steps):
    error = training.run(program, "whole", steps)
    assert not error, error


def assert_close(training):
    mine, theirs = (np.array([line["loss"] for line in training.log(name)]) for name in ("parts", "whole"))
    assert len(mine) == len(theirs), f"{len(mine)} steps, not {len(theirs)}"
    worst = np.max(np.abs(mine - theirs) / np.abs(theirs))
    assert worst < TOLERANCE, f"a loss differs by {worst}"
    return worst


def check_many(tool, work, restarts):
    training, steps, seconds, draw = perceptron(tool, work), 400 * restarts, [], random.Random(2)
    program = training.compile("--ranks 4 --strategy data")
    whole(training, program, steps)
    driven = Driven(tool, training, program, "--max-restarts", str(restarts), steps=steps)
    driven.await_step()
    for _ in range(restarts):
        seconds.append(driven.kill(draw.choice(driven.ranks(4)))[1])
    code, told = driven.end()
    assert code == 0 and f"({restarts} of {restarts})" in told, told
    assert max(seconds) < MOST_SECONDS, seconds
    training.assert_equal("whole", "parts")
    print(f"{restarts} restarts in a row on 4 ranks: the next step at most {max(seconds):.2f} s after the death, the losses are equal", flush=True)


def check_shrink(tool, work):
    training, steps = perceptron(tool, work), 4000
    program = training.compile("--ranks 4,3,2 --strategy data")
    whole(training, program, steps)
    driven = Driven(tool, training, program, "--shrink", "--min-ranks", "3", steps=steps)
    driven.await_step()
    note, seconds = driven.kill(driven.ranks(4)[2])
    assert ", on 3 ranks (1 of 3)" in note, note
    note, _ = driven.kill(driven.ranks(3)[0])
    assert ", on 3 ranks, the fewest that may be (2 of 3)" in note, note
    code, told = driven.end()
    assert code == 0 and seconds < MOST_SECONDS, told
    print(f"from 4 ranks to 3: the next step {seconds:.2f} s after the death, losses differ by {assert_close(training):.1e}", flush=True)


def check_device(tool, work):
    """A rank that has died twice is left out, with any deaths of others between."""
    training, steps = perceptron(tool, work), 4000
    program = training.compile("--ranks 3,2 --strategy data")
    whole(training, program, steps)
    driven = Driven(tool, training, program, "--max-restarts", "5", steps=steps)
    driven.await_step()
    for rank, said in ((1, " (1 of 5)"), (2, " (2 of 5)"), (1, ", rank 1 has died 2 times, on 2 ranks (3 of 5)")):
        note, _ = driven.kill(driven.ranks(3)[rank])
        assert note.endswith(f"taken again{said}\n"), note
    code, told = driven.end()
    assert code == 0, told
    assert_close(training)


GPU_PROGRAM = """#!/bin/sh
# A program of two ranks, or one, whose rank 1 dies at once on any GPU.
if [ "$1" = --describe ]; then
  echo '{"entries": [{"ranks": 2}, {"ranks": 1}]}' > "$3"
  exit 0
fi
echo "$CUDA_VISIBLE_DEVICES $*" >> "$(dirname "$0")/calls"
case "$*" in *"--ranks 1"*) exit 0;; esac
echo '{"message": "rank 1: CUDA", "target": "cuda", "ranks": 2, "rank": 1, "steps": 3}' > "$AUTOPAR_FAILURE"
exit 1
"""


def check_gpus(tool, work):
    """A rank that dies twice takes its GPU out; what is left has the program on fewer ranks when there are too few."""
    os.makedirs(work)
    program = os.path.join(work, "train")
    with open(program, "w") as file:
        file.write(GPU_PROGRAM)
    os.chmod(program, 0o755)

    def calls(*options):
        command = [tool, "run", "--max-restarts", "9", *options, "--", program, "--checkpoint", work]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "CUDA_VISIBLE_DEVICES": "5,6,7"})
        with open(os.path.join(work, "calls")) as file:
            seen = [line.split(" --checkpoint")[0] + (" on one" if "--ranks 1" in line else "") for line in file]
        os.remove(os.path.join(work, "calls"))
        return done.returncode, done.stderr, seen

    code, told, seen = calls()
    assert code == 0 and seen == ["5,6,7", "5,6,7", "5,7", "5,7", "5 on one"], (told, seen)
    assert "rank 1 has died 2 times on GPU 6, which is left out (2 of 9)" in told, told
    assert "rank 1 has died 2 times on GPU 7, which is left out, on 1 rank (4 of 9)" in told, told
    code, told, seen = calls("--min-ranks", "2")
    assert code == 1 and seen == ["5,6,7", "5,6,7", "5,7", "5,7"], (told, seen)
    assert "rank 1 has died 2 times on GPU 7, which is left out, and the program was not compiled for fewer than 2 ranks, or --min-ranks asks for them" in told, told


def check_same_errors(tool, work):
    training = perceptron(tool, work)
    program = training.compile("--ranks 2")

    def ends(code, said, *arguments, most="9", steps=40):
        got, told = Driven(tool, training, program, "--max-restarts", most, steps=steps, arguments=arguments).end()
        assert got == code and said in told, f"{got}: {told}"
        return told.count("it goes on from")
    assert ends(2, "(exit code 2): it is not started again", "--grace", "soon") == 0
    assert ends(1, "it ended so twice before a step was taken, and is not started again", "--weights", "/nowhere") == 1
    assert ends(1, "cannot write", "--trace", "/dev/full") == 0  # all steps were taken
    assert ends(0, "", steps=80) == 0
    done = subprocess.run([tool, "run", "--", "/nowhere/train", "--checkpoint", work], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "cannot start /nowhere/train: No such file or directory" in done.stderr, done.stderr
    done = subprocess.run([tool, "run", "--", "sh", "-c", "exit 7", "--checkpoint", work], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "ended with code 7" in done.stderr and "ended so twice before a step" in done.stderr, done.stderr
    for options, said in ((["--min-ranks", "3", "--"], "--ranks 2 is below --min-ranks 3"), (["--shrink", "--"], "was compiled for one number of them")):
        done = subprocess.run([tool, "run", *options, program, "--checkpoint", work, "--ranks", "2"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and said in done.stderr, done.stderr


def check_driver(tool, work):
    """The training ends with its driver, however that ends, and saves."""
    training = perceptron(tool, work)
    program = training.compile("--ranks 2")
    for number, code in ((signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)):
        driven = Driven(tool, training, program, steps=10000000)
        driven.await_step()
        processes = [driven.program(), *driven.ranks(2)]
        time.sleep(0.05)
        driven.process.send_signal(number)
        assert driven.process.wait(timeout=MOST_SECONDS) == code, driven.process.returncode
        until = time.monotonic() + MOST_SECONDS
        while any(os.path.exists(f"/proc/{process}") for process in processes):
            assert time.monotonic() < until, "the training goes on"
            time.sleep(0.01)
        driven.process.stderr.close()
        steps = sorted(int(name[5:]) for name in os.listdir(training.path("checkpoints")) if name.startswith("step-"))
        assert steps[-1] == len(training.log("parts")), f"{steps} of {len(training.log('parts'))} steps are saved"


def main():
    arguments = arguments_of_cases(__doc__)
    arguments.add_argument("--restarts", type=int, default=20)
    options = arguments.parse_args()
    checks = {
        "many restarts": lambda work: check_many(options.tool, work, options.restarts),
        "fewer ranks": lambda work: check_shrink(options.tool, work),
        "a device": lambda work: check_device(options.tool, work),
        "GPUs": lambda work: check_gpus(options.tool, work),
        "the same error": lambda work: check_same_errors(options.tool, work),
        "the driver's end": lambda work: check_driver(options.tool, work),
    }
    chosen = options.cases or list(checks)
    return report([(name, lambda name=name: checks[name](os.path.join(options.folder, name.replace(" ", "-").replace("'", "")))) for name in chosen])


if __name__ == "__main__":
    sys.exit(main())
