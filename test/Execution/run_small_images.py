"""Convolutions on images of one pixel and on images smaller than their window, compared with onnxruntime.

    python test/Execution/run_small_images.py [--target emulated] [--ranks 1,2]

One model holds them all: dense, grouped and depthwise, with and without padding, strides and dilations, in one to three dimensions.
The last line counts: "N passed, N failed".
"""

import argparse
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from autopar.compare import compare  # noqa: E402
from programs import compile_and_run, reference  # noqa: E402

# image, window, pads on each side, strides, dilations
SHAPES = [((1,), (3,), 1, 1, 1), ((1, 1), (1, 1), 0, 1, 1), ((1, 1), (3, 3), 1, 1, 1), ((1, 1), (3, 3), 1, 2, 1), ((1, 1), (5, 5), 2, 1, 1),
          ((1, 1), (1, 1), 1, 1, 1), ((2, 2), (3, 3), 1, 1, 1), ((2, 2), (7, 7), 3, 1, 1), ((2, 1), (3, 3), 1, 1, 1), ((2, 3), (3, 3), 4, 2, 4),
          ((1, 1, 1), (3, 3, 3), 1, 1, 1), ((1, 2, 2), (3, 3, 3), 1, 1, 1)]
CHANNELS = [(8, 12, 1), (8, 12, 4), (8, 8, 8), (8, 16, 8)]  # in, out, groups


def make_model(path, random):
    nodes, inputs, outputs, weights, arrays = [], [], [], [], {}
    for i, (image, window, pad, stride, dilation) in enumerate(SHAPES):
        x = f"x{i}"
        arrays[x] = random.standard_normal((2, 8, *image), dtype=np.float32)
        inputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, arrays[x].shape))
        for j, (channels, results, groups) in enumerate(CHANNELS):
            name, rank = f"_{i}_{j}", len(image)
            weights += [numpy_helper.from_array(random.standard_normal((results, channels // groups, *window), dtype=np.float32), "w" + name),
                        numpy_helper.from_array(random.standard_normal(results, dtype=np.float32), "b" + name)]
            nodes += [helper.make_node("Conv", [x, "w" + name, "b" + name], ["c" + name], name="/conv" + name, group=groups, pads=[pad] * 2 * rank,
                                       strides=[stride] * rank, dilations=[dilation] * rank),
                      helper.make_node("Relu", ["c" + name], ["y" + name])]
            outputs.append(helper.make_tensor_value_info("y" + name, TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "small-images", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return arrays


def attempt(folder, expected, target, ranks):
    error = compile_and_run(find_tool("autopar"), folder, "--target", target, "--ranks", str(ranks), timeout=300)
    if error:
        return "error: " + error
    with np.load(os.path.join(folder, "out.npz")) as actual:
        worst = compare(dict(actual), expected, 5e-4)
    far = {name: value for name, value in worst.items() if value > 1}
    return f"wrong: {far}" if far else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="emulated", choices=["cpu", "emulated", "cuda"])
    parser.add_argument("--ranks", default="1,2")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        inputs = make_model(os.path.join(folder, "model.onnx"), np.random.default_rng(5))
        np.savez(os.path.join(folder, "inputs.npz"), **inputs)
        expected = reference(folder, inputs)
        for ranks in options.ranks.split(","):
            problem = attempt(folder, expected, options.target, int(ranks))
            passed, failed = passed + (not problem), failed + bool(problem)
            print(f"{'FAIL' if problem else 'ok'}: {len(expected)} convolutions x{ranks} on {options.target} {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
