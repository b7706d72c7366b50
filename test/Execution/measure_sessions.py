"""What a session costs beside its executable: a call beside a step, memory, idle time, and the first answer of a fresh Python beside onnxruntime's.

    python test/Execution/measure_sessions.py TOOL FOLDER [--calls 10000] [--first gpt2-124m]

Calls: mlp and gpt2-tiny of ../shared/models/small on 1, 2 and 4 ranks; results are the executable's bit for bit, medians of a call and of a step by turns, and of the
steps within the calls; how far memory grows in as many further calls. Idle: two sessions of two ranks, whose processors' time in ten seconds. Requests: a pipeline of two
stages for throughput, seconds by steps of submit() beside those of the executable. First answer: a model of ../shared/models/graphs with weights by make_weights.py, compiled ahead; import, opening and
one step in a process of its own, by turns with onnxruntime's, five times each.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from programs import error_of  # noqa: E402
from run_full_models import make_weights  # noqa: E402
from run_session_faults import processes_of  # noqa: E402
from run_sessions import resident  # noqa: E402
from shared_models import MAKE_WEIGHTS, SMALL, end_without  # noqa: E402

FIRST = {
    "autopar": "import autopar; session = autopar.load({program!r}); run = session.run",
    "onnxruntime": "import onnxruntime; session = onnxruntime.InferenceSession({model!r}, providers=['CPUExecutionProvider']); run = lambda feeds: session.run(None, feeds)",
}
TIMED = """
import time
import numpy as np
feeds = dict(np.load({inputs!r}))
between = time.perf_counter()
{body}
run(feeds)
print(time.perf_counter() - between)
"""


def compiled(tool, folder, work, *options):
    os.makedirs(work, exist_ok=True)
    program = os.path.join(work, "program")
    error = error_of(tool, "compile", os.path.join(folder, "model.onnx"), "-o", program, *options, timeout=1800)
    assert not error, error
    return program


def measure_calls(tool, work, calls):
    for name in ("mlp", "gpt2-tiny"):
        with np.load(os.path.join(SMALL, name, "inputs.npz")) as arrays:
            inputs = dict(arrays)
        for ranks in (1, 2, 4):
            program = compiled(tool, os.path.join(SMALL, name), os.path.join(work, f"{name}-{ranks}"), "--ranks", str(ranks))
            steps, medians, within = [], [], []
            with autopar.load(program) as session:
                wanted = None
                for part in range(10):  # by turns, for the host's speed changes
                    outputs, stats = autopar.Program(program).run(inputs, options=["--warm-up", "50", "--repeat", str(max(calls // 10, 1))])
                    steps.append(stats["seconds_per_step"]["median"])
                    wanted = wanted or outputs
                    seconds, results = [], []
                    for call in range(calls // 10):
                        start = time.perf_counter()
                        result = session.run(inputs)
                        seconds.append(time.perf_counter() - start)
                        if call >= calls // 10 * 9 // 10:  # looked at afterwards; to keep all would be to measure new memory
                            results.append(result)
                    for result in results:
                        assert all(result[key].tobytes() == value.tobytes() for key, value in wanted.items()), "a result differs from the executable's"
                    medians.append(statistics.median(seconds))
                    within.append(session.report()["seconds_per_step"]["median"])
                before = resident()  # what was kept to be compared came and went
                for _ in range(calls):
                    session.run(inputs)
                grown = resident() - before
            step, call, own = (statistics.median(values) * 1e6 for values in (steps, medians, within))
            print(f"{name} on {ranks} ranks, {calls} calls, of which a tenth were compared and equal: a step {step:.1f} us, a call {call:.1f} us, {call - step:+.1f} us ({call - own:+.1f} us over "
                  f"its own step); memory of as many further calls {grown // 1024:+d} KiB", flush=True)


def ticks(process):
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def measure_idle(tool, work):
    program = compiled(tool, os.path.join(SMALL, "mlp"), os.path.join(work, "idle"), "--ranks", "2")
    with np.load(os.path.join(SMALL, "mlp", "inputs.npz")) as arrays:
        inputs = dict(arrays)
    with autopar.load(program) as one, autopar.load(program) as two:
        for session in (one, two):
            session.run(inputs)
        processes = [*processes_of(os.path.abspath(program)), os.getpid()]
        before = sum(map(ticks, processes))
        time.sleep(10)
        used = (sum(map(ticks, processes)) - before) / os.sysconf("SC_CLK_TCK")
    print(f"two idle sessions of two ranks, {len(processes)} processes: {used * 1000:.0f} ms of a core in 10 s", flush=True)


def measure_requests(tool, name, folder, work, steps):
    program = compiled(tool, folder, work, "--ranks", "2", "--strategy", "layer", "--objective", "throughput")
    with np.load(os.path.join(folder, "inputs.npz")) as arrays:
        inputs = dict(arrays)
    theirs, ours = [], []
    with autopar.load(program) as session:
        for _ in range(5):
            _, stats = autopar.Program(program).run(inputs, options=["--warm-up", "5", "--repeat", str(steps)], outputs=False)
            theirs.append(sum(stats[part][0] for part in ("compute_seconds", "exposed_communication_seconds", "idle_seconds")))  # the median leaves out what holds up some steps
            for future in [session.submit(inputs) for _ in range(5)]:
                future.result()
            start = time.perf_counter()
            for future in [session.submit(inputs, []) for _ in range(steps)]:
                future.result()
            ours.append((time.perf_counter() - start) / steps)
    executable, session = statistics.median(theirs), statistics.median(ours)
    print(f"{name}, two stages for throughput: seconds by steps {executable * 1e6:.0f} us of the executable, {session * 1e6:.0f} us of a session, ratio {session / executable:.3f}", flush=True)


def measure_first(tool, work, name):
    folder = os.path.join(work, name)
    program = compiled(tool, folder, os.path.join(work, f"{name}-program"))
    paths = {"program": program, "model": os.path.join(folder, "model.onnx"), "inputs": os.path.join(folder, "inputs.npz")}
    seconds = {who: [] for who in FIRST}
    for _ in range(5):
        for who, body in FIRST.items():
            code = TIMED.format(inputs=paths["inputs"], body=body.format(**paths))
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
            assert done.returncode == 0, done.stderr
            seconds[who].append(float(done.stdout))
    ours, theirs = (statistics.median(seconds[who]) for who in FIRST)
    print(f"{name}, first answer of a fresh process, import included: autopar {ours:.3f} s, onnxruntime {theirs:.3f} s, ratio {ours / theirs:.2f}", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--calls", type=int, default=10000)
    arguments.add_argument("--first", default="gpt2-124m", help='"": none')
    options = arguments.parse_args()
    end_without(MAKE_WEIGHTS)
    measure_calls(options.tool, options.folder, options.calls)
    measure_idle(options.tool, options.folder)
    measure_requests(options.tool, "gpt2-tiny", os.path.join(SMALL, "gpt2-tiny"), os.path.join(options.folder, "requests"), 2000)
    if options.first:
        folder = os.path.join(options.folder, options.first)
        make_weights(options.first, folder)
        measure_requests(options.tool, options.first, folder, os.path.join(options.folder, "large-requests"), 20)
        measure_first(options.tool, options.folder, options.first)


if __name__ == "__main__":
    main()
