"""Checkpoints under faults: disks that are full or fail at each call, processes killed at any moment, folders that cannot be written, damaged files.

    python test/Execution/run_checkpoint_faults.py TOOL FOLDER [CHECK ...] [--kills 30] [--full]

After each fault the newest whole checkpoint is found, --resume auto goes on, and the parameters in the end are those of a run without faults, bit for bit; no checkpoint is lost before a newer
one is safe, with --keep 1 too. `--kills 300 --full` is the whole of it. The last line counts.
"""

import glob
import mmap
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import numpy as np
from onnx import TensorProto, helper
from safetensors.numpy import load_file

from run_checkpoints import Training, change, children, perceptron
from training_runs import arguments_of_cases, report, write_model

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
STEPS = 12
IN_NAMESPACE = ["unshare", "-Urm", "sh", "-ec"]


class Faulty:
    """A training with the parameters that it ends with unless something goes wrong."""

    def __init__(self, tool, work, ranks=2, steps=STEPS):
        self.training = perceptron(tool, work)
        self.tool, self.steps, self.ranks = tool, steps, ranks
        self.program, self.folder = self.training.compile(f"--ranks {ranks}"), self.training.path("checkpoints")
        error = self.training.run(self.program, "whole", steps)
        assert not error, error

    def command(self, *options, steps=0):
        return self.training.command(self.program, "parts", steps or self.steps, "--checkpoint", self.folder, "--checkpoint-every", "4", "--resume", "auto", *options)

    def run(self, *options, steps=0, environment=None):
        done = subprocess.run(self.command(*options, steps=steps), capture_output=True, text=True, timeout=60, env={**os.environ, **(environment or {})})
        return done.returncode, done.stderr

    def checkpoints(self):
        return sorted(int(os.path.basename(path)[5:]) for path in glob.glob(os.path.join(self.folder, "step-*")))

    def begin(self, *options):
        """A folder with the checkpoint of step 4 alone."""
        shutil.rmtree(self.folder, ignore_errors=True)
        code, told = self.run(*options, steps=4)
        assert code == 0 and self.checkpoints() == [4], told

    def assert_goes_on(self, *options, what=""):
        """From the newest checkpoint, which is whole, to the end of a run without faults."""
        newest = self.checkpoints()[-1:]
        code, told = self.run(*options)
        assert code == 0 and "is left out" not in told, f"{what}: {told}"
        assert not newest or f"step-{newest[0]:08}' after {newest[0]} steps" in told, f"{what}: not from {newest[0]}: {told}"
        self.assert_equal(what)
        left = [name for name in os.listdir(self.folder) if name.startswith(".")]
        assert not left, f"{what}: left behind: {left}"

    def assert_equal(self, what):
        mine, theirs = (load_file(self.training.path(name + ".safetensors")) for name in ("parts", "whole"))
        assert sorted(mine) == sorted(theirs) and all(mine[name].tobytes() == theirs[name].tobytes() for name in theirs), f"{what}: the parameters differ"
        assert [line["loss"] for line in self.training.log("parts")] == [line["loss"] for line in self.training.log("whole")], f"{what}: the losses differ"


#===------------------------------------------------------------------------===#
# Disks
#===------------------------------------------------------------------------===#


def build_failing(work):
    """A library that fails the nth call that writes below a folder, of all processes together."""
    library = os.path.join(work, "failing.so")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", os.path.join(INPUTS, "failing.c"), "-o", library, "-ldl"], check=True, timeout=100)
    return library


def failing_run(faulty, library, number, error, *options):
    """The exit code, what was said, and the name of the call that failed; None: there were fewer calls."""
    counter = faulty.training.path("counter")
    with open(counter, "w+b") as file:
        file.write(struct.pack("q56s", 0, b""))
    code, told = faulty.run(*options, environment={"LD_PRELOAD": library, "FAIL_BELOW": faulty.folder, "FAIL_CALL": str(number), "FAIL_ERROR": str(error), "FAIL_COUNTER": counter})
    with open(counter, "r+b") as file, mmap.mmap(file.fileno(), 64) as memory:
        count, name = struct.unpack("q56s", memory[:])
    assert count > 0, "no call was seen: is the program linked statically?"
    return code, told, name.rstrip(b"\0").decode() if count >= number else None


