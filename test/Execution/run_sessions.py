"""Programs loaded into a Python process: their results are the executable's bit for bit, and what is given wrongly is an error that says what was expected.

    python test/Execution/run_sessions.py TOOL FOLDER [--calls N]

A model of the test and, where they are, four of the shared ones, on one rank and several: N calls each (300) in one process, whose memory must not grow; what a call
takes beside a step of the executable is printed. A training takes its steps batch by batch: losses and parameters are those of a run with --log and --final. The last line counts.
"""

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from safetensors.numpy import load_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from programs import error_of  # noqa: E402
from run_indices import good_inputs, write_recommender  # noqa: E402
from shared_models import SMALL, absence_of  # noqa: E402
from training_runs import Runs, report, write_model  # noqa: E402

SHARED = ["mlp", "gpt2-tiny", "lenet", "lstm-lm"]
WAYS = ["--ranks 1", "--ranks 2", "--ranks 3", "--ranks 4 --strategy layer --micro-batches 2", "--ranks 2 --target emulated"]
MIB = 1 << 20
RECIPE = {"loss": "mse_mean", "optimizer": {"kind": "adam", "lr": 0.01}, "average": 0.9}


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def compile_model(tool, model, program, way):
    error = error_of(tool, "compile", model, "-o", program, *way.split())
    assert not error, error


def expect_error(body, *parts):
    try:
        body()
    except autopar.AutoparError as error:
        for part in parts:
            assert part in str(error), f"no {part!r} in: {error}"
        return
    raise AssertionError(f"no error, but one with {parts[0]!r} was expected")


def check_model(program, inputs, calls, what):
    """The same as the executable, again and again."""
    outputs, stats = autopar.Program(program).run(inputs, options=["--warm-up", "20", "--repeat", "200"])
    with autopar.load(program) as session:
        for _ in range(50):
            result = session.run(inputs)
        before, seconds = resident(), []
        for _ in range(calls):
            start = time.perf_counter()
            result = session.run(inputs)
            seconds.append(time.perf_counter() - start)
        grown = resident() - before
    assert set(result) == set(outputs), f"{sorted(result)} for {sorted(outputs)}"
    for name, wanted in outputs.items():
        assert result[name].tobytes() == wanted.tobytes(), f"output {name} differs from the executable's"
    assert grown < MIB, f"memory grew by {grown} bytes in {calls} calls"
    step, call = stats["seconds_per_step"]["median"], statistics.median(seconds)
    print(f"{what}: a step of the executable {step * 1e6:.1f} us, a call {call * 1e6:.1f} us", flush=True)


