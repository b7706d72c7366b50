"""Measures executables on a GPU: right results, speed beside PyTorch, bandwidth of kernels, rate of GEMMs.

    python test/Execution/bench_gpu.py [--parts models,networks,kernels,products] [--networks NAME,...] [--precisions fp32,tf32,bf16]
        [--against eager,torch.compile] [--folder DIR] [--rounds 5] [--json FILE]

  models    every small model of ../shared on one GPU, against its references (test/Execution/run_models.py)
  networks  gpt2-124m, bert-base and resnet50 in fp32, tf32 and bf16 beside PyTorch eager and torch.compile, which take turns in one
            run: the GPU's time, and end to end with inputs and outputs. Both get the same random inputs, round to tf32 only where the
            row says so, and give fp32 outputs
  kernels   generated elementwise, row and transpose kernels in GB/s, beside a copy of the device's memory
  products  GEMMs in fp32, tf32, fp16 and bf16, beside what cuBLASLt gives when it is called alone

PyTorch takes part where it is installed with CUDA. Without a GPU everything is tried on the emulated device, with small sizes:
that shows that the programs are right, and its times say nothing. The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

import autopar  # noqa: E402
from autopar import find_tool  # noqa: E402
from autopar.compare import compare  # noqa: E402
from shared_models import MAKE_WEIGHTS, REQUIRED, SMALL, absence_of  # noqa: E402

NETWORKS = ["gpt2-124m", "bert-base", "resnet50"]
PRECISIONS = ["fp32", "tf32", "bf16"]  # of the networks
RIVALS = ["eager", "torch.compile"]
GOALS = {"torch.compile": 0.9, "copy": 0.85}  # time of theirs on the GPU over ours; our GB/s over the copy's


@dataclass
class Bench:
    target: str  # cuda, or emulated
    rates: dict  # what autopar-measure says of the GPU
    folder: str  # models with weights
    work: str
    rounds: int
    networks: list
    precisions: list
    against: list  # of RIVALS
    rows: list = field(default_factory=list)
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def real(self):
        return self.target == "cuda"

    def row(self, good, text, **values):
        """One line of the report; `good` None: skipped."""
        self.passed += good is True
        self.failed += good is False
        self.skipped += good is None
        self.rows.append({"text": text, **values})
        print(f"{'skip' if good is None else 'ok' if good else 'FAIL'}: {text}", flush=True)


def torch_with_cuda():
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def measure_gpu():
    """(target, rates): of the GPU, or of the emulated device where there is none."""
    for target in ("cuda", "emulated"):
        done = subprocess.run([find_tool("autopar-measure"), "--target", target], capture_output=True, text=True, timeout=600)
        if done.returncode == 0:
            return target, json.loads(done.stdout)[0]
        print(done.stderr.strip())
    raise SystemExit("autopar-measure fails on the emulated device too")


def milliseconds(seconds):
    return f"{seconds * 1e3:.3f} ms"


def guarded(bench, name, work):
    """A failure is a line of the report, and the others go on."""
    try:
        work()
    except (autopar.AutoparError, OSError, ValueError, subprocess.SubprocessError) as error:
        bench.row(False, f"{name}: {str(error).strip()[-400:]}")


# Models


def bench_models(bench):
    command = [sys.executable, os.path.join(ROOT, "test", "Execution", "run_models.py"), "--target", bench.target, "--only", "x1 auto"]
    command += ["--full"] + ([] if bench.real else ["--models", "mlp,lenet,gpt2-tiny"])
    done = subprocess.run(command, capture_output=True, text=True)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr.strip()[-300:]
    bench.row(done.returncode == 0, f"small models: {last}")


# Networks


def torch_network(torch, name, arrays, dtype):
    """The model of that name in PyTorch, all in `dtype`, with drawn weights, and its inputs on the GPU."""
    from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, ResNetConfig, ResNetForImageClassification

    made = {"gpt2-124m": lambda: GPT2LMHeadModel(GPT2Config(use_cache=False)), "bert-base": lambda: BertForMaskedLM(BertConfig()),
            "resnet50": lambda: ResNetForImageClassification(ResNetConfig())}[name]().eval().to("cuda", dtype)
    if name == "resnet50":
        made = made.to(memory_format=torch.channels_last)
    values = {"pixel_values" if name == "resnet50" else key: torch.from_numpy(array).cuda() for key, array in arrays.items()}
    return made, {key: value.to(dtype) if value.is_floating_point() else value for key, value in values.items()}


def time_torch(torch, model, inputs, repeat):
    """(end to end, on the GPU) in seconds of each step: inputs come from pinned memory, outputs go there as fp32, as the executable's."""
    pinned, times = None, []
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    host = {key: value.cpu().pin_memory() for key, value in inputs.items()}
    with torch.inference_mode():
        for _ in range(repeat + 3):
            torch.cuda.synchronize()
            start = time.perf_counter()
            values = {key: value.to("cuda", non_blocking=True) for key, value in host.items()}
            begin.record()
            outputs = [value.float() for value in model(**values).to_tuple() if torch.is_tensor(value)]
            end.record()
            pinned = pinned or [torch.empty_like(value, device="cpu", pin_memory=True) for value in outputs]
            for to, value in zip(pinned, outputs):
                to.copy_(value, non_blocking=True)
            torch.cuda.synchronize()
            times.append((time.perf_counter() - start, begin.elapsed_time(end) * 1e-3))
    return times[3:]


