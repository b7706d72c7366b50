"""Programs of several entries in a session: each entry computes what it computes alone, and weights and states are there once.

    python test/Execution/run_session_entries.py TOOL FOLDER

A perceptron of 50 MB, a sum and a cache that go from step to step, in entries of several sizes, on ranks and on the emulated device. What the session holds is measured. The last line counts.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from onnx import TensorProto, helper

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from expected import expect_error  # noqa: E402
from programs import error_of  # noqa: E402
from training_runs import report, write_model  # noqa: E402

WAYS = ["--ranks 1", "--ranks 2", "--ranks 3", "--ranks 2 --strategy layer --micro-batches 1", "--ranks 2 --target emulated"]
FLOAT = TensorProto.FLOAT
MB = 1000 * 1000


def write_perceptron(folder, width, layers):
    random = np.random.Generator(np.random.PCG64(7))
    nodes, weights, last = [], {}, "x"
    for layer in range(layers):
        weights[f"w{layer}"] = random.standard_normal((width, width)).astype(np.float32) / np.float32(np.sqrt(width))
        weights[f"b{layer}"] = random.standard_normal(width).astype(np.float32)
        if layer % 2:  # as PyTorch stores them
            nodes.append(helper.make_node("Gemm", [last, f"w{layer}", f"b{layer}"], [f"a{layer}"], name=f"fc{layer}", transB=1))
        else:
            nodes += [helper.make_node("MatMul", [last, f"w{layer}"], [f"m{layer}"], name=f"fc{layer}"),
                      helper.make_node("Add", [f"m{layer}", f"b{layer}"], [f"a{layer}"], name=f"add{layer}")]
        nodes.append(helper.make_node("Tanh", [f"a{layer}"], [f"h{layer}"], name=f"tanh{layer}"))
        last = f"h{layer}"
    nodes.append(helper.make_node("Identity", [last], ["y"], name="last"))
    write_model(folder, nodes, {"x": (FLOAT, ["batch", width])}, {"y": (FLOAT, ["batch", width])}, weights)


def write_window(folder):
    """A sum that goes from step to step, of rows of x: as many as the entry says."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="fc"), helper.make_node("ReduceSum", ["h", "rows"], ["s"], name="sum", keepdims=0),
             helper.make_node("Add", ["total", "s"], ["total.next"], name="add"), helper.make_node("Mul", ["total.next", "two"], ["y"], name="mul")]
    random = np.random.Generator(np.random.PCG64(8))
    write_model(folder, nodes, {"x": (FLOAT, ["rows", 6]), "total": (FLOAT, [8])}, {"y": (FLOAT, [8]), "total.next": (FLOAT, [8])},
                {"w": random.standard_normal((6, 8)).astype(np.float32), "rows": np.array([0], np.int64), "two": np.float32(2)})


def compile_entries(tool, folder, program, way, entries, *options):
    command = [tool, "compile", os.path.join(folder, "model.onnx"), "-o", program, *way.split(), *options]
    for entry in entries:
        command += ["--entry", entry]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def of_entry(program, entry, inputs):
    """What the executable computes, which loads that entry alone."""
    outputs, _ = autopar.Program(program).run(inputs, options=["--entry", entry])
    return outputs


def check_results(tool, folder, number, way):
    program = os.path.join(folder, f"program{number}")
    table = compile_entries(tool, folder, program, way, ["batch=1", "batch=8", "batch=64"])
    assert re.search(r"^shares +\d+ tensors? \(.* a device\) with entry batch=1, batch=8$", table, re.M), table
    assert "copies " not in table and "no more " not in table, table
    random = np.random.Generator(np.random.PCG64(9))
    inputs = {rows: random.standard_normal((rows, 96)).astype(np.float32) for rows in (1, 8, 64)}
    wanted = {rows: of_entry(program, f"batch={rows}", {"x": x})["y"] for rows, x in inputs.items()}
    with autopar.load(program) as session:
        assert [entry.name for entry in session.entries] == ["batch=1", "batch=8", "batch=64"], session.entries
        for rows in (1, 64, 8, 1, 8, 64, 64, 1):
            assert session.run({"x": inputs[rows]})["y"].tobytes() == wanted[rows].tobytes(), f"batch {rows} differs from the entry alone"
        assert session.run({"x": inputs[8]}, entry="batch=8")["y"].tobytes() == wanted[8].tobytes()
        for rows in (8, 1):  # by the library's own calls
            told = session._usual_of(f"batch={rows}").run({"x": inputs[rows]})
            assert told["y"].tobytes() == wanted[rows].tobytes(), f"the usual call of batch {rows} differs"
        expect_error(lambda: session.run({"x": inputs[8][:5]}), "no entry takes the inputs x float32[5, 96]; the entries:", "batch=8: x float32[8, 96]")
        expect_error(lambda: session.run({"x": inputs[8]}, entry="batch=1"), "input 'x' is float32[8, 96] but the program expects float32[1, 96]")
        expect_error(lambda: session.run({"x": inputs[8]}, entry="batch=2"), "no entry is called 'batch=2'; the entries:")
        expect_error(lambda: session.run({"x": inputs[8].astype(np.float64)}), "input 'x' is float64[8, 96]")
    with autopar.load(program, entry="batch=8") as session:
        assert len(session.entries) == 1
        assert session.run({"x": inputs[8]})["y"].tobytes() == wanted[8].tobytes()
    with autopar.load(program) as session:  # two entries from two threads, then after submit, then closed
        with ThreadPoolExecutor(2) as pool:
            told = list(pool.map(lambda rows: session.run({"x": inputs[rows]}, entry=f"batch={rows}")["y"].tobytes() == wanted[rows].tobytes(), [8, 64] * 50))
        assert all(told), f"{told.count(False)} of {len(told)} calls of two threads differ"
        future = session.submit({"x": inputs[64]})
        assert session.run({"x": inputs[8]}, entry="batch=8")["y"].tobytes() == wanted[8].tobytes() and future.result()["y"].tobytes() == wanted[64].tobytes()
        session.close()
        expect_error(lambda: session.run({"x": inputs[8]}, entry="batch=8"), "is closed")