def check_calls(tool, work, full):
    """Each call fails once: of a disk that is full, and of one that is broken."""
    faulty = Faulty(tool, work)
    library, failed = build_failing(work), []
    for options in (["--keep", "1"], []) if full else (["--keep", "1"],):
        for error, words in ((28, "No space left on device"), (5, "Input/output error")):
            for number in range(1, 1000):
                faulty.begin(*options)
                code, told, call = failing_run(faulty, library, number, error, *options)
                if not call:
                    break
                what = f"call {number} ({call}) fails with {words}"
                # A removal and the last name's way to the disk may fail without a checkpoint lost.
                assert code in (0, 1) and (code == 0 or words in told), f"{what}: {code} {told}"
                assert code == 0 or faulty.folder in told, f"{what}: no file is named: {told}"
                assert faulty.checkpoints(), f"{what}: all checkpoints are lost"
                faulty.assert_goes_on(*options, what=what)
                failed.append(call)
            assert number > 12, f"only {number} calls"
    print(f"calls that failed: {', '.join(f'{failed.count(name)} {name}' for name in sorted(set(failed)))}", flush=True)


def may_mount(work):
    """Whether this kernel gives a user a small file system of his own."""
    done = subprocess.run([*IN_NAMESPACE, f"mount -t tmpfs -o size=1m none {work}"], capture_output=True, text=True, timeout=60)
    if done.returncode:
        print(f"SKIP: no file system of a user's own: {done.stderr.strip()}", flush=True)
    return done.returncode == 0


def check_replaced(tool, work):
    """Each call fails once while a damaged checkpoint of the same step is replaced, the exchange of the two among them."""
    faulty = Faulty(tool, work, ranks=1)
    library, failed = build_failing(work), []
    for number in range(1, 1000):
        faulty.begin()
        code, told = faulty.run(steps=8)
        assert code == 0, told
        path = os.path.join(faulty.folder, "step-00000008", "rank-0000.safetensors")
        change(path, os.path.getsize(path) - 1)
        code, told, call = failing_run(faulty, library, number, 22)
        if not call:
            break
        code, told = faulty.run()
        assert code == 0, told
        faulty.assert_equal(f"call {number} ({call}) fails")
        assert 4 in faulty.checkpoints() and os.path.isdir(os.path.dirname(path)), faulty.checkpoints()
        failed.append(call)
    assert "renameat2" in failed, failed


