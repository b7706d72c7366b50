"""What a training says where a checkpoint, its log or its data are not as a run that goes on expects them.

    python test/Execution/run_resume_doubts.py TOOL FOLDER

Numbers that are not finite, other rows for the evaluation, logs with a gap or that are no logs, data without a position. The last line counts.
"""

import json
import os
import subprocess
import sys

import numpy as np

from run_checkpoints import perceptron
from run_shards import BATCH, arrays_of, training_of, write_shards
from training_runs import Checks, report, tool_and_folder


def told(command, code=0):
    """What a command says on both of its outputs; it must end with this code."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def check_not_finite(tool, work):
    """States with NaN do not displace the last finite ones, and whatever reads them says that they have it."""
    training = perceptron(tool, work)
    with np.load(training.data) as data:
        arrays = dict(data)
    arrays["x"][6] = np.inf
    np.savez(training.data, **arrays)
    program, folder = training.compile("--ranks 2"), training.path("run")
    told(training.command(program, "first", 12, "--checkpoint", folder, "--checkpoint-every", "2", "--keep", "1"), code=1)
    assert sorted(os.listdir(folder)) == ["lock", "step-00000006", "step-00000012"], os.listdir(folder)
    with open(os.path.join(folder, "step-00000012", "manifest.json")) as file:
        assert "model/w0" in json.load(file)["not_finite"]
    doubt = f"'{folder}/step-00000006' is the newest before it with only finite numbers"
    for command in ([tool, "checkpoint", "inspect", folder], [tool, "checkpoint", "verify", folder],
                    [tool, "checkpoint", "export", folder, "-o", training.path("out.safetensors")]):
        text = told(command)
        assert "not all numbers are finite of 'model/" in text and doubt in text, text
    assert "finite" not in told([tool, "checkpoint", "inspect", os.path.join(folder, "step-00000006")])
    text = told(training.command(program, "first", 13, "--resume", folder), code=1)
    assert "warning: in the checkpoint" in text and doubt in text, text


def check_evaluation(tool, work):
    """The best evaluation is that of the same rows. An evaluation that is not kept is not called the best."""
    training = training_of(tool, work, evaluation={"every": 5, "metrics": ["accuracy"]})
    rows = [training.path(name) for name in ("valid", "other")]
    for path, count in zip(rows, (30, 24)):
        write_shards(path, arrays_of(count), "npz", [count])
    program, folder = training.compile("--ranks 1"), training.path("run")

    def run(steps, data, *options):
        return told(training.command(program, "log", steps, "--checkpoint", folder, "--evaluation-data", data, "--resume", "auto", *options))
    run(10, rows[0])
    text = run(10, rows[0])
    assert "accuracy" in text and "(the best)" not in text and "begin anew" not in text, text
    text = run(15, rows[1])
    assert "--evaluation-data has other rows than those" in text and "(the best)" in text, text
    assert "begin anew" not in run(20, rows[1])


def check_log(tool, work):
    """A log goes on where its lines end; a file that is none stays as it is."""
    training = perceptron(tool, work)
    program, folder = training.compile("--ranks 1"), training.path("run")
    told(training.command(program, "log", 12, "--checkpoint", folder, "--checkpoint-every", "4"))
    step = os.path.join(folder, "step-00000008")
    text = told(training.command(program, "log", 12, "--resume", step))
    assert "the lines from step 8 on are removed" in text and "missing" not in text, text
    assert len(training.log("log")) == 12
    with open(training.path("log.jsonl")) as file:
        lines = file.readlines()
    with open(training.path("log.jsonl"), "w") as file:
        file.writelines(lines[:3])
    text = told(training.command(program, "log", 12, "--resume", step))
    assert "its last line is of step 2, and the run goes on with step 8" in text and "removed" not in text, text
    for content in (b"PK\x03\x04 an archive", b"{\"loss\": 1}\n"):
        with open(training.path("log.jsonl"), "wb") as file:
            file.write(content)
        for options in ((), ("--resume", step)):
            text = told(training.command(program, "log", 12, *options), code=1)
            assert "the file is no log of a training" in text, text
        with open(training.path("log.jsonl"), "rb") as file:
            assert file.read() == content


def check_rows(tool, work):
    """Errors of rows name the step of the whole training. Data without a position begin anew, which is told."""
    training = training_of(tool, work)
    program, folder = training.compile("--ranks 2"), training.path("run")
    told(training.command(program, "first", 4, "--checkpoint", folder))
    arrays = arrays_of(107)
    arrays["labels"][6 * BATCH + 2] = 9
    write_shards(training.data, arrays, "npz", [40, 0, 50, 17])
    for options in ((), ("--resume", folder)):
        text = told(training.command(program, "wrong", 8, *options), code=1)
        assert "step 6, row 34 of " in text and "part-0002.npz" in text, text
    whole = perceptron(tool, training.path("whole"))
    other = whole.compile("--ranks 1")
    told(whole.command(other, "first", 4, "--checkpoint", folder + "-of-arrays"))
    with np.load(whole.data) as data:
        write_shards(whole.path("shards"), {name: array.reshape(-1, *array.shape[2:]) for name, array in data.items()}, "npz", [192])
    whole.data = whole.path("shards")
    for options, doubted in (((), True), (("--resume-ignoring", "data"), False)):
        text = told(whole.command(other, "rows", 8, "--resume", folder + "-of-arrays", *options))
        assert ("has no position in the rows of --data" in text) == doubted, text


def check_names(tool, work):
    """Averages go beside the parameters, however short the file's name. Options of one verb are no options of another."""
    training = perceptron(tool, work, average=0.9)
    program = training.compile("--ranks 1")
    subprocess.run([program, "--data", training.data, "--steps", "2", "--final", "s.safetensors"], cwd=work, check=True, timeout=60, capture_output=True)
    assert os.path.exists(training.path("s.average.safetensors")), os.listdir(work)
    folder = training.path("run")
    told(training.command(program, "first", 4, "--checkpoint", folder))
    for options, said in ((["verify", folder, "--against", folder], "--against is an option of checkpoint diff"),
                          (["inspect", folder, "-o", "x.safetensors"], "are options of checkpoint export"),
                          (["export", folder, "-o", training.path("x.pt")], "tensors are written as safetensors"),
                          (["inspect", os.path.join(folder, "lock")], "is a file"), ([], "write one of inspect, verify")):
        text = told([tool, "checkpoint", *options], code=1)
        assert said in text, text
    text = told([tool, "run", "--min-ranks", "9", "--", program, "--data", training.data, "--steps", "4", "--checkpoint", folder], code=2)
    assert "was compiled for at most 1 rank, and --min-ranks is 9" in text, text


def main():
    options = tool_and_folder(__doc__)
    checks = Checks(options.folder)
    for name, check in (("not finite", check_not_finite), ("evaluations", check_evaluation), ("logs", check_log), ("rows", check_rows), ("names", check_names)):
        checks.add(name, lambda work, check=check: check(options.tool, work))
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
