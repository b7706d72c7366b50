"""Programs loaded into a Python process: their results are the executable's bit for bit.

    python test/Execution/run_sessions.py TOOL FOLDER [--calls N]

A model of the test and, where they are, four of the shared ones, on one rank and several: N calls each (300) in one process, whose memory must not grow; what a call
takes beside a step of the executable is printed. A training takes its steps batch by batch: losses and parameters are those of a run with --log and --final. The last line counts.
"""

import argparse
import glob
import json
import os
import statistics
import sys
import tempfile
import time
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from safetensors.numpy import load_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from expected import expect_error  # noqa: E402
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


def check_model(program, inputs, calls, what):
    """The same as the executable, again and again."""
    outputs, stats = autopar.Program(program).run(inputs, options=["--warm-up", "20", "--repeat", "200"])
    with autopar.load(program) as session:
        for _ in range(50):
            result = session.run(inputs)
        grown, seconds = [], []
        while len(grown) < 3 and min(grown, default=MIB) >= MIB:  # what leaks grows each time, a heap that settles does not
            before = resident()
            for _ in range(calls):
                start = time.perf_counter()
                result = session.run(inputs)
                seconds.append(time.perf_counter() - start)
            grown.append(resident() - before)
    assert set(result) == set(outputs), f"{sorted(result)} for {sorted(outputs)}"
    for name, wanted in outputs.items():
        assert result[name].tobytes() == wanted.tobytes(), f"output {name} differs from the executable's"
    assert min(grown) < MIB, f"memory grew by {grown} bytes in {calls} calls each"
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
        saved = os.path.join(folder, "saved.safetensors")
        trainer.save(saved)
        for ours, theirs in (("saved", "final"), ("saved.average", "final.average")):
            ours, theirs = (load_file(os.path.join(folder, name + ".safetensors")) for name in (ours, theirs))
            assert {name: value.tobytes() for name, value in ours.items()} == {name: value.tobytes() for name, value in theirs.items()}
        trainer["w"] = np.full_like(final["w"], np.nan)
        expect_error(lambda: trainer.save(saved), "parameter 'w' is not finite", "stays as it was")
        assert np.isfinite(load_file(saved)["w"]).all() and os.path.exists(saved + ".not-finite")
        expect_error(lambda: trainer.step([batches[0]["x"]]), "inputs are a list: give a dict")
        expect_error(lambda: trainer.evaluate({}), "made without evaluate=True")
    with autopar.Trainer(model, RECIPE, evaluate=True) as trainer:
        for batch, line in zip(batches, log):
            step, outputs = trainer.step(batch), trainer.evaluate({"x": batch["x"]})
            assert np.allclose(outputs["y"], batch["x"] @ trainer["w"] + trainer["b"], rtol=1e-5, atol=1e-6) and abs(step.loss - line["loss"]) < 1e-5
    for recipe, evaluate in ((RECIPE, True), ({**RECIPE, "last_batch": "pad"}, False)):
        with autopar.Trainer(model, recipe, evaluate=evaluate) as trainer, autopar.Trainer(model, RECIPE) as other:
            counted = [info for info in trainer.session.entries[0].inputs if info.role == "counted_rows"]
            assert len(counted) == ("last_batch" in recipe)
            for number, (batch, line) in enumerate(zip(batches, log)):
                assert trainer._usual_step({**batch, "more": batch["x"]}) is None
                rows = {info.name: np.ones(info.shape, info.dtype) for info in counted if number % 2}  # may be left out, or given
                loss = float(trainer._usual_step({**batch, **rows})["loss"])
                assert abs(loss - line["loss"]) < 1e-5 and abs(other.step(batch).loss - loss) < 1e-6
            assert np.allclose(trainer["w"], other["w"], rtol=1e-5, atol=1e-6)
        expect_error(lambda: trainer.step(batches[0]), "is closed")
    expect_error(lambda: autopar.Trainer(model, RECIPE, batch=12), "batch= is no argument here", "give bind={'batch': 12}", "unknown option '--batch'")
    with autopar.Trainer(onnx.load(model), {**RECIPE, "optimizer": {"kind": "adam", "lr": np.float32(0.01)}}) as trainer:
        trainer.load(os.path.join(folder, "saved.safetensors"))
        assert trainer["w"].tobytes() == final["w"].tobytes()
        trainer["w"] = np.zeros_like(final["w"])
        assert not trainer["w"].any()


