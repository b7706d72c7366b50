"""Measures the error of bf16 and fp16 against fp32, autopar's beside that of PyTorch autocast.

    python test/Execution/measure_precision.py [--models NAME,...] [--targets cpu,emulated] [--precisions bf16,fp16] [--ranks N]

Each model of ../shared/models/small is built again in PyTorch by ../shared/models/export_small.py, its fp32 output checked
against the stored reference, and run under torch.autocast on the CPU; autopar compiles the ONNX file with --precision for each
target. Shown is the largest |y - fp32| over all outputs, in standard deviations of the fp32 output, and autopar's over
autocast's: at most 2 passes. Where a router chooses experts (torch.topk), a low precision may choose otherwise: choices that
differ from fp32's are counted apart, at most twice autocast's and one in 50 pass, and sequences with one are left out of the
error. A model that PyTorch cannot run so (an LSTM in fp16) is skipped. Needs torch, transformers and what export_small.py
needs; says so and skips without (without the shared models it fails with AUTOPAR_REQUIRE_SHARED=1). The last line counts:
"N passed, N failed, N skipped".
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from autopar.compare import compare  # noqa: E402
from shared_models import SHARED, SMALL, end_without  # noqa: E402

MODELS = ["mlp", "lenet", "unet-tiny", "autoencoder", "resnet50-narrow", "efficientnet-narrow", "bert-tiny", "gpt2-tiny",
          "llama-tiny", "vit-tiny", "t5-tiny", "transformer-mt", "lstm-lm", "moe-tiny", "mixtral-tiny"]
NEEDED = ["torch", "transformers", "onnx", "onnx_ir", "onnxscript", "onnxruntime"]
MOST, MOST_CHOICES = 2.0, 0.02


def definitions():
    """The module that defines the shared models."""
    spec = importlib.util.spec_from_file_location("export_small", os.path.join(SHARED, "models", "export_small.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Reference:
    """A model in PyTorch."""

    def __init__(self, shared, name):
        import torch

        torch.manual_seed(0)
        shared.G.manual_seed(1)
        self.torch = torch
        self.module, _, self.outputs = shared.MODELS[name]["build"]()
        self.module = shared.randomize(self.module.eval())
        self.folder = os.path.join(SMALL, name)
        with np.load(os.path.join(self.folder, "inputs.npz")) as arrays:
            self.inputs = dict(arrays)
        with np.load(os.path.join(self.folder, "outputs.npz")) as arrays:
            self.stored = dict(arrays)

    def run(self, dtype=None):
        """Outputs by name, and what each torch.topk chose."""
        torch, chosen, topk = self.torch, [], self.torch.topk

        def recording(*arguments, **keywords):
            result = topk(*arguments, **keywords)
            chosen.append(result[1].numpy())
            return result

        torch.topk = recording
        try:
            with torch.no_grad(), torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
                results = self.module(*(torch.from_numpy(array) for array in self.inputs.values()))
        finally:
            torch.topk = topk
        results = results if isinstance(results, tuple) else (results,)
        return {name: result.float().numpy() for name, result in zip(self.outputs, results)}, chosen


def with_choices(folder, work):
    """The model's path, and the names of its routers' choices, which a copy of the model gives as outputs."""
    import onnx

    path = os.path.join(folder, "model.onnx")
    model = onnx.load(path)
    choices = [node.output[1] for node in model.graph.node if node.op_type == "TopK"]
    if not choices:
        return path, []
    shapes = {value.name: value for value in onnx.shape_inference.infer_shapes(model).graph.value_info}
    model.graph.output.extend(shapes[name] for name in choices)
    path = os.path.join(work, os.path.basename(folder) + ".onnx")
    onnx.save(model, path)
    return path, choices


def execute(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode:
        raise RuntimeError(f"{os.path.basename(command[0])} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-500:]}")


def run_autopar(model, folder, work, precision, target, ranks):
    program, outputs = os.path.join(work, "program"), os.path.join(work, "out.npz")
    execute([find_tool(), "compile", model, "-o", program, "--precision", precision, "--target", target, "--ranks", str(ranks)])
    execute([program, "--inputs", os.path.join(folder, "inputs.npz"), "--outputs", outputs])
    with np.load(outputs) as arrays:
        return dict(arrays)


def changed(choices, reference):
    """Per sample whether a router chose otherwise; how many choices, and of how many."""
    samples, count, total = None, 0, 0
    for mine, right in zip(choices, reference):
        other = np.sort(mine.reshape(right.shape), -1) != np.sort(right, -1)
        count, total = count + int(other.sum()), total + other.size
        samples = [other] if samples is None else samples + [other]
    return samples or [], count, total


def kept(rows, *flips):
    """The samples in whose part of every table of choices nothing changed."""
    keep = np.ones(rows, bool)
    for flip in (table for tables in flips for table in tables):
        keep &= ~flip.reshape(rows, -1).any(1)
    return keep


def error_of(got, reference, keep):
    """Largest error in standard deviations of the reference."""
    worst = 0.0
    for name, right in reference.items():
        if got[name].shape != right.shape or not np.isfinite(got[name]).all():
            return float("inf")
        difference = np.abs(got[name].astype(np.float64) - right)[keep]
        worst = max(worst, float(difference.max(initial=0)) / float(right.std()))
    return worst


class CannotCompare(Exception):
    pass


def autocast(reference, precision):
    torch = reference.torch
    try:
        return reference.run({"bf16": torch.bfloat16, "fp16": torch.float16}[precision])
    except RuntimeError as error:
        raise CannotCompare(f"PyTorch cannot: {str(error).splitlines()[0][:90]}")


def measure(name, reference, precision, targets, ranks, work):
    """A line per target; the number of failures."""
    exact, right = reference.run()
    if max(compare(exact, reference.stored).values()) > 1:
        raise RuntimeError("PyTorch's fp32 output is not the stored reference")
    low, choices = autocast(reference, precision)
    theirs, theirCount, total = changed(choices, right)
    model, names = with_choices(reference.folder, work)
    rows, failures = len(next(iter(exact.values()))), 0
    for target in targets:
        got = run_autopar(model, reference.folder, work, precision, target, ranks)
        mine, count, _ = changed([got[choice] for choice in names], right)
        keep = kept(rows, mine, theirs)
        error, allowed = error_of(got, exact, keep), error_of(low, exact, keep)
        good = error <= MOST * allowed and count <= max(2 * theirCount, MOST_CHOICES * total)
        failures += not good
        routers = f"  choices changed {count}, autocast's {theirCount}, of {total}; {keep.sum()} of {rows} samples" if names else ""
        print(f"{name:20} {precision} {target:9} error {error:.2e}  autocast {allowed:.2e}  ratio {error / max(allowed, 1e-12):5.2f}"
              f"{routers}  {'ok' if good else 'FAILED'}", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--targets", default="cpu,emulated")
    parser.add_argument("--precisions", default="bf16,fp16")
    parser.add_argument("--ranks", type=int, default=1)
    options = parser.parse_args()
    missing = [name for name in NEEDED if not importlib.util.find_spec(name)]
    end_without(SMALL)
    if missing:
        print(f"no {', '.join(missing)} here\n0 passed, 0 failed, 1 skipped")
        return 0
    shared, targets = definitions(), options.targets.split(",")
    passed = failed = skipped = 0
    for name in options.models.split(","):
        reference = Reference(shared, name)
        for precision in options.precisions.split(","):
            with tempfile.TemporaryDirectory() as work:
                try:
                    failures = measure(name, reference, precision, targets, options.ranks, work)
                except CannotCompare as error:
                    skipped += len(targets)
                    print(f"{name:20} {precision} skipped: {error}", flush=True)
                    continue
                except RuntimeError as error:
                    failures = len(targets)
                    print(f"{name:20} {precision} FAILED: {error}", flush=True)
            failed, passed = failed + failures, passed + len(targets) - failures
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