def check_random(inputs):
    """Zeros take less power, and are faster by it."""
    for name, array in inputs.items():
        if array.size > 16 and np.unique(array).size < 2:
            raise ValueError(f"input '{name}' holds one value only: no data to measure with")


def network_folder(bench, name):
    folder = os.path.join(bench.folder, name)
    if not os.path.exists(os.path.join(folder, "outputs.npz")):
        command = [sys.executable, MAKE_WEIGHTS, name, "--out", folder, "--reference"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


def load(path):
    with np.load(path) as arrays:
        return dict(arrays)


def compile_folder(bench, folder, name, precision):
    model, weights = os.path.join(folder, "model.onnx"), os.path.join(folder, "weights.bin")
    options = ["--target", bench.target, "--precision", precision, "--weights", weights if os.path.exists(weights) else model]
    return autopar.compile(model, os.path.join(bench.work, f"{name}-{precision}"), ranks=1, options=options)


def bench_network(bench, torch, name, precision):
    folder = network_folder(bench, name) if bench.real else os.path.join(SMALL, name)
    program = compile_folder(bench, folder, name, precision)
    inputs, repeat = load(os.path.join(folder, "inputs.npz")), 10 if bench.real else 1
    check_random(inputs)
    outputs, _ = program.run(inputs)
    error = max(compare(outputs, load(os.path.join(folder, "outputs.npz")), 1e-4 if precision == "fp32" else 5e-2).values())
    times = {"autopar": []}  # of each step: end to end, on the GPU
    models = {}
    if torch:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
        model, values = torch_network(torch, name, inputs, torch.bfloat16 if precision == "bf16" else torch.float32)
        rivals = {"eager": lambda: model, "torch.compile": lambda: torch.compile(model, mode="max-autotune-no-cudagraphs")}
        models = {who: rivals[who]() for who in bench.against}
    for _ in range(bench.rounds if bench.real else 1):
        report = program.run(inputs, options=["--warm-up", 3, "--repeat", repeat])[1]
        times["autopar"].append((report["seconds_per_step"]["median"], report["gpu_seconds"][0]))
        for who, model in models.items():
            times.setdefault(who, []).extend(time_torch(torch, model, values, repeat))
    medians = {who: [statistics.median(part) for part in zip(*steps)] for who, steps in times.items()}
    ours = medians.pop("autopar")
    parts = f", {milliseconds(ours[1])} on the GPU, {milliseconds(ours[0])} end to end"
    text = f"{name} {precision}: {error:.2g} of the tolerance" + parts * bench.real
    for who, theirs in medians.items():
        text += f"; {who} {milliseconds(theirs[1])} and {milliseconds(theirs[0])}, {theirs[1] / ours[1]:.2f} times ours on the GPU"
    good = error <= 1 and all(theirs[1] / ours[1] >= GOALS[who] for who, theirs in medians.items() if who in GOALS)
    bench.row(good, text, network=name, precision=precision, seconds=ours[0], gpu_seconds=ours[1], error=error,
              others={who: {"seconds": theirs[0], "gpu_seconds": theirs[1]} for who, theirs in medians.items()})


def bench_networks(bench):
    torch = torch_with_cuda() if bench.against else None
    if bench.real and bench.against and not torch:
        print("PyTorch with CUDA is absent: networks are timed alone")
    if absence := absence_of(MAKE_WEIGHTS if bench.real else SMALL):
        return bench.row(False if REQUIRED else None, f"networks: {absence}")
    for name in bench.networks if bench.real else ["gpt2-tiny", "bert-tiny", "resnet50-narrow"]:
        for precision in bench.precisions if bench.real else ("fp32", "bf16"):
            guarded(bench, f"{name} {precision}", lambda: bench_network(bench, torch, name, precision))


# Kernels


def save_model(path, nodes, inputs, shape, weights=(), dtype=TensorProto.FLOAT):
    """A model with one output `y` of `shape`; inputs: name -> shape; weights: name -> array."""
    values = [helper.make_tensor_value_info(name, dtype, dims) for name, dims in inputs.items()]
    initializers = [onnx.numpy_helper.from_array(array, name) for name, array in dict(weights).items()]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info("y", dtype, shape)], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def op_seconds(bench, program, inputs, repeat, kind=None):
    """Median seconds of the steps' work on the GPU, or of that of one kind of op, from the trace."""
    trace = os.path.join(bench.work, "trace.json")
    program.run(inputs, outputs=False, options=["--trace", trace, "--warm-up", 2, "--repeat", repeat])
    with open(trace) as file:
        events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X" and kind in (None, event["cat"])]
    per_step = len(events) // repeat
    sums = [sum(event["dur"] for event in events[i * per_step:(i + 1) * per_step]) for i in range(repeat)]
    return statistics.median(sums) * 1e-6