def check_inference(model, inputs):
    """The calls of onnxruntime."""
    session = autopar.InferenceSession(model, providers=["CPUExecutionProvider"], ranks=2)
    theirs = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for mine, other in ((session.get_inputs(), theirs.get_inputs()), (session.get_outputs(), theirs.get_outputs())):
        assert [(port.name, port.shape, port.type) for port in mine] == [(port.name, port.shape, port.type) for port in other]
    wanted = theirs.run(["y"], inputs)[0]
    results = session.run(None, {name: np.asfortranarray(value) for name, value in inputs.items()})
    assert isinstance(results, list) and np.allclose(results[0], wanted, rtol=1e-5, atol=1e-6)
    expect_error(lambda: autopar.InferenceSession(model, providers=["CUDAExecutionProvider"]), "provider 'CUDAExecutionProvider'")
    for made in (session, theirs):
        binding = made.io_binding()
        for name, value in inputs.items():
            binding.bind_cpu_input(name, value)
        memory = np.zeros_like(wanted)
        binding.bind_output("y", "cpu", 0, memory.dtype, memory.shape, memory.ctypes.data)
        made.run_with_iobinding(binding)
        assert np.allclose(memory, wanted, rtol=1e-5, atol=1e-6)
        binding.clear_binding_outputs()
        binding.bind_output("y")
        made.run_with_iobinding(binding)
        assert np.allclose(binding.copy_outputs_to_cpu()[0], wanted, rtol=1e-5, atol=1e-6)
    expect_error(lambda: session.io_binding().bind_input("words", "cpu", 0, np.int64, (6, 4), 0), "'words': the address is null")
    assert len(session.run([], inputs)) == 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        chosen = onnxruntime.SessionOptions()
        chosen.intra_op_num_threads = 1
        made = autopar.InferenceSession(model, chosen, ["CUDAExecutionProvider", "CPUExecutionProvider"])
    said = [str(warning.message) for warning in told]
    assert made.session.threads == 1 and "'CUDAExecutionProvider' is left out" in said[0] and "only intra_op_num_threads has an effect" in said[1], said
    expect_error(lambda: autopar.InferenceSession(model, {}), "sess_options is a dict")
    for made, name in ((session, "run_async"), (autopar, "set_seed")):
        try:
            getattr(made, name)
        except AttributeError as error:
            assert f"{name!r}" in str(error) and "docs/PyTorchUsers.md lists" in str(error), error
        else:
            raise AssertionError(f"there is a {name}")
    expect_error(lambda: autopar.load(model, ranks="2"), "ranks is '2', but must be a whole number")
    expect_error(lambda: session.io_binding().bind_output("y", "cuda"), "'y': memory of 'cuda' cannot be bound")


def script(ort, folder, model):
    """What users write for onnxruntime, with `import autopar as ort`."""
    assert "CPUExecutionProvider" in ort.get_available_providers() and ort.get_device() == "CPU"
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.add_free_dimension_override_by_name("rows", 3)
    options.add_session_config_entry("session.use_env_allocators", "1")
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    assert session.get_session_options().intra_op_num_threads == 1
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    value = ort.OrtValue.ortvalue_from_numpy(x)
    run_options, about = ort.RunOptions(), session.get_modelmeta()
    run_options.log_severity_level = 3
    told = [about.graph_name, about.version, about.custom_metadata_map, options.get_session_config_entry("session.use_env_allocators"), value.shape(), value.data_type(), value.device_name(), value.is_tensor(), value.has_value()]
    results = [session.run_with_ort_values(["y"], {"x": value}, run_options)[0].numpy()]
    value.update_inplace(x + 1)
    binding, y = session.io_binding(), ort.OrtValue.ortvalue_from_shape_and_type([3, 4], np.float32)
    binding.bind_ortvalue_input("x", value)
    binding.bind_ortvalue_output("y", y)
    session.run_with_iobinding(binding)
    return told, results + [y.numpy().copy(), binding.get_outputs()[0].numpy()]


