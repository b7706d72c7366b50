"""Times kernels of the compiler's own loops beside the same kernels written in linalg.

    python test/Execution/measure_linalg.py [--repeat N] [--rounds N] [KERNEL...]

Each kernel (test/Execution/Inputs/linalg) is there in the compiler's dialect and in linalg, with the same fast-math flags. One
tail serves all: mlir-translate, `opt -O3` and llc for the same instructions, one thread. Of linalg three ways, with upstream's
polynomials for exp and erf:

    loops     elementwise ops fused, bufferized, affine loops: LLVM's vectorizer does the rest
    vectors   the same loops by affine-super-vectorize, 64 elements wide
    tiled     by a schedule of the transform dialect, written for the kernel: tiled, fused and vectorized as tensors

Per way: milliseconds (least of --repeat calls; medians of --rounds rounds, all ways by turns), the ratio to ours, and seconds
to compile without the start of the tools. A result that differs by more than 1e-4 of the largest ends with exit code 1.
"""

import argparse
import ctypes
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "linalg")
OPT = find_tool("autopar-opt")
LLVM = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
KERNELS = {  # shapes of operands and of the result
    "softmax": ([(512, 512)], (512, 512)),
    "layer-norm": ([(512, 768), (768,), (768,)], (512, 768)),
    "bias-gelu": ([(512, 3072), (3072,)], (512, 3072)),
    "transpose": ([(1024, 1536)], (1536, 1024)),
}

APPROXIMATE = "func.func(test-math-polynomial-approximation)"
CLEAN = "canonicalize,cse"
FUSE = f"func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),{CLEAN}"
BUFFERIZE = f"eliminate-empty-tensors,one-shot-bufferize,{CLEAN},buffer-deallocation-pipeline"
TO_LLVM = ("lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-vector-to-llvm{reassociate-fp-reductions=true},"
           "convert-ub-to-llvm,convert-math-to-llvm,convert-math-to-libm,arith-expand,convert-arith-to-llvm,convert-index-to-llvm,"
           "finalize-memref-to-llvm,convert-cf-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},"
           f"reconcile-unrealized-casts,{CLEAN}")
WAYS = {
    "loops": f"{APPROXIMATE},{FUSE},{BUFFERIZE},convert-linalg-to-affine-loops,{TO_LLVM}",
    "vectors": f"{APPROXIMATE},{FUSE},{BUFFERIZE},convert-linalg-to-affine-loops,"
               "func.func(affine-super-vectorize{virtual-vector-size=64 vectorize-reductions=true}),"
               f"{CLEAN},convert-vector-to-scf,{TO_LLVM}",
    "tiled": f"{APPROXIMATE},transform-preload-library{{transform-library-paths=SCHEDULE}},transform-interpreter,"
             f"{CLEAN},{BUFFERIZE},convert-vector-to-scf{{full-unroll=true}},{TO_LLVM}",
}

# The runtime that a program of one kernel calls, and the clock.
HARNESS = r"""
#include <stdint.h>
#include <time.h>
static void *arena, *held[8];
void *aprt_arena(void *run) { return arena; }
void *aprt_persistent(void *run, int index) { return held[index]; }
int aprt_launch(void *run, int op, void (*kernel)(void *, void *, int64_t, int64_t), void *buffers, void *places,
                int64_t count, int64_t grain) {
  kernel(buffers, places, 0, count);
  return 0;
}
#ifdef OURS
int stage_0_step(void *run, int64_t);
static void call(void **p) { stage_0_step(0, 0); }
#else
void kernel(void *, void *, void *, void *);
static void call(void **p) { kernel(p[0], p[1], p[2], p[3]); }
#endif
double measure(void **pointers, int inputs, int repeat) {
  double least = 1e30;
  for (int i = 0; i < inputs; ++i)
    held[i] = pointers[i];
  arena = pointers[inputs];
  for (int i = 0; i < repeat; ++i) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    call(pointers);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double seconds = b.tv_sec - a.tv_sec + 1e-9 * (b.tv_nsec - a.tv_nsec);
    least = seconds < least ? seconds : least;
  }
  return least;
}
"""


def run(*command):
    """Runs a tool and returns the seconds it takes beyond what it takes to start."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    subprocess.run([command[0], "--version"], capture_output=True)
    return max(0.0, seconds - (time.perf_counter() - start))


def features():
    """What the compiler generates code for, as lib/Lowering/Common/CompileObject.cpp has it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        host = set(re.search(r"flags\s*:(.*)", file.read())[1].split())
    known = {"bmi1": "bmi", **{name: name for name in "avx avx2 fma f16c bmi2 avx512f avx512bw avx512cd avx512dq avx512vl".split()}}
    return ",".join(["+prefer-no-gather", "+prefer-no-scatter"] + [f"+{known[name]}" for name in known if name in host])