def kernels_of(rows, columns):
    """(name, nodes, inputs, output shape, how many times the elements are read or written)."""
    x, two = {"x": [rows, columns]}, {"x": [rows, columns], "z": [rows, columns]}
    node = helper.make_node
    yield "add", [node("Add", ["x", "z"], ["y"])], two, [rows, columns], 3
    yield "gelu", [node("Gelu", ["x"], ["y"])], x, [rows, columns], 2
    yield "bias and gelu", [node("Add", ["x", "bias"], ["b"]), node("Gelu", ["b"], ["y"])], x, [rows, columns], 2
    yield "softmax", [node("Softmax", ["x"], ["y"], axis=1)], x, [rows, columns], 2
    yield "layer norm", [node("LayerNormalization", ["x", "bias", "bias"], ["y"], axis=1)], x, [rows, columns], 2
    yield "add and layer norm", [node("Add", ["x", "z"], ["b"]), node("LayerNormalization", ["b", "bias", "bias"], ["y"], axis=1)], \
        two, [rows, columns], 3
    yield "sum of rows", [node("ReduceSum", ["x", "axis"], ["y"], keepdims=0)], x, [rows], 1
    yield "transpose", [node("Transpose", ["x"], ["y"], perm=[1, 0])], x, [columns, rows], 2


def bench_kernel(bench, name, nodes, inputs, shape, passes, dtype):
    rows, columns = inputs["x"]
    used = {each for node in nodes for each in node.input}
    weights = {"bias": np.linspace(-1, 1, columns).astype(dtype), "axis": np.array([1])}
    path = os.path.join(bench.work, "kernel.onnx")
    save_model(path, nodes, inputs, shape, {key: value for key, value in weights.items() if key in used},
               TensorProto.FLOAT if dtype == np.float32 else TensorProto.FLOAT16)
    program = autopar.compile(path, os.path.join(bench.work, "kernel"), ranks=1, options=["--target", bench.target])
    random = np.random.default_rng(1)
    arrays = {key: random.standard_normal(dims, dtype=np.float32).astype(dtype) for key, dims in inputs.items()}
    seconds = op_seconds(bench, program, arrays, 10 if bench.real else 1)
    rate = passes * rows * columns * np.dtype(dtype).itemsize / seconds
    share = rate / (bench.rates["mem_TBps"] * 1e12)
    text = f"{name} {rows}x{columns} {np.dtype(dtype).name}"
    text += f": {rate / 1e9:.0f} GB/s, {share:.0%} of a copy" if bench.real else " runs"
    bench.row(share >= GOALS["copy"] if bench.real else True, text, kernel=name, bytes_per_second=rate, share_of_copy=share)