def check_script(folder):
    w = np.arange(20, dtype=np.float32).reshape(5, 4)
    write_model(folder, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (TensorProto.FLOAT, ["rows", 5])}, {"y": (TensorProto.FLOAT, ["rows", 4])}, {"w": w})
    model = os.path.join(folder, "model.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (told, mine), (wanted, theirs) = script(autopar, folder, model), script(onnxruntime, folder, model)
    assert told == wanted, (told, wanted)
    assert all(np.allclose(one, other) for one, other in zip(mine, theirs)), (mine, theirs)
    def profile():
        autopar.SessionOptions().enable_profiling = True
    expect_error(lambda: autopar.InferenceSession(model, options=["--bind", "rows=3"]).run(None, {"x": w[:3, :1]}, 5), "run_options are a int: give autopar.RunOptions")
    expect_error(profile, "SessionOptions.enable_profiling is not known here; known: intra_op_num_threads")
    expect_error(lambda: autopar.OrtValue.ortvalue_from_numpy(w, "cuda"), "memory of 'cuda'")
    expect_error(lambda: autopar.OrtValue(w).update_inplace(w.astype(np.float64)), "the value is float32[5, 4], the array float64[5, 4]")


def own_folders():
    return glob.glob(os.path.join(tempfile.gettempdir(), "autopar-*"))


def check_nothing_left(folder):
    """What a session or a trainer was compiled to is gone once it is loaded: a process that is killed removes nothing."""
    w = np.ones((5, 4), np.float32)
    write_model(folder, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (TensorProto.FLOAT, [2, 5])}, {"y": (TensorProto.FLOAT, [2, 4])}, {"w": w})
    model = os.path.join(folder, "model.onnx")
    before = set(own_folders())
    sessions = [autopar.InferenceSession(model), autopar.InferenceSession(onnx.load(model))]
    trainer = autopar.Trainer(onnx.load(model), {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.1}})
    assert not set(own_folders()) - before, set(own_folders()) - before
    x = np.ones((2, 5), np.float32)
    assert all(np.array_equal(session.run(None, {"x": x})[0], x @ w) for session in sessions)
    assert trainer.step({"x": x, "labels": np.zeros((2, 4), np.float32)}).loss == 25


def check_open_sizes(folder):
    """A size that the model leaves open is that of the inputs; each program after the first is told."""
    w = np.arange(20, dtype=np.float32).reshape(5, 4)
    write_model(folder, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (TensorProto.FLOAT, ["rows", 5])}, {"y": (TensorProto.FLOAT, ["rows", 4])}, {"w": w})
    session = autopar.InferenceSession(os.path.join(folder, "model.onnx"), keep=2)
    assert session.get_inputs() == [("x", ["rows", 5], "tensor(float)")]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for rows in (3, 7, 3, 2, 3):  # 7 goes when 2 comes
            x = np.ones((rows, 5), np.float32)
            assert np.array_equal(session.run(None, {"x": x})[0], x @ w)
    said = [str(warning.message) for warning in told]
    assert len(said) == 2 and all(f"compiled anew, for rows={rows}:" in text for rows, text in zip((7, 2), said)), said
    expect_error(lambda: session.run(None, {"x": np.ones(5, np.float32)}), "input 'x' has 1 dimensions but the model's has 2")
    expect_error(lambda: session.run(None, {}), "input 'x' is missing")


def check_requests(tool, folder):
    """Steps under way: the results of each are its own, errors too; a pipeline for throughput has room for several."""
    w = np.random.default_rng(3).standard_normal((8, 8)).astype(np.float32)
    names = ["x", "a", "b", "c", "y"]
    write_model(folder, [helper.make_node("MatMul", [names[i], "w"], [names[i + 1]]) for i in range(4)], {"x": (TensorProto.FLOAT, ["rows", 8])},
                {"y": (TensorProto.FLOAT, ["rows", 8])}, {"w": w})
    model = os.path.join(folder, "model.onnx")
    pipeline = "--ranks 3 --strategy layer --objective throughput"
    for way, room, rows in (("--ranks 1 --bind rows=4", 1, [4]), ("--ranks 2 --bind rows=4", 1, [4]), (pipeline + " --bind rows=4", 4, [4]),
                            (pipeline + " --entry rows=4 --entry rows=1 --entry rows=3", 4, [4, 4, 1, 3, 4, 1, 1])):
        compile_model(tool, model, os.path.join(folder, "program"), way)
        xs = [np.full((rows[i % len(rows)], 8), i, np.float32) for i in range(60)]
        with autopar.load(os.path.join(folder, "program")) as session:
            assert session.slots == room, f"{way}: {session.slots} slots"
            wanted = [session.run({"x": x})["y"] for x in xs]
            futures = [session.submit({"x": x}) for x in xs]
            wrong = session.submit({"x": np.zeros((2, 8), np.float32)})
            later = session.run({"x": xs[5]})["y"]
            assert all(np.array_equal(future.result(60)["y"], y) for future, y in zip(futures, wanted)), way
            said = "input 'x' is float32[2, 8]" if len(rows) == 1 else "no entry takes the inputs x float32[2, 8]"
            assert said in str(wrong.exception(60)) and np.array_equal(later, wanted[5])
            left = session.submit({"x": xs[1]})
        assert np.array_equal(left.result(0)["y"], wanted[1]), "close() did not wait"


