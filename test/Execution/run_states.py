"""Models whose outputs are inputs of the next step, against onnxruntime called step by step.

    python test/Execution/run_states.py TOOL FOLDER [--steps N]

Gradient descent written in ONNX, an average with two states that change places, a window over the last inputs that the same step
reads, a decoder whose cache grows; on ranks and on the emulated device, with N steps (default 20; one case has 50 times as many). The last line counts.
"""

import argparse
import os
import re

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from decoder_model import decoder
from programs import compile_and_run

F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(
        nodes, "states", [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs],
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in outputs],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def descent(random):
    """Two layers that learn: batch 6, 5 features, 7 hidden, 3 targets; the third state counts."""
    node = helper.make_node
    nodes = [
        node("MatMul", ["x", "w1"], ["z"], name="z"), node("Relu", ["z"], ["h"], name="h"), node("MatMul", ["h", "w2"], ["y"], name="y"),
        node("Sub", ["y", "t"], ["d"], name="d"), node("Mul", ["d", "d"], ["dd"], name="dd"),
        node("ReduceMean", ["dd"], ["loss"], name="loss", keepdims=0),
        node("Transpose", ["h"], ["ht"], name="ht"), node("MatMul", ["ht", "d"], ["g2"], name="g2"),
        node("Transpose", ["w2"], ["w2t"], name="w2t"), node("MatMul", ["d", "w2t"], ["gh"], name="gh"),
        node("Greater", ["z", "zero"], ["on"], name="on"), node("Where", ["on", "gh", "zero"], ["gz"], name="gz"),
        node("Transpose", ["x"], ["xt"], name="xt"), node("MatMul", ["xt", "gz"], ["g1"], name="g1"),
        node("Mul", ["g1", "rate"], ["s1"], name="s1"), node("Sub", ["w1", "s1"], ["w1.next"], name="w1.next"),
        node("Mul", ["g2", "rate"], ["s2"], name="s2"), node("Sub", ["w2", "s2"], ["w2.next"], name="w2.next"),
        node("Add", ["n", "one"], ["n.next"], name="n.next"), node("Mul", ["n", "n"], ["squared"], name="squared")]
    made = model(nodes, [("x", F32, [6, 5]), ("t", F32, [6, 3]), ("w1", F32, [5, 7]), ("w2", F32, [7, 3]), ("n", I64, [])],
                 [("loss", F32, []), ("y", F32, [6, 3]), ("squared", I64, []), ("w1.next", F32, [5, 7]), ("w2.next", F32, [7, 3]), ("n.next", I64, [])],
                 [("zero", np.float32(0)), ("rate", np.float32(0.02)), ("one", np.int64(1))])
    first = {"w1": random.standard_normal((5, 7)).astype(np.float32) / 2, "w2": random.standard_normal((7, 3)).astype(np.float32) / 2}
    return made, {"w1": "w1.next", "w2": "w2.next", "n": "n.next"}, first


def exchange(random):
    """An average, and two states that change places."""
    node = helper.make_node
    nodes = [node("Mul", ["a", "half"], ["faded"], name="faded"), node("Add", ["faded", "x"], ["a.next"], name="a.next"),
             node("Identity", ["c"], ["b.next"], name="b.next"), node("Add", ["b", "x"], ["c.next"], name="c.next"),
             node("Sub", ["b", "c"], ["difference"], name="difference"), node("Add", ["difference", "a.next"], ["y"], name="y")]
    shape = [7, 4]
    made = model(nodes, [(name, F32, shape) for name in "xabc"], [(name, F32, shape) for name in ("y", "a.next", "b.next", "c.next")],
                 [("half", np.float32(0.5))])
    return made, {"a": "a.next", "b": "b.next", "c": "c.next"}, {"c": random.standard_normal(shape).astype(np.float32)}


def window(random):
    """The last five inputs of three sequences, which the step that adds one attends to."""
    node = helper.make_node
    nodes = [node("Slice", ["kept", "from", "to", "axis"], ["later"], name="later"), node("Concat", ["later", "x"], ["kept.next"], name="kept.next", axis=1),
             node("Transpose", ["kept.next"], ["keys"], name="keys", perm=[0, 2, 1]), node("MatMul", ["x", "keys"], ["scores"], name="scores"),
             node("Softmax", ["scores"], ["shares"], name="shares", axis=-1), node("MatMul", ["shares", "kept.next"], ["y"], name="y")]
    made = model(nodes, [("x", F32, [3, 1, 4]), ("kept", F32, [3, 5, 4])], [("y", F32, [3, 1, 4]), ("kept.next", F32, [3, 5, 4])],
                 [("from", np.array([1])), ("to", np.array([5])), ("axis", np.array([1]))])
    return made, {"kept": "kept.next"}, {}


MODELS = {"descent": descent, "exchange": exchange, "window": window, "decoder": decoder,
          "decoder-pairs": lambda random: decoder(random, tokens=2), "decoder-goes-on": lambda random: decoder(random, cached=3)}