def check_full_disk(tool, work, full):
    """A file system that has room for no checkpoint, for a half, for one, for one and a half..."""
    faulty = Faulty(tool, work)
    faulty.begin()
    size = sum(os.path.getsize(path) for path in glob.glob(os.path.join(faulty.folder, "step-*", "*")))
    shutil.rmtree(faulty.folder)
    os.mkdir(faulty.folder)
    if not may_mount(faulty.folder):
        return
    quote, sizes, failed = " ".join(faulty.command("--keep", "1")), range(4, 4 * size // 1024, 4), 0
    for kilobytes in sizes:
        script = f"""mount -t tmpfs -o size={kilobytes}k none {faulty.folder}
            {quote} 2> {work}/first || echo "ended with $?" >> {work}/first
            ls {faulty.folder} > {work}/found
            mount -o remount,size=64m {faulty.folder}
            {quote} 2> {work}/second"""
        done = subprocess.run([*IN_NAMESPACE, script], capture_output=True, text=True, timeout=100)
        first, second, found = (open(os.path.join(work, name)).read() for name in ("first", "second", "found"))
        what = f"{kilobytes} KB"
        assert done.returncode == 0, f"{what}: {done.stderr} {first} {second}"
        assert "ended with" not in first or ("ended with 1" in first and "No space left on device" in first and faulty.folder in first), f"{what}: {first}"
        steps = re.findall("step-[0-9]+", found)
        assert "is left out" not in second and (not steps or f"{steps[-1]}' after" in second), f"{what}: {found} {second}"
        failed += "No space left on device" in first
        faulty.assert_equal(what)
    assert 0 < failed < len(sizes)
    print(f"file systems of {sizes[0]} to {sizes[-1]} KB, a checkpoint has {size / 1024:.0f}: {failed} of {len(sizes)} were too small", flush=True)


def check_read_only(tool, work):
    """A folder that cannot be written is refused before a step is taken, and read from."""
    faulty = Faulty(tool, work)
    faulty.begin()
    if not may_mount(work):
        return
    out = " ".join(faulty.training.command(faulty.program, "parts", faulty.steps))
    script = f"""mount --bind {faulty.folder} {faulty.folder}
        mount -o remount,bind,ro {faulty.folder}
        if {' '.join(faulty.command())} 2> {work}/refused; then exit 7; fi
        {out} --resume {faulty.folder} 2> {work}/read"""
    done = subprocess.run([*IN_NAMESPACE, script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    refused = open(os.path.join(work, "refused")).read()
    assert "Read-only file system" in refused and faulty.folder in refused, refused
    faulty.assert_equal("from a read-only folder")


def check_other_disk(tool, work):
    """Checkpoints behind a link into another file system."""
    faulty = Faulty(tool, work)
    there = f"/dev/shm/checkpoints-{os.getpid()}"
    if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == os.stat(work).st_dev:
        return print("SKIP: there is no other file system", flush=True)
    try:
        os.mkdir(there)
        os.symlink(there, faulty.folder)
        for steps in (4, 8, 12):
            code, told = faulty.run("--keep", "1", steps=steps)
            assert code == 0 and faulty.checkpoints() == [steps], told
        faulty.assert_equal("on another file system")
    finally:
        shutil.rmtree(there, ignore_errors=True)


#===------------------------------------------------------------------------===#
# Kills
#===------------------------------------------------------------------------===#


def kill_sometime(process, folder, draw):
    """Kills a rank, the launcher or all, at any moment or while a checkpoint is written; what it was, or None if the run had ended."""
    kind = draw.choice(["a rank", "the launcher", "all"])
    saving = draw.random() < 0.5
    until = time.monotonic() + 5
    if saving:
        while process.poll() is None and time.monotonic() < until and not glob.glob(os.path.join(folder, ".writing-*")):
            time.sleep(0.0005)
        time.sleep(draw.uniform(0, 0.004))
    else:
        time.sleep(draw.uniform(0.02, 0.25))
    ranks = children(process.pid)
    if process.poll() is not None:
        return None
    try:
        if kind == "all":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            os.kill(draw.choice(ranks) if kind == "a rank" and ranks else process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return f"{kind} while saving" if saving else kind


def check_kills(tool, work, kills):
    """Runs that are killed again and again until they end, with all checkpoints and with the last one alone."""
    draw, counts, ended, started = random.Random(11), {}, 0, time.monotonic()
    faulty = Faulty(tool, work, steps=300)
    keep, newest = ["--checkpoint-every", "1", "--keep", "1"], 0
    while sum(counts.values()) < kills:
        process = subprocess.Popen(faulty.command(*keep), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        what = kill_sometime(process, faulty.folder, draw)
        _, told = process.communicate(timeout=60)
        counts[what] = counts.get(what, 0) + 1 if what else 0
        assert "is left out" not in told, f"a checkpoint that has its name is not whole: {told}"
        assert "the training goes on from" not in told or f"step-{newest:08}' after {newest} steps" in told, f"not from {newest}: {told}"
        now = (faulty.checkpoints() or [0])[-1]
        assert now >= newest, f"step {newest} was lost by the death of {what}: {now} is the newest"
        newest = now
        if process.returncode == 0 or newest == faulty.steps:
            faulty.assert_goes_on(*keep, what="after kills")
            shutil.rmtree(faulty.folder)
            newest, ended, keep = 0, ended + 1, keep[:2] if ended % 2 == 0 else [*keep[:2], "--keep", str(draw.randint(1, 3))]
    counts.pop(None, None)
    if newest:
        faulty.assert_goes_on(*keep, what="after the last kill")
    print(f"{sum(counts.values())} kills in {time.monotonic() - started:.0f} s over {ended + 1} trainings, none lost a checkpoint: "
          + ", ".join(f"{counts[what]} of {what}" for what in sorted(counts)), flush=True)


def check_two_runs(tool, work):
    """Of two runs that are started at once into a folder one is refused, and what the other one writes is whole."""
    faulty = Faulty(tool, work, steps=300)
    runs = [subprocess.Popen(faulty.command("--checkpoint-every", "1"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [run.communicate(timeout=100)[1] for run in runs]
    refused = [text for text in told if "another run writes checkpoints into" in text]
    # Whoever came after the other had ended found all steps taken.
    assert len(refused) == 1 or any("all steps were taken" in text for text in told), told
    faulty.assert_goes_on("--checkpoint-every", "1", what="after two runs")


#===------------------------------------------------------------------------===#
# Damaged files
#===------------------------------------------------------------------------===#


def check_flips(tool, work, full):
    """A byte of any file that is another one: the checkpoint is left out by the name of the file and of the state, and the one before it is gone on from."""
    faulty, draw = Faulty(tool, work), random.Random(3)
    code, told = faulty.run(steps=8)
    assert code == 0, told
    kept = faulty.training.path("kept")
    shutil.copytree(faulty.folder, kept)
    for name in sorted(os.listdir(os.path.join(kept, "step-00000008"))):
        path = os.path.join(faulty.folder, "step-00000008", name)
        size = os.path.getsize(path.replace(faulty.folder, kept))
        head = 4096 if name.endswith("safetensors") else size
        places = sorted({*draw.sample(range(head), 40 if full else 8), *draw.sample(range(min(head, size - 1), size), min(size - head, 40 if full else 8)), 0, size - 1})
        for place in places:
            shutil.rmtree(faulty.folder)
            shutil.copytree(kept, faulty.folder)
            change(path, place)
            code, told = faulty.run()
            what = f"{name} with another byte {place}"
            assert code == 0, f"{what}: {code} {told}"
            left_out = "is left out, for it is not whole: " in told and "step-00000004' after 4 steps" in told and name in told
            # The manifest's own hash may lose its name: what the manifest says is as it was.
            assert left_out or (name == "manifest.json" and "after 8 steps" in told), f"{what}: {told}"
            assert place < head or re.search("the bytes of '[a-z_]+/.+' are others than were written", told), f"{what}: no state is named: {told}"
            faulty.assert_equal(what)


def check_cut_manifest(tool, work):
    """A manifest that is cut anywhere, and one without a checkpoint before it."""
    faulty = Faulty(tool, work)
    code, told = faulty.run(steps=8)
    assert code == 0, told
    path = os.path.join(faulty.folder, "step-00000008", "manifest.json")
    with open(path, "rb") as file:
        whole = file.read()
    for length in (0, 1, len(whole) // 3, len(whole) - 3):
        with open(path, "wb") as file:
            file.write(whole[:length])
        code, told = faulty.run(steps=6)
        assert code == 0 and "manifest.json' is cut off or damaged" in told and "after 4 steps" in told, f"{length} bytes: {told}"
        shutil.rmtree(os.path.join(faulty.folder, "step-00000006"))
    shutil.rmtree(os.path.join(faulty.folder, "step-00000004"))
    code, told = faulty.run()
    assert code == 1 and "has no checkpoint that is whole" in told and path in told, told


def check_format(tool, work):
    """A checkpoint as the first version wrote it, after 5 of 8 steps of two ranks, stays readable."""
    draw = np.random.Generator(np.random.PCG64(5))
    write_model(work, [helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")], {"x": (TensorProto.FLOAT, [12, 5])}, {"y": (TensorProto.FLOAT, [12, 4])},
                {"w": draw.standard_normal((5, 4)).astype(np.float32)})
    data = os.path.join(work, "data.npz")
    np.savez(data, x=draw.standard_normal((8, 12, 5)).astype(np.float32), labels=draw.standard_normal((8, 12, 4)).astype(np.float32))
    training = Training(tool, work, data, {"loss": "mse_mean", "optimizer": {"kind": "adam", "lr": 0.01}}, 8, work)
    program = training.compile("--ranks 3 --strategy data")
    errors = [training.run(program, "whole", 8), training.run(program, "parts", 8, "--resume", os.path.join(INPUTS, "checkpoint-format-1"))]
    assert not any(errors), errors
    mine, theirs = (load_file(training.path(name + ".safetensors"))["w"] for name in ("parts", "whole"))
    assert np.allclose(mine, theirs, rtol=1e-5, atol=1e-6), "the parameters differ"
    done = subprocess.run([tool, "checkpoint", "verify", os.path.join(INPUTS, "checkpoint-format-1")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def main():
    arguments = arguments_of_cases(__doc__)
    arguments.add_argument("--kills", type=int, default=30)
    options = arguments.parse_args()
    checks = {
        "calls": lambda work: check_calls(options.tool, work, options.full),
        "replaced": lambda work: check_replaced(options.tool, work),
        "full disk": lambda work: check_full_disk(options.tool, work, options.full),
        "read-only": lambda work: check_read_only(options.tool, work),
        "other disk": lambda work: check_other_disk(options.tool, work),
        "kills": lambda work: check_kills(options.tool, work, options.kills),
        "two runs": lambda work: check_two_runs(options.tool, work),
        "flips": lambda work: check_flips(options.tool, work, options.full),
        "cut manifest": lambda work: check_cut_manifest(options.tool, work),
        "an older format": lambda work: check_format(options.tool, work),
    }
    chosen = options.cases or list(checks)
    return report([(name, lambda name=name: checks[name](os.path.join(options.folder, name.replace(" ", "-")))) for name in chosen])


if __name__ == "__main__":
    sys.exit(main())