def check_report(program, inputs, folder):
    """A session tells what the executable does: the same keys, and a trace of the same ops."""
    _, theirs = autopar.Program(program).run(inputs, options=["--trace", os.path.join(folder, "theirs.json")])
    with autopar.load(program) as session:
        expect_error(session.report, "no step has been taken that was measured")
        for _ in range(5):
            session.run(inputs)
        report = session.report()
        assert report["steps"] == 5 and set(theirs) - set(report) == {"trace_events_dropped"}, sorted(set(theirs) ^ set(report))
        assert 0 < report["seconds_per_step"]["min"] <= report["seconds_per_step"]["median"] <= report["seconds_per_step"]["max"]
        for key in ("peak_memory_bytes", "bytes_sent", "predicted_step_seconds"):
            assert report[key] == theirs[key], f"{key}: {report[key]} for {theirs[key]}"
        with session.trace(os.path.join(folder, "ours.json")):
            session.run(inputs)
        session.run(inputs)
        assert session.report()["steps"] == 1
    events = []
    for name in ("theirs.json", "ours.json"):
        with open(os.path.join(folder, name)) as file:
            events.append(sorted((event["pid"], event["name"]) for event in json.load(file)["traceEvents"]))
    assert events[0] == events[1], f"{len(events[1])} events for {len(events[0])}"


def check_kept(tool, folder):
    """Results that the caller keeps stay what they are, and are given back when it drops them."""
    w = np.random.default_rng(4).standard_normal((64, 64)).astype(np.float32)
    write_model(folder, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (TensorProto.FLOAT, [64, 64])}, {"y": (TensorProto.FLOAT, [64, 64])}, {"w": w})
    for ranks in (1, 2):
        compile_model(tool, os.path.join(folder, "model.onnx"), os.path.join(folder, "program"), f"--ranks {ranks}")
        with autopar.load(os.path.join(folder, "program")) as session:
            sizes = []
            for _ in range(4):
                kept = [session.run({"x": np.full((64, 64), i, np.float32)}) for i in range(1000)]
                one = kept[1]["y"]
                assert len({result["y"].ctypes.data for result in kept}) == 1000 and len({id(result["y"]) for result in kept}) == 1000
                assert all(np.allclose(result["y"], i * one, rtol=1e-5) and result["y"].flags.owndata for i, result in enumerate(kept)) and one.any()
                del kept, one
                sizes.append(resident())
            assert min(later - before for before, later in zip(sizes, sizes[1:])) < MIB, f"{ranks} ranks: memory grew to {sizes}"


def check_types(tool, folder):
    """The usual call takes arrays of each type, also read-only ones, and gives what the call by names gives."""
    names = {"f": TensorProto.FLOAT, "d": TensorProto.DOUBLE, "e": TensorProto.FLOAT16, "b": TensorProto.INT8, "B": TensorProto.UINT8, "h": TensorProto.INT16,
             "H": TensorProto.UINT16, "i": TensorProto.INT32, "I": TensorProto.UINT32, "l": TensorProto.INT64, "L": TensorProto.UINT64, "?": TensorProto.BOOL}
    write_model(folder, [helper.make_node("Concat", [f"x{i}"] * 2, [f"y{i}"], axis=0) for i in range(len(names))],
                {f"x{i}": (kind, [3]) for i, kind in enumerate(names.values())}, {f"y{i}": (kind, [6]) for i, kind in enumerate(names.values())}, {})
    compile_model(tool, os.path.join(folder, "model.onnx"), os.path.join(folder, "program"), "--ranks 1")
    with autopar.load(os.path.join(folder, "program")) as session:
        feeds = {f"x{i}": np.array([0, 1, 1]).astype(name) for i, name in enumerate(names)}
        feeds["x0"].flags.writeable = False
        calls = session._usual_of(None)
        usual, named = calls.run(feeds), session.run(feeds, list(session.run(feeds)))
        assert list(usual) == list(named) == [f"y{i}" for i in range(len(names))]
        for name, value in usual.items():
            assert value.dtype == named[name].dtype == feeds["x" + name[1:]].dtype and value.tolist() == named[name].tolist() == feeds["x" + name[1:]].tolist() * 2, name
        others = feeds["x9"].astype("q"), np.concatenate([feeds["x9"]] * 2)[1:4]  # 64-bit integers have two types
        assert all(calls.run({**feeds, "x9": other}) for other in others) and not any(calls.request(feeds, wanted) for wanted in (["y0"], "", (), 0))
        for wrong in ({"x9": feeds["x9"].astype("i")}, {"x9": feeds["x9"].astype(">i8")}, {"x9": feeds["x9"].tolist()}, {"x1": feeds["x1"][:2]}, {"y": feeds["x1"]},
                      {"x1": feeds["x1"][::-1]}, {"x1": feeds["x1"][None]}, {"x1": np.zeros(25, np.uint8)[1:].view(np.float64)}, {"x1": feeds["x1"].view(np.matrix)}):
            assert calls.run({**feeds, **wrong}) is None is calls.request({**feeds, **wrong}, None), wrong


