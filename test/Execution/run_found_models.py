"""Small models that once had wrong results or crashed the compiler, against onnxruntime: which byte holds an element.

    python test/Execution/run_found_models.py AUTOPAR WORK_FOLDER [NAME ...]

Each case is a model and why it is here. They run on 1, 2 and 3 ranks and on the emulated device. One line per case; the last counts.
"""

import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

from autopar.compare import compare  # noqa: E402

RUNS = [("cpu", 1), ("cpu", 2), ("cpu", 3), ("emulated", 1), ("emulated", 2)]
CASES = {}


class Model:
    """Nodes one after the other; each call takes names and gives the name of its first result."""

    def __init__(self, seed=1):
        self.random = np.random.default_rng(seed)
        self.nodes, self.inputs, self.constants, self.outputs = [], {}, {}, []

    def input(self, *shape):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.random.standard_normal(shape).astype(np.float32)
        return name

    def constant(self, values, dtype=np.int64):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.array(values, dtype)
        return name

    def weight(self, *shape):
        return self.constant(self.random.standard_normal(shape) / np.sqrt(np.prod(shape[1:])), np.float32)

    def op(self, kind, *operands, results=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(kind, operands, names, **attributes))
        return names[0] if results == 1 else names

    def conv(self, value, channels, filters, kernel=3, **attributes):
        kernel = [kernel, kernel] if isinstance(kernel, int) else kernel
        attributes.setdefault("pads", [size // 2 for size in kernel] * 2)
        groups = attributes.get("group", 1)
        return self.op("Conv", value, self.weight(filters, channels // groups, *kernel), self.weight(filters), **attributes)

    def reshape(self, value, *shape):
        return self.op("Reshape", value, self.constant(shape))

    def slice(self, value, dim, start, end):
        return self.op("Slice", value, self.constant([start]), self.constant([end]), self.constant([dim]))

    def proto(self):
        graph = helper.make_graph(
            self.nodes, "found", [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in self.inputs.items()],
            [helper.make_empty_tensor_value_info(name) for name in self.outputs],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)


def case(function):
    CASES[function.__name__] = function
    return function


#
# A digit of a digit: what is left of a flat index after a slice does not end where the next dimension's cycle ends
#


@case
def cropped_windows(m):
    """Windows put together to an image of which fewer rows are kept."""
    tiled = m.op("Transpose", m.reshape(m.input(6, 3, 4, 5), 3, 2, 3, 4, 5), perm=[0, 2, 1, 3, 4])
    yield m.slice(m.reshape(tiled, 9, 8, 5), 0, 0, 7)


@case
def cropped_then_cut(m):
    """The rows kept are cut into other pieces before they are read."""
    turned = m.op("Transpose", m.reshape(m.input(14, 6), 7, 2, 6), perm=[1, 0, 2])
    yield m.reshape(m.slice(m.reshape(turned, 12, 7), 0, 0, 7), 7, 7)


@case
def uneven_strides(m):
    """A transposed convolution that spreads rows alone, of one channel."""
    yield m.op("ConvTranspose", m.input(1, 1, 4, 5), m.weight(1, 1, 3, 3), strides=[2, 1])


#
# In place: another output reads an input in another order of memory than the one written over it
#


@case
def activation_beside_reshape(m):
    """The activation is an output with channels last; the sum reads it row-major."""
    active = m.op("HardSwish", m.conv(m.input(1, 4, 6, 5), 4, 8))
    yield active
    yield m.op("Add", m.reshape(active, 1, 48, 5), m.input(1, 48, 5))


@case
def two_orders_of_one_sum(m):
    """Both outputs could lie over the convolution's result, in two orders."""
    image = m.conv(m.input(1, 3, 5, 4), 3, 6)
    total = m.op("Add", image, m.input(1, 6, 5, 4))
    yield total
    yield m.op("Mul", m.reshape(total, 1, 30, 4), m.input(1, 30, 4))


#
# Views: a reshape of memory that is not row-major
#


@case
def reshape_without_refinement(m):
    """The same sizes in another order: no dimension of one is made of the other's."""
    yield m.reshape(m.conv(m.input(1, 3, 6, 4), 3, 9), 1, 4, 9, 6)


@case
def reshape_without_refinement_read(m):
    image = m.reshape(m.op("Relu", m.conv(m.input(1, 3, 6, 4), 3, 9)), 1, 4, 9, 6)
    yield m.conv(image, 4, 5, 1)
    yield m.op("Sigmoid", image)


@case
def depth_to_space(m):
    """The convolution's image is one pixel: channels last and row-major are the same memory."""
    yield m.op("DepthToSpace", m.conv(m.input(1, 4, 1, 1), 4, 16), blocksize=2)


@case
def depth_to_space_of_column(m):
    yield m.op("DepthToSpace", m.op("Relu", m.conv(m.input(1, 4, 6, 1), 4, 16)), blocksize=4)


@case
def squeeze_excite(m):
    """Gates of a concatenation, from its own mean."""
    image = m.input(1, 4, 6, 6)
    both = m.op("Concat", m.conv(image, 4, 6), m.conv(image, 4, 6, 1), axis=1)
    mean = m.op("GlobalAveragePool", both)
    gate = m.op("HardSigmoid", m.conv(m.op("Relu", m.conv(mean, 12, 4, 1)), 4, 12, 1))
    yield m.op("Mul", both, gate)


@case
def gated_image_is_an_output(m):
    """Gates of a concatenation that is an output itself: a sum once stood outside of the loops that it depends on."""
    image = m.input(1, 2, 2, 3)
    both = m.op("HardSigmoid", m.op("Concat", m.op("Relu", image), m.op("HardSwish", image), m.conv(image, 2, 1, 1), axis=1))
    mean = m.op("Flatten", m.op("ReduceMean", both, m.constant([2, 3])))
    gate = m.op("Sigmoid", m.op("Gemm", mean, m.weight(5, 5), m.weight(5), transB=1))
    gate = m.op("Tanh", m.op("Unsqueeze", m.op("MatMul", gate, m.weight(5, 5)), m.constant([2, 3])))
    yield m.op("Mul", both, gate)
    yield both
    yield gate


#
# Rows of high rank along outer dimensions
#


@case
def softmax_of_rank_5(m):
    yield m.op("Softmax", m.input(3, 4, 2, 3, 5), axis=1)


@case
def softmax_of_rank_6(m):
    yield m.op("LogSoftmax", m.input(3, 4, 2, 3, 2, 5), axis=0)


@case
def cumsum_of_rank_6(m):
    yield m.op("CumSum", m.input(3, 4, 2, 3, 2, 5), m.constant(2))


@case
def top_k_of_rank_5(m):
    values, _ = m.op("TopK", m.input(3, 6, 2, 3, 5), m.constant([3]), axis=1, results=2)
    yield values


#
# Running them
#


def attempt(tool, folder, model, expected, target, ranks):
    """What went wrong, or None."""
    path = {name: os.path.join(folder, name) for name in ("model.onnx", "program", "in.npz", "out.npz")}
    np.savez(path["in.npz"], **model.inputs)
    for command in ([tool, "compile", path["model.onnx"], "-o", path["program"], "--ranks", str(ranks), "--target", target],
                    [path["program"], "--inputs", path["in.npz"], "--outputs", path["out.npz"]]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return done.stderr.strip()[-300:]
    with np.load(path["out.npz"]) as actual:
        worst = max(compare(dict(actual), expected, 1e-4).values())
    return None if worst <= 1 else f"{worst:.3g} of the tolerance"


def run(tool, folder, name):
    """The runs of one case that went wrong."""
    model = Model()
    model.outputs = list(CASES[name](model))
    proto = model.proto()
    onnx.save(proto, os.path.join(folder, "model.onnx"))
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = dict(zip(model.outputs, session.run(None, model.inputs)))
    wrong = []
    for target, ranks in RUNS:
        trouble = attempt(tool, folder, model, expected, target, ranks)
        if trouble:
            wrong.append(f"{target} x{ranks}: {trouble}")
    return wrong


def main():
    tool, folder, *names = sys.argv[1:]
    count = 0
    for name in names or CASES:
        wrong = run(tool, folder, name)
        count += bool(wrong)
        print(f"{'wrong' if wrong else 'right'}: {name}{': ' if wrong else ''}{'; '.join(wrong)}", flush=True)
    print(f"{len(names or CASES) - count} right, {count} WRONG")
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