CASES = [("descent", "--ranks 1"), ("descent", "--ranks 2 --strategy data"), ("descent", "--ranks 2"), ("descent", "--ranks 3"),
         ("descent", "--ranks 4 --strategy data"), ("descent", "--ranks 5"),
         ("descent", "--ranks 1 --target emulated"), ("descent", "--ranks 2 --target emulated --strategy data"),
         ("descent", "--ranks 3 --target emulated"), ("exchange", "--ranks 1"), ("exchange", "--ranks 2"),
         ("exchange", "--ranks 3 --strategy data"), ("exchange", "--ranks 2 --target emulated --strategy data"), ("window", "--ranks 1"),
         ("window", "--ranks 2 --strategy data"), ("window", "--ranks 3"), ("window", "--ranks 2 --target emulated --strategy data"),
         *(("decoder", f"--bind past=24 --ranks {how}") for how in
           ("1", "2", "3 --strategy data", "4 --strategy tensor", "4 --mesh batch=2,heads=2", "2 --target emulated --strategy tensor")),
         ("decoder-pairs", "--bind past=40 --ranks 1"), ("decoder-pairs", "--bind past=40 --ranks 3"),
         ("decoder-goes-on", "--bind past=24 --ranks 2")]


def held(first, options):
    """What states begin as, as the program takes it: rows of a cache stand at the start of its buffer."""
    size = re.search(r"past=(\d+)", options)
    if not size:
        return first
    arrays = {}
    for name, array in first.items():
        arrays[name] = np.zeros((*array.shape[:2], int(size.group(1)), array.shape[3]), array.dtype)
        arrays[name][:, :, :array.shape[2]] = array
        arrays["past/extent"] = np.int64(array.shape[2])
    return arrays


def expected(folder, data, states, first, shapes, steps):
    """Outputs that are no states, and those that are, step by step."""
    values = {name: first.get(name, np.zeros(shape, dtype)) for name, (shape, dtype) in shapes.items() if name in states}
    session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), providers=["CPUExecutionProvider"])
    names, outputs, nexts = [output.name for output in session.get_outputs()], {}, {}
    for step in range(steps):
        got = dict(zip(names, session.run(None, {**{name: array[step % len(array)] for name, array in data.items()}, **values})))
        for name, array in got.items():
            (nexts if name in states.values() else outputs).setdefault(name, []).append(array)
        values = {name: got[output] for name, output in states.items()}
    return {name: np.stack(arrays) for name, arrays in outputs.items()}, nexts


def state_difference(folder, nexts):
    """What differs of the states after each step, or None; a cache is given in the size of its buffer, zero where it is not in use."""
    for name, arrays in nexts.items():
        got = np.load(os.path.join(folder, name + ".npy"))
        for step, array in enumerate(arrays):
            want = np.zeros(got.shape[1:], array.dtype)
            want[tuple(slice(size) for size in array.shape)] = array
            if got.dtype != array.dtype or not np.allclose(got[step], want, rtol=2e-4, atol=2e-5):
                return f"{name} differs after step {step}"
    return None


def attempt(tool, folder, name, options, steps):
    random = np.random.default_rng(7)
    made, states, first = MODELS[name](random)
    os.makedirs(folder, exist_ok=True)
    onnx.save(made, os.path.join(folder, "model.onnx"))
    kinds = {F32: np.float32, I64: np.int64}
    shapes = {info.name: ([dim.dim_value for dim in info.type.tensor_type.shape.dim], kinds[info.type.tensor_type.elem_type])
              for info in made.graph.input}
    # Fewer than steps: they start over.
    data = {key: (5 * random.standard_normal([min(steps, 13), *shape]) % 29).astype(dtype) if dtype == np.int64 else
            random.standard_normal([min(steps, 13), *shape]).astype(dtype) for key, (shape, dtype) in shapes.items() if key not in states}
    np.savez(os.path.join(folder, "inputs.npz"), **data, **held(first, options))
    demands = [word for state, output in states.items() for word in ("--state", f"{state}={output}")]
    asked = [word for output in states.values() for word in ("--outputs", f"{output}={os.path.join(folder, output)}.npy")]
    if error := compile_and_run(tool, folder, *options.split(), *demands, run=["--steps", str(steps), *asked]):
        return error
    want, nexts = expected(folder, data, states, first, shapes, steps)
    with np.load(os.path.join(folder, "out.npz")) as got:
        if sorted(got.files) != sorted(want):
            return f"the outputs are {sorted(got.files)}, not {sorted(want)}"
        for key, array in want.items():
            if got[key].shape != array.shape or not np.allclose(got[key], array, rtol=2e-4, atol=2e-5):
                return f"{key} differs by {np.abs(got[key] - array).max() if got[key].shape == array.shape else got[key].shape}"
    return state_difference(folder, nexts)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--steps", type=int, default=20)
    options = arguments.parse_args()
    cases = [(name, how, options.steps) for name, how in CASES] + [("descent", "--ranks 2", 1000)]
    failed = 0
    for number, (name, how, steps) in enumerate(cases):
        error = attempt(options.tool, os.path.join(options.folder, str(number)), name, how, steps)
        failed += error is not None
        print(f"FAIL: {name} {how}: {error}" if error else f"ok: {name} {how}, {steps} steps", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