def check_fixed(tool, folder):
    """An input that --bind gave a value may be left out or have that value."""
    write_model(folder, [helper.make_node("ReduceSum", ["x", "axes"], ["y"])], {"x": (TensorProto.FLOAT, [3, 4]), "axes": (TensorProto.INT64, [1])},
                {"y": (TensorProto.FLOAT, [1, 4])}, {})
    error = error_of(tool, "compile", os.path.join(folder, "model.onnx"), "-o", os.path.join(folder, "program"), "--bind", "axes=[0]")
    assert not error, error
    x = np.ones((3, 4), np.float32)
    with autopar.load(os.path.join(folder, "program")) as session:
        assert [(info.name, info.shape) for info in session.fixed_inputs] == [("axes", (1,))]
        for feeds in ({"x": x}, {"x": x, "axes": np.array([0])}):
            assert session.run(feeds)["y"].tolist() == [[3, 3, 3, 3]]
        expect_error(lambda: session.run({"x": x, "axes": np.array([1])}), "input 'axes' is [0] of i64[1] in this program, as --bind gave it")
        expect_error(lambda: session.run({"x": x, "axes": np.array([0, 1])}), "input 'axes' is int64[2] but the program expects int64[1]")
    backend = autopar.backend.prepare(onnx.load(os.path.join(folder, "model.onnx")))
    assert backend.run([x, np.array([0])])[0].tolist() == [[3, 3, 3, 3]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert backend.run({"x": x, "axes": np.array([1])})["y"].shape == (3, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("folder")
    parser.add_argument("--calls", type=int, default=300)
    arguments = parser.parse_args()
    os.environ["TMPDIR"] = tempfile.tempdir = os.path.join(arguments.folder, "temporary")  # what other processes make is not seen
    os.makedirs(tempfile.tempdir, exist_ok=True)
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
    for number in (0, 1, 3):
        program = os.path.join(arguments.folder, f"recommender-{number}", "program")
        checks.append((f"report, {WAYS[number]}", lambda program=program: check_report(program, good_inputs(), os.path.dirname(program))))
    checks.append(("trainer", lambda: check_trainer(os.path.join(arguments.folder, "trainer"))))
    checks.append(("inference session", lambda: check_inference(os.path.join(made, "model.onnx"), good_inputs())))
    checks.append(("a script of onnxruntime", lambda: check_script(os.path.join(arguments.folder, "script"))))
    checks.append(("nothing left", lambda: check_nothing_left(os.path.join(arguments.folder, "left"))))
    checks.append(("open sizes", lambda: check_open_sizes(os.path.join(arguments.folder, "open"))))
    checks.append(("requests", lambda: check_requests(arguments.tool, os.path.join(arguments.folder, "requests"))))
    checks.append(("results that are kept", lambda: check_kept(arguments.tool, os.path.join(arguments.folder, "kept"))))
    checks.append(("types", lambda: check_types(arguments.tool, os.path.join(arguments.folder, "types"))))
    checks.append(("fixed inputs", lambda: check_fixed(arguments.tool, os.path.join(arguments.folder, "fixed"))))
    sys.exit(report(checks))


if __name__ == "__main__":
    main()