def check_states(tool, folder, number, way):
    """One entry goes on where another one ended."""
    program = os.path.join(folder, f"program{number}")
    compile_entries(tool, folder, program, way, ["rows=1", "rows=16"], "--state", "total=total.next")
    x = np.random.Generator(np.random.PCG64(10)).standard_normal((17, 6)).astype(np.float32)
    with autopar.load(program) as session:
        assert [state.name for state in session.states] == ["total"], session.states
        session.run({"x": x[:16]})
        session.run({"x": x[16:]})
        both = session.read_state("total", entry="rows=1")
        assert both.tobytes() == session.read_state("total", entry="rows=16").tobytes()
        session.write_state("total", np.zeros(8, np.float32))
        assert not session.read_state("total", entry="rows=16").any()
    with autopar.load(program, entry="rows=1") as alone:
        for row in x:
            alone.run({"x": row[None]})
        assert np.allclose(alone.read_state("total"), both, rtol=1e-5, atol=1e-5)


def write_cache(folder):
    """Rows that join those before them; each is added to the sum of all."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="fc"), helper.make_node("Concat", ["past", "h"], ["present"], name="join", axis=0),
             helper.make_node("ReduceSum", ["present", "rows"], ["s"], name="sum", keepdims=1), helper.make_node("Add", ["h", "s"], ["y"], name="add")]
    write_model(folder, nodes, {"x": (FLOAT, ["tokens", 8]), "past": (FLOAT, ["t", 8])}, {"y": (FLOAT, ["tokens", 8]), "present": (FLOAT, ["t+tokens", 8])},
                {"w": np.eye(8, dtype=np.float32), "rows": np.array([0], np.int64)})


def check_cache(tool, folder, number, way):
    """A prompt in one entry, then row by row in another one, on one cache."""
    program = os.path.join(folder, f"program{number}")
    compile_entries(tool, folder, program, way, ["tokens=16", "tokens=1"], "--bind", "t=40", "--state", "past=present")
    x = np.random.Generator(np.random.PCG64(11)).standard_normal((20, 8)).astype(np.float32)
    with autopar.load(program) as session:
        assert sorted(state.name for state in session.states) == ["past", "t/extent"], session.states
        rows = [session.run({"x": x[:16]})["y"]] + [session.run({"x": x[row:row + 1]})["y"] for row in range(16, 20)]
        for end, got in zip((16, 17, 18, 19, 20), rows):
            wanted = x[end - len(got):end] + x[:end].sum(0)
            assert np.allclose(got, wanted, rtol=1e-5, atol=1e-5), f"{end} rows: {np.abs(got - wanted).max()}"
        assert session.read_state("t/extent") == 20


def check_ranks(tool, folder, target):
    """A program for several numbers of ranks computes with each what one for that number alone does."""
    program, way, entries = os.path.join(folder, f"ranks-{target}"), f"--target {target}", ["batch=1", "batch=8"]
    compile_entries(tool, folder, program, f"--ranks 2,1,3 {way}", entries)
    random = np.random.Generator(np.random.PCG64(12))
    inputs = [random.standard_normal((rows, 96)).astype(np.float32) for rows in (1, 8)]
    for ranks in (2, 1, 3):
        compile_entries(tool, folder, program + "-alone", f"--ranks {ranks} {way}", entries)
        wanted = [of_entry(program + "-alone", f"batch={len(x)}", {"x": x})["y"].tobytes() for x in inputs]
        with autopar.load(program, ranks=ranks) as session:
            assert [entry.name for entry in session.entries] == entries, session.entries
            assert [session.run({"x": x})["y"].tobytes() for x in inputs] == wanted, f"{ranks} ranks differ from a program for them alone"
            assert session.report()["ranks"] == ranks
        for x, bytes_wanted in zip(inputs, wanted):
            outputs, told = autopar.Program(program).run({"x": x}, options=["--ranks", str(ranks)])
            assert outputs["y"].tobytes() == bytes_wanted and told["ranks"] == ranks, f"the executable on {ranks} ranks"
    with autopar.load(program) as session:
        session.run({"x": inputs[0]})
        assert session.report()["ranks"] == 2  # the first
    expect_error(lambda: autopar.load(program, ranks=4), "the program was compiled for 2, 1 or 3 ranks, not for 4")
    expect_error(lambda: autopar.load(program, ranks=3, entry="batch=2"), "no entry for 3 ranks is called 'batch=2'; the entries: 'batch=1', 'batch=8'")
    expect_error(lambda: autopar.load(program, ranks=0), "ranks is 0, but must be 1 or more")


def check_state_of_ranks(tool, folder):
    """A state is whole: it goes on with another number of ranks."""
    program = os.path.join(folder, "ranks-of-state")
    compile_entries(tool, folder, program, "--ranks 1,2,3", ["rows=1"], "--state", "total=total.next")
    x = np.random.Generator(np.random.PCG64(13)).standard_normal((6, 1, 6)).astype(np.float32)
    total = None
    for number, ranks in enumerate((1, 3, 2)):
        with autopar.load(program, ranks=ranks) as session:
            if total is not None:
                session.write_state("total", total)
            for row in x[2 * number:2 * number + 2]:
                session.run({"x": row})
            total = session.read_state("total")
    with autopar.load(program) as session:
        for row in x:
            session.run({"x": row})
        assert np.allclose(session.read_state("total"), total, rtol=1e-6, atol=1e-6)


HELD = """
import autopar, glob, numpy, os, sys
def private(process):
    with open(f"/proc/{process}/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
def workers(program):
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(folder + "/cmdline") as file:
                if file.read().split("\\0")[0] == program:
                    yield os.path.basename(folder)
        except OSError:
            pass
program, entry, rows, width = sys.argv[1], sys.argv[2] or None, sys.argv[3], int(sys.argv[4])
before = private("self")
session = autopar.load(program, entry=entry, threads=1)
for count in map(int, rows.split(",")):
    for _ in range(2):
        session.run({"x": numpy.ones((count, width), numpy.float32)})
print((private("self") - before + sum(map(private, workers(program)))) * 1024)
"""


def held(program, entry, rows, width):
    """Bytes that a session of these entries holds, by the system's count, workers among it."""
    done = subprocess.run([sys.executable, "-c", HELD, program, entry, ",".join(map(str, rows)), str(width)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def check_memory(tool, folder, way, small, large):
    program, width = os.path.join(folder, "program-" + re.sub(r"\W+", "", way)), 1440
    compile_entries(tool, folder, program, way, [f"batch={small}", f"batch={large}"])
    alone = [held(program, f"batch={rows}", [rows], width) for rows in (small, large)]
    both = held(program, "", [small, large], width)
    print(f"memory, {way}: batch={small} alone {alone[0] / MB:.1f} MB, batch={large} alone {alone[1] / MB:.1f} MB, both {both / MB:.1f} MB", flush=True)
    assert min(alone) > 50 * MB, "the weights are not counted"
    assert both < max(alone) + 5 * MB, "the entries do not hold their weights once"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    folders = {name: os.path.join(arguments.folder, name) for name in ("small", "large", "window", "cache")}
    write_perceptron(folders["small"], 96, 3)
    write_perceptron(folders["large"], 1440, 6)
    write_window(folders["window"])
    write_cache(folders["cache"])
    checks = []
    for number, way in enumerate(WAYS):
        checks.append((f"results, {way}", lambda number=number, way=way: check_results(arguments.tool, folders["small"], number, way)))
        if "layer" not in way:
            checks.append((f"cache, {way}", lambda number=number, way=way: check_cache(arguments.tool, folders["cache"], number, way)))
            checks.append((f"states, {way}", lambda number=number, way=way: check_states(arguments.tool, folders["window"], number, way)))
    for target in ("cpu", "emulated"):
        checks.append((f"several numbers of ranks, {target}", lambda target=target: check_ranks(arguments.tool, folders["small"], target)))
    checks.append(("states on several numbers of ranks", lambda: check_state_of_ranks(arguments.tool, folders["window"])))
    for way in ("--ranks 1", "--ranks 2"):
        for small, large in ((1, 8), (8, 64)):
            checks.append((f"memory, {way}, {small} and {large}",
                           lambda way=way, small=small, large=large: check_memory(arguments.tool, folders["large"], way, small, large)))
    sys.exit(report(checks))


if __name__ == "__main__":
    main()