def bench_kernels(bench):
    for dtype in (np.float32, np.float16):
        for kernel in kernels_of(*((16384, 4096) if bench.real else (16, 64))):
            guarded(bench, kernel[0], lambda: bench_kernel(bench, *kernel, dtype))


# GEMMs


def bench_gemm(bench, m, n, k, precision):
    path = os.path.join(bench.work, "gemm.onnx")
    random = np.random.default_rng(1)
    weight = random.standard_normal((k, n), dtype=np.float32)
    save_model(path, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": [m, k]}, [m, n], {"w": weight})
    program = autopar.compile(path, os.path.join(bench.work, "gemm"), ranks=1,
                              options=["--target", bench.target, "--precision", precision])
    seconds = op_seconds(bench, program, {"x": random.standard_normal((m, k), dtype=np.float32)}, 10 if bench.real else 1, "gemm")
    rate, alone = 2 * m * n * k / seconds, bench.rates[f"{precision}_TF"] * 1e12
    text = f"GEMM {m}x{k}x{n} {precision}"
    text += f": {rate / 1e12:.1f} TF/s, {rate / alone:.0%} of cuBLASLt's in a loop of 8192x8192x8192" if bench.real else " runs"
    bench.row(True, text, product=[m, n, k], precision=precision, flops=rate, share=rate / alone)


def bench_gemms(bench):
    for precision in ("fp32", "tf32", "fp16", "bf16"):
        for m, n, k in [(8192, 8192, 8192), (4096, 3072, 768)] if bench.real else [(64, 64, 64)]:
            guarded(bench, f"GEMM {precision}", lambda: bench_gemm(bench, m, n, k, precision))


def main():
    parts = {"models": bench_models, "networks": bench_networks, "kernels": bench_kernels, "products": bench_gemms}
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--parts", default=",".join(parts))
    for option, values in {"networks": NETWORKS, "precisions": PRECISIONS, "against": RIVALS}.items():
        arguments.add_argument(f"--{option}", default=",".join(values), help=f"default: %(default)s{' (empty: none)' * (option == 'against')}")
    arguments.add_argument("--folder", default=os.path.join(ROOT, "build", "full"), help="where networks get their weights")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--json", help="write all rows here")
    options = arguments.parse_args()
    target, rates = measure_gpu()
    print(f"{rates['device']}: copy {rates['mem_TBps'] * 1e3:.0f} GB/s, " + ", ".join(
        f"{precision} {rates[precision + '_TF']:.3g} TF/s" for precision in ("fp32", "tf32", "fp16", "bf16")))
    if target == "emulated":
        print("no GPU: tried on the emulated device with small sizes; its times say nothing")
    with tempfile.TemporaryDirectory() as work:
        lists = []
        for name, known in {"networks": NETWORKS, "precisions": PRECISIONS, "against": RIVALS}.items():
            lists.append([word for word in getattr(options, name).split(",") if word])
            if unknown := [word for word in lists[-1] if word not in known]:
                arguments.error(f"--{name} knows {', '.join(known)}, not {', '.join(unknown)}")
        bench = Bench(target, rates, options.folder, work, options.rounds, *lists)
        for part in options.parts.split(","):
            guarded(bench, part, lambda: parts[part](bench))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"measured": rates, "rows": bench.rows}, file, indent=1)
    print(f"{bench.passed} passed, {bench.failed} failed, {bench.skipped} skipped")
    return int(bench.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
