"""The derivative of each operator at singular points, ties and limits: those of Inputs/derivatives.json, which are PyTorch's.

    python test/Execution/run_derivatives.py TOOL IMPORTER FOLDER [--target emulated] [--case NAME ...]

Each case of derivatives.py is a node, or a few, whose parameters are trained for a step; all are one model. An operator of the
importer's table is in a case or named below with what its derivative is. The last line counts.
"""

import argparse
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

from derivatives import CASES, MOST, agree, load
from training_runs import Runs, report, write_model

OPSET = 28
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE}

# Operators without a case.
MOVES = """AffineGrid CenterCropPad Col2Im Compress Concat ConcatFromSequence Constant ConstantOfShape DepthToSpace Expand Flatten GatherND Loop If Scan Pad
    Range Reshape ReverseSequence Scatter ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceMap Slice
    SpaceToDepth Split SplitToSequence Squeeze TensorScatter Tile Transpose Trilu Unsqueeze OneHot Dropout MaxUnpool"""
LINEAR = "Cast CastLike DFT STFT Resize Upsample RotaryEmbedding DequantizeLinear RoiAlign MeanVarianceNormalization"
NO_FLOATS = """And ArgMax ArgMin BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor ConvInteger Equal EyeLike Greater GreaterOrEqual IsInf IsNaN Less
    LessOrEqual MatMulInteger NonZero Not Or SequenceLength Shape Size Xor BlackmanWindow HammingWindow HannWindow MelWeightMatrix"""
FLAT = "BitCast DynamicQuantizeLinear Hardmax QLinearConv QLinearMatMul QuantizeLinear"
OF_OTHERS = "GRU LSTM RNN CausalConvWithState LinearAttention ai.onnx.preview.FlexAttention"
REFUSED = "CumProd"
WITHOUT_CASE = {operator: why for operators, why in (
    (MOVES, "moves elements or zeros"), (LINEAR, "is linear, or has no singular point in its range"), (NO_FLOATS, "has no float inputs or no float results"),
    (FLAT, "is constant almost everywhere"), (OF_OTHERS, "is made of functions that have cases"),
    (REFUSED, "has no derivative, which a recipe is told")) for operator in operators.split()}


def check_operators(importer):
    table = subprocess.run([importer, "--print-ops"], capture_output=True, text=True, check=True).stdout
    known = {line.split(";")[0] for line in table.splitlines()}
    tested = set().union(*(case.operators for case in CASES))
    missing = known - tested - set(WITHOUT_CASE)
    assert not missing, f"no case in derivatives.py, nor a reason here, for {sorted(missing)}"
    assert not (unknown := (tested | set(WITHOUT_CASE)) - known), f"no operators of the table: {sorted(unknown)}"
    both = tested & set(WITHOUT_CASE) - set(NO_FLOATS.split())
    assert not both, f"with a case and a reason for none: {sorted(both)}"


def renamed(node, names, prefix):
    """A copy that reads and makes tensors of this case alone."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for side in (copy.input, copy.output):
        side[:] = [names.setdefault(name, f"{prefix}/{name}") if name else name for name in side]
    return copy


def write(folder, cases, table, dtype):
    """All cases as one model: y is the results of all, times the input. Returns the labels for gradients of 1 + |y|."""
    nodes, weights, parts, results = [], {}, [], []
    for number, case in enumerate(cases):
        prefix, names = f"c{number}", {}
        nodes += [renamed(node, names, prefix) for node in case.nodes]
        for name, value in {**case.parameters, **case.constants}.items():
            weights[f"{prefix}/{name}"] = value.astype(dtype) if value.dtype == np.float32 else value
        nodes.append(helper.make_node("Reshape", [f"{prefix}/y", "all"], [f"{prefix}/flat"]))
        parts.append(f"{prefix}/flat")
        results.append(table[case.name]["y"].reshape(-1))
    y = np.concatenate(results)
    nodes += [helper.make_node("Concat", parts, ["results"], axis=0), helper.make_node("Mul", ["results", "x"], ["y"])]
    port = (TYPES[np.dtype(dtype)], [y.size])
    write_model(folder, nodes, {"x": port}, {"y": port}, {**weights, "all": np.array([-1], np.int64)}, OPSET)
    usable = np.isfinite(y) & (np.abs(y) < MOST)
    seed = np.where(usable, 1 + np.abs(y), 0)
    return (np.where(usable, y, 0) - y.size / 2 * seed).astype(dtype)


def compare(case, number, table, gradients):
    """What is wrong with the gradients of the parameters, or None."""
    wrong = []
    for name, want in table[case.name]["gradients"].items():
        # One that no gradient reaches is not there: it is flat everywhere.
        got = gradients.get(f"c{number}/{name}", np.zeros(want.shape)).astype(np.float64)
        for at in np.argwhere(~(agree(got, want) | np.isnan(want))):
            at = tuple(at)
            wrong.append(f"{name}{list(map(int, at))} = {case.parameters[name][at]:g}: {got[at]:.5g} for {want[at]:.5g}")
    assert not wrong, f"{len(wrong)} wrong: " + "; ".join(wrong[:8])


def train(tool, folder, cases, table, dtype, way):
    labels = write(folder, cases, table, dtype)
    names = [f"c{number}/{name}" for number, case in enumerate(cases) for name in case.parameters]
    runs = Runs(tool, folder, way, {"loss": "mse_mean", "optimizer": {"kind": "sgd", "lr": 0.0}, "trainable": names})
    error = runs.compile()
    assert not error, error
    np.savez(runs.path("data.npz"), x=np.ones((1, labels.size), dtype), labels=labels[None])
    # The loss of the largest values is infinite, with which the program ends by 1; the gradients are those of each value by itself.
    done = subprocess.run([runs.path("model"), "--data", runs.path("data.npz"), "--steps", "1", "--gradients", runs.path("gradients.safetensors")],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 or "the loss was not finite" in done.stderr, done.stderr[-400:]
    return runs.gradients()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tool", "importer", "folder"):
        arguments.add_argument(name)
    arguments.add_argument("--target")
    arguments.add_argument("--case", action="append")
    options = arguments.parse_args()
    cases = [case for case in CASES if not options.case or case.name in options.case]
    table = load()
    checks = [("operators", lambda: check_operators(options.importer))]
    way = f"--target {options.target}" if options.target else ""
    for dtype in (np.float32, np.float64):
        gradients = {}
        checks.append((f"{dtype.__name__}: trains", lambda dtype=dtype, to=gradients: to.update(
            train(options.tool, options.folder, cases, table, dtype, way))))
        checks += [(f"{dtype.__name__}: {case.name}", lambda case=case, number=number, of=gradients: compare(case, number, table, of))
                   for number, case in enumerate(cases)]
    return report(checks)


if __name__ == "__main__":
    raise SystemExit(main())