def write_layer(folder):
    random = np.random.Generator(np.random.PCG64(5))
    write_model(folder, [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Add", ["h", "b"], ["y"])],
                {"x": (TensorProto.FLOAT, [12, 5])}, {"y": (TensorProto.FLOAT, [12, 4])},
                {"w": random.standard_normal((5, 4)).astype(np.float32), "b": np.zeros(4, np.float32)})
    return {"x": random.standard_normal((9, 12, 5)).astype(np.float32), "labels": random.standard_normal((9, 12, 4)).astype(np.float32)}


def check_training(tool, folder, way):
    data = write_layer(folder)
    runs = Runs(tool, folder, way, RECIPE)
    log, final = runs.train(data)
    averages = load_file(runs.path("final.average.safetensors"))
    with autopar.load(runs.path("model")) as session:
        roles = {info.role: info.name for info in session.outputs}
        for step, line in enumerate(log):
            outputs = session.run({name: array[step] for name, array in data.items()})
            loss = float(outputs[roles["loss"]])
            assert loss == line["loss"], f"step {step}: loss {loss}, the log has {line['loss']}"
        for name in final:
            assert session.read_state(name, "model").tobytes() == final[name].tobytes(), f"parameter {name} differs"
            assert session.read_state(name, "average").tobytes() == averages[name].tobytes(), f"average of {name} differs"
        expect_error(lambda: session.read_state("w"), "there are 2 states 'w': say which by role=, one of 'model', 'average'")
        first = {name: array[0] for name, array in data.items()}
        session.write_state("w", np.zeros_like(final["w"]), "model")
        session.write_state("b", np.zeros_like(final["b"]), "model")
        outputs = session.run(first)
        wanted = np.mean(np.square(data["labels"][0], dtype=np.float64))
        assert abs(float(outputs[roles["loss"]]) - wanted) < 1e-6 * wanted, "the loss is not that of the parameters that were written"


def check_trainer(folder):
    """Steps of a trainer are those of the executable; what it saves, it loads."""
    data = write_layer(folder)
    model = os.path.join(folder, "model.onnx")
    runs = Runs(autopar.find_tool(), folder, "--ranks 2", RECIPE)
    log, final = runs.train(data)
    batches = [{name: array[step] for name, array in data.items()} for step in range(len(log))]
    seen = []
    with autopar.Trainer(model, RECIPE, ranks=2) as trainer:
        last = trainer.fit(batches, seen.append)
        assert [step.loss for step in seen] == [line["loss"] for line in log] and last.number == len(log) - 1
        assert sorted(trainer.parameters) == ["b", "w"]
        for name, value in final.items():
            assert trainer[name].tobytes() == value.tobytes(), f"parameter {name} differs"
        trainer.save(os.path.join(folder, "saved.safetensors"))
    with autopar.Trainer(onnx.load(model), RECIPE) as trainer:
        trainer.load(os.path.join(folder, "saved.safetensors"))
        assert trainer["w"].tobytes() == final["w"].tobytes()
        trainer["w"] = np.zeros_like(final["w"])
        assert not trainer["w"].any()


def check_inference(model, inputs, wanted):
    """The calls of onnxruntime."""
    session = autopar.InferenceSession(model, providers=["CPUExecutionProvider"], ranks=2)
    theirs = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for mine, other in ((session.get_inputs(), theirs.get_inputs()), (session.get_outputs(), theirs.get_outputs())):
        assert [(port.name, port.shape, port.type) for port in mine] == [(port.name, port.shape, port.type) for port in other]
    results = session.run(None, inputs)
    assert isinstance(results, list) and np.allclose(results[0], wanted, rtol=1e-5, atol=1e-6)
    assert np.allclose(session.run(["y"], inputs)[0], theirs.run(["y"], inputs)[0], rtol=1e-5, atol=1e-6)
    expect_error(lambda: autopar.InferenceSession(model, providers=["CUDAExecutionProvider"]), "provider 'CUDAExecutionProvider'")


class Wrong:
    """What is given wrongly, to a recommender."""

    def __init__(self, program):
        self.program, self.inputs = program, good_inputs()
        self.session = autopar.load(program)
        self.wanted = self.session.run(self.inputs)["y"]

    def expect(self, change, *parts):
        expect_error(lambda: self.session.run({**self.inputs, **change}), *parts)
        assert self.session.run(self.inputs)["y"].tobytes() == self.wanted.tobytes(), "the session is not what it was"

    def names(self):
        self.expect({"word": self.inputs["words"]}, "no input 'word'", "its inputs: pairs int32[6, 2], words int64[6, 4]")
        self.expect({"words": None}, "input 'words' is missing: it is words int64[6, 4]")
        expect_error(lambda: self.session.run(self.inputs, ["z"]), "no output 'z'", "its outputs: y float32[6, 8]")
        expect_error(lambda: self.session.read_state("w"), "no state 'w'", "its states: none")

    def types(self):
        self.expect({"words": self.inputs["words"].astype(np.int32)}, "input 'words' is int32[6, 4] but the program expects int64[6, 4]; nothing is cast")
        self.expect({"words": self.inputs["words"].astype(">i8")}, "input 'words' is >i8[6, 4]")
        self.expect({"words": self.inputs["words"].tolist()}, "input 'words' is a list")
        self.expect({"words": self.inputs["words"].astype(object)}, "input 'words' is object[6, 4]")

    def shapes(self):
        self.expect({"words": self.inputs["words"][:5]}, "input 'words' is int64[5, 4] but the program expects int64[6, 4]")
        self.expect({"words": self.inputs["words"].reshape(24)}, "input 'words' is int64[24]")

    def strides(self):
        self.expect({"words": np.asfortranarray(self.inputs["words"])}, "input 'words' is not dense in row-major order", "ascontiguousarray")
        bytes_ = np.zeros(6 * 4 * 8 + 1, np.uint8)[1:]
        self.expect({"words": bytes_.view(np.int64).reshape(6, 4)}, "input 'words' is not aligned")

    def indices(self):
        words = self.inputs["words"].copy()
        words[2, 3] = 57
        self.expect({"words": words}, "input 'words' has 57 at [2, 3]: the table 'words.weight' has 30 rows")

    def results(self):
        fixed = np.empty((6, 8), np.float32)
        assert self.session.run(self.inputs, out={"y": fixed})["y"] is fixed and fixed.tobytes() == self.wanted.tobytes()
        assert self.session.run(self.inputs, []) == {}
        fixed.flags.writeable = False
        expect_error(lambda: self.session.run(self.inputs, out={"y": fixed}), "output 'y': the array is read-only")
        expect_error(lambda: self.session.run(self.inputs, out={"y": fixed[:3]}), "output 'y' is float32[3, 8]")
        frozen = self.inputs["words"].copy()
        frozen.flags.writeable = False  # of an input that is fine
        assert self.session.run({**self.inputs, "words": frozen})["y"].tobytes() == self.wanted.tobytes()

    def options(self):
        expect_error(lambda: autopar.load(self.program, entry="big"), "no entry is called 'big'")
        expect_error(lambda: autopar.load(self.program, threads=-1), "threads and timeout_seconds may not be negative")
        expect_error(lambda: autopar.load(self.program, weights="/nowhere"), "/nowhere")
        expect_error(lambda: autopar.load("/nowhere/model"), "/nowhere/model")
        expect_error(lambda: autopar.load(__file__), "has no program of autopar")
        assert autopar.load(self.program, threads=1).threads == 1

    def closed(self):
        session = autopar.load(self.program)
        session.close()
        session.close()
        expect_error(lambda: session.run(self.inputs), "is closed")
        assert "closed" in repr(session)

    def threads(self):
        failures = []

        def work():
            for _ in range(200):
                if self.session.run(self.inputs)["y"].tobytes() != self.wanted.tobytes():
                    failures.append("another result")
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not failures, failures[0]

    def forked(self):
        child = os.fork()
        if child == 0:
            try:
                expect_error(lambda: self.session.run(self.inputs), "before this process was forked")
                self.session.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0, "the child did not get an error"
        assert self.session.run(self.inputs)["y"].tobytes() == self.wanted.tobytes()

    def ends(self):
        """An interpreter that ends with a session ends well."""
        code = f"import autopar; session = autopar.load({self.program!r}); print(session.threads)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
        assert done.returncode == 0 and not done.stderr, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("folder")
    parser.add_argument("--calls", type=int, default=300)
    arguments = parser.parse_args()
    made = os.path.join(arguments.folder, "recommender")
    write_recommender(made)
    models = {"recommender": (made, good_inputs())}
    for name in SHARED if not absence_of(SMALL) else []:
        with np.load(os.path.join(SMALL, name, "inputs.npz")) as arrays:
            models[name] = os.path.join(SMALL, name), dict(arrays)
    checks = []
    for name, (folder, inputs) in models.items():
        for number, way in enumerate(WAYS if name in ("recommender", "gpt2-tiny") else WAYS[:2]):
            def check(name=name, folder=folder, inputs=inputs, number=number, way=way):
                work = os.path.join(arguments.folder, f"{name}-{number}")
                os.makedirs(work, exist_ok=True)
                compile_model(arguments.tool, os.path.join(folder, "model.onnx"), os.path.join(work, "program"), way)
                check_model(os.path.join(work, "program"), inputs, arguments.calls, f"{name}, {way}")
            checks.append((f"{name}, {way}", check))
    for way in WAYS[:3] + WAYS[4:]:
        checks.append((f"training, {way}", lambda way=way: check_training(arguments.tool, os.path.join(arguments.folder, "layer"), way)))
    program = os.path.join(made, "program")
    compile_model(arguments.tool, os.path.join(made, "model.onnx"), program, "--ranks 2")
    wrong = Wrong(program)
    checks.append(("trainer", lambda: check_trainer(os.path.join(arguments.folder, "trainer"))))
    checks.append(("inference session", lambda: check_inference(os.path.join(made, "model.onnx"), wrong.inputs, wrong.wanted)))
    checks += [(name, getattr(wrong, name)) for name in
               ("names", "types", "shapes", "strides", "indices", "results", "options", "closed", "threads", "forked", "ends")]
    sys.exit(report(checks))


if __name__ == "__main__":
    main()
