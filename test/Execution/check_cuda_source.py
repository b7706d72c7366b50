"""Builds what --emit cuda-source writes, for the emulated device and with nvcc, and compares its results.

    python test/Execution/check_cuda_source.py [--models NAME,...] [--ranks 1,2] [--no-nvcc] [--work DIR]

Each model of ../shared/models/small is compiled for the emulated GPU with --emit cuda-source, on several ranks so that they
communicate. The folder written is built with its own CMakeLists.txt twice: with a host compiler for the emulated device, which must give the executable's results and the
references (the README's tolerance, five times that on several ranks), and by nvcc for sm_80, sm_90 and sm_100. No compiler may
warn. On a machine with a GPU what nvcc built runs too. The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from autopar.compare import compare  # noqa: E402
from shared_models import SMALL, end_without  # noqa: E402

MODELS = "mlp,gpt2-tiny,resnet50-narrow,moe-tiny,bert-tiny"
TOLERANCE = 1e-4
ALIKE = 1e-5  # of the same kernels through another compiler


class Failure(Exception):
    pass


def run(command, timeout=900):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    log = (done.stdout + done.stderr).strip()
    if done.returncode:
        raise Failure(f"{' '.join(command[:3])} ended with {done.returncode}: {log[-1500:]}")
    return log


def find_nvcc():
    places = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", ""), "/usr/local/cuda"]
    return shutil.which("nvcc") or next(filter(os.path.exists, (os.path.join(p, "bin", "nvcc") for p in places)), None)


def has_gpu():
    return bool(shutil.which("nvidia-smi")) and subprocess.run(["nvidia-smi"], capture_output=True).returncode == 0


def installed_runtime(work):
    """A prefix with the runtime of the build that holds the compiler."""
    build = os.path.dirname(os.path.dirname(os.path.realpath(find_tool())))
    prefix = os.path.join(work, "prefix")
    run(["cmake", "--install", build, "--component", "runtime", "--prefix", prefix])
    return prefix


def build(source, folder, prefix, *options):
    run(["cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", *options])
    log = run(["cmake", "--build", folder])
    warnings = [line for line in log.splitlines() if re.search(r"\bwarning\b", line, re.IGNORECASE)]
    if warnings:
        raise Failure("warnings: " + "; ".join(warnings[:5]))
    return os.path.join(folder, "program")


def outputs_of(program, model, out):
    run([program, "--inputs", os.path.join(SMALL, model, "inputs.npz"), "--outputs", out, "--weights", os.path.join(SMALL, model)])
    with np.load(out) as arrays:
        return dict(arrays)


def worst_of(got, wanted, tolerance):
    return max(compare(got, wanted, tolerance).values())


def strategy_of(model, ranks):
    if ranks == 1:
        return "auto"
    return "channel" if "resnet" in model else "tensor"


def check(model, ranks, work, prefix, nvcc):
    """Returns what was compared; raises Failure."""
    source, stem = os.path.join(work, "source"), os.path.join(work, "whole")
    run([find_tool(), "compile", os.path.join(SMALL, model, "model.onnx"), "-o", stem, "--target", "emulated", "--ranks", str(ranks),
         "--strategy", strategy_of(model, ranks), "--emit", "cuda-source", source])
    whole = outputs_of(stem, model, os.path.join(work, "whole.npz"))
    emulated = build(source, os.path.join(work, "emulated"), prefix, "-DAUTOPAR_DEVICE=emulated")
    got = outputs_of(emulated, model, os.path.join(work, "source.npz"))
    with np.load(os.path.join(SMALL, model, "outputs.npz")) as arrays:
        references = dict(arrays)
    apart, error = worst_of(got, whole, ALIKE), worst_of(got, references, TOLERANCE * (5 if ranks > 1 else 1))
    words = f"{apart:.2g} of {ALIKE} from the executable, {error:.2g} of the tolerance from the references"
    if not (apart <= 1 and error <= 1):
        raise Failure(words)
    if nvcc:
        program = build(source, os.path.join(work, "cuda"), prefix, f"-DNVCC={nvcc}")
        words += ", nvcc builds it"
        if has_gpu():
            error = worst_of(outputs_of(program, model, os.path.join(work, "cuda.npz")), references, 5 * TOLERANCE)
            words += f", {error:.2g} of the tolerance on the GPU"
            if not error <= 1:
                raise Failure(words)
    return words


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--models", default=MODELS)
    arguments.add_argument("--ranks", default="1,2")
    arguments.add_argument("--no-nvcc", action="store_true", help="only the emulated device")
    arguments.add_argument("--work", help="keep what is built in this folder")
    options = arguments.parse_args()
    end_without(SMALL)
    nvcc = None if options.no_nvcc else find_nvcc()
    if not nvcc and not options.no_nvcc:
        print("no nvcc: only the emulated device (pip install nvidia-cuda-nvcc, or a CUDA toolkit)")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or temporary
        os.makedirs(work, exist_ok=True)
        prefix = installed_runtime(work)
        for model in options.models.split(","):
            for ranks in map(int, options.ranks.split(",")):
                folder = os.path.join(work, f"{model}-{ranks}")
                shutil.rmtree(folder, ignore_errors=True)
                os.makedirs(folder)
                try:
                    print(f"ok: {model} x{ranks}: {check(model, ranks, folder, prefix, nvcc)}", flush=True)
                    passed += 1
                except (Failure, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
                    print(f"FAIL: {model} x{ranks}: {error}", flush=True)
                    failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