def lower(kernel, way, folder):
    """LLVM dialect of a kernel; the file and the seconds."""
    out = os.path.join(folder, f"{kernel}.{way}.mlir")
    if way == "ours":
        scheduled = os.path.join(folder, f"{kernel}.scheduled.mlir")
        run(OPT, os.path.join(INPUTS, f"{kernel}.autopar.mlir"), "--autopar-phase-plan", "--autopar-phase-partition",
            "--autopar-phase-schedule", "-o", scheduled)
        return out, run(OPT, scheduled, "--autopar-phase-lower", "-o", out)
    passes = WAYS[way].replace("SCHEDULE", os.path.join(INPUTS, f"{kernel}.schedule.mlir"))
    source = os.path.join(INPUTS, f"{kernel}.linalg.mlir")
    return out, run(os.path.join(LLVM, "mlir-opt"), source, f"--pass-pipeline=builtin.module({passes})", "-o", out)


def load(kernel, way, folder):
    """The compiled kernel as a function of Python, and the seconds to compile."""
    mlir, seconds = lower(kernel, way, folder)
    stem = mlir[:-len(".mlir")]
    run(os.path.join(LLVM, "mlir-translate"), "--mlir-to-llvmir", mlir, "-o", f"{stem}.ll")
    with open(f"{stem}.ll", encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"^(define )(?:internal )?(.*) \{$", r"\1\2 #9999 {", text, flags=re.MULTILINE)
    text += f'\nattributes #9999 = {{ nounwind "prefer-vector-width"="512" "target-features"="{features()}" }}\n'
    with open(f"{stem}.ll", "w", encoding="utf-8") as file:
        file.write(text)
    with open(f"{stem}.c", "w", encoding="utf-8") as file:
        file.write(HARNESS)
    tail = ["-mtriple=x86_64-unknown-linux-gnu", f"-mattr={features()}"]
    seconds += run(os.path.join(LLVM, "opt"), "-O3", *tail, f"{stem}.ll", "-o", f"{stem}.bc")
    seconds += run(os.path.join(LLVM, "llc"), "-O3", "-relocation-model=pic", "-filetype=obj", *tail, f"{stem}.bc", "-o", f"{stem}.o")
    run("g++", "-shared", "-fPIC", "-O2", *["-DOURS"] * (way == "ours"), "-x", "c", f"{stem}.c", "-x", "none", f"{stem}.o",
        "-o", f"{stem}.so", "-lm")
    function = ctypes.CDLL(f"{stem}.so").measure
    function.restype = ctypes.c_double
    return function, seconds


def aligned(array):
    """A copy of the array at a multiple of 64 bytes, as arenas are."""
    room = np.zeros(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start:start + array.nbytes].view(np.float32).reshape(array.shape)
    copy[...] = array
    return copy


def measure(kernel, repeat, rounds):
    """Prints a line per way; whether all agree."""
    shapes, result = KERNELS[kernel]
    random = np.random.default_rng(7)
    inputs = [aligned(random.standard_normal(shape).astype(np.float32)) for shape in shapes]
    ways = ["ours", *WAYS]
    outputs = {way: aligned(np.zeros(result, np.float32)) for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        loaded = {way: load(kernel, way, folder) for way in ways}
        times = {way: [] for way in ways}
        for _ in range(rounds):
            for way in ways:
                pointers = [array.ctypes.data for array in [*inputs, outputs[way]]]
                times[way].append(loaded[way][0]((ctypes.c_void_p * 8)(*pointers), len(inputs), repeat))
    ours, same = statistics.median(times["ours"]), True
    scale = np.abs(outputs["ours"]).max()
    for way in ways:
        error = np.abs(outputs[way] - outputs["ours"]).max() / scale
        same &= bool(error <= 1e-4)
        now = statistics.median(times[way])
        print(f"{kernel:<11} {way:<8} {1e3 * now:8.3f} ms   {now / ours:6.2f} of ours   {loaded[way][1]:6.2f} s to compile"
              f"{'' if error <= 1e-4 else f'   DIFFERENT by {error:.1e}'}", flush=True)
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("kernels", nargs="*", default=list(KERNELS), metavar="KERNEL")
    options = parser.parse_args()
    return int(not all([measure(kernel, options.repeat, options.rounds) for kernel in options.kernels]))


if __name__ == "__main__":
    sys.exit(main())
