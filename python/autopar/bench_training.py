"""Times a training step beside PyTorch's: the same model, data, optimizer and number of threads, in one run.

    python -m autopar.bench_training [gpt2 | bert | resnet50 ...] [--threads N] [--rounds N] [--ranks N] [--compile] [--folder DIR]

Needs a Python with torch, transformers, torchvision, onnx and onnxscript; AUTOPAR_BIN: the folder of the built tools. Each model is
exported to ONNX with its parameters kept (GPT-2 of 124 million parameters on 4 x 128 tokens, BERT-base on 8 x 128, ResNet-50 with
batch 8 in training mode) and trained by AdamW on random data. Rounds of steps of both take turns, each in processes of its own; the first step of
each does not count; a time is the median. The losses of the first rounds must agree, or no time is printed. Memory is what a process of one rank
held at most, without what it held once its libraries were loaded, and what the plan predicted.

With --ranks N the batch is split between N ranks of `--strategy data` and N processes of DistributedDataParallel with gloo, of one thread
each; only models whose ranks' losses and gradients are means of equally many labels are the same in both: gpt2.
"""

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import torchvision
import transformers
from torch.nn.functional import cross_entropy

STEPS = 5  # of a round
LEARNING_RATE = 1e-5


class Logits(torch.nn.Module):
    """A language model of transformers as a function of tokens alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids).logits


class Task:
    """A model in training mode; arrays [steps, batch, ...] of its inputs and labels by name; the loss of a step as a function of the
    output, the inputs and the labels; and that loss's name in a recipe."""

    def __init__(self, model, inputs, labels, loss, loss_name):
        self.model, self.inputs, self.labels, self.loss, self.loss_name = model.train(), inputs, labels, loss, loss_name


def gpt2(random):
    config = transformers.GPT2Config(attn_implementation="eager", use_cache=False, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
    tokens = random.integers(0, config.vocab_size, (STEPS, 4, 128))

    def loss(logits, input_ids):
        return cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), input_ids[:, 1:].reshape(-1))

    return Task(Logits(transformers.GPT2LMHeadModel(config)), {"input_ids": tokens}, {}, loss, "causal_lm_shifted_cross_entropy_mean")


def bert(random):
    config = transformers.BertConfig(attn_implementation="eager", hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    tokens = random.integers(0, config.vocab_size, (STEPS, 8, 128))
    labels = np.where(random.random(tokens.shape) < 0.15, tokens, -100)

    def loss(logits, _, labels):
        return cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))

    return Task(Logits(transformers.BertForMaskedLM(config)), {"input_ids": tokens}, {"labels": labels}, loss, "masked_cross_entropy_mean")


def resnet50(random):
    images = random.standard_normal((STEPS, 8, 3, 224, 224)).astype(np.float32)
    return Task(torchvision.models.resnet50(weights=None), {"images": images}, {"labels": random.integers(0, 1000, (STEPS, 8))},
                lambda logits, _, labels: cross_entropy(logits, labels), "softmax_cross_entropy_mean")


MODELS = {"gpt2": gpt2, "bert": bert, "resnet50": resnet50}


def make_task(name):
    torch.manual_seed(0)
    return MODELS[name](np.random.Generator(np.random.PCG64(0)))


def export(task, path):
    first, names = tuple(torch.from_numpy(array[0]) for array in task.inputs.values()), list(task.inputs)
    if any(isinstance(part, torch.nn.BatchNorm2d) for part in task.model.modules()):
        # The older exporter keeps batch norm as it is in training.
        torch.onnx.export(task.model, first, path, input_names=names, opset_version=17, dynamo=False,
                          training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
    else:
        torch.onnx.export(task.model, first, path, input_names=names, opset_version=18, dynamo=True, external_data=False, verbose=False)


def peak_bytes():
    """The most bytes that this process held: getrusage would count what its parent held when it began."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


# Runs a command from a small process, for the same reason.
CHILD_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


class Trainer:
    """A task in this process, of which it is one of `ranks`."""

    def __init__(self, task, compiled, rank, ranks):
        self.task, self.model = task, task.model
        if ranks > 1:
            torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks)
            self.model = torch.nn.parallel.DistributedDataParallel(self.model)
        if compiled:
            self.model = torch.compile(self.model)
        rows = len(next(iter(task.inputs.values()))[0]) // ranks
        part = slice(rank * rows, (rank + 1) * rows)
        self.inputs, self.labels = ([torch.from_numpy(array[:, part]) for array in arrays.values()] for arrays in (task.inputs, task.labels))
        self.optimizer = torch.optim.AdamW(task.model.parameters(), lr=LEARNING_RATE)

    def round(self):
        """Losses and seconds of the steps."""
        losses, seconds = [], []
        for step in range(STEPS):
            begin = time.perf_counter()
            inputs = [array[step] for array in self.inputs]
            loss = self.task.loss(self.model(*inputs), *inputs, *[array[step] for array in self.labels])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            seconds.append(time.perf_counter() - begin)
        return losses, seconds


def work(name, threads, compiled, rank, ranks):
    """A worker's process: a round, as a line of JSON, for each line that it reads."""
    torch.set_num_threads(threads)
    base = peak_bytes()
    trainer = Trainer(make_task(name), compiled, rank, ranks)
    for _ in sys.stdin:
        losses, seconds = trainer.round()
        print(json.dumps({"losses": losses, "seconds": seconds, "memory": peak_bytes() - base}), flush=True)


class PyTorch:
    """A task in processes of its own, one per rank. Used in a `with` statement."""

    def __init__(self, name, threads, ranks=1, compiled=False):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": str(threads)}
        self.workers = [subprocess.Popen([sys.executable, "-m", "autopar.bench_training", "--worker", json.dumps([name, threads, compiled, rank, ranks])],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
                        for rank in range(ranks)]
        self.memory = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.stdin.close()
            worker.wait()

    def round(self):
        """Losses, the means over ranks, and seconds of the steps, those of the slowest rank."""
        for worker in self.workers:
            worker.stdin.write("\n")
            worker.stdin.flush()
        lines = [worker.stdout.readline() for worker in self.workers]
        if not all(lines):
            raise SystemExit("a process of PyTorch ended")
        parts = [json.loads(line) for line in lines]
        self.memory = max(part["memory"] for part in parts)
        return [np.mean(step) for step in zip(*[part["losses"] for part in parts])], [max(step) for step in zip(*[part["seconds"] for part in parts])]


class Autopar:
    """The same as an executable, of which a round is a run."""

    def __init__(self, task, folder, threads, ranks):
        self.path = {name: os.path.join(folder, name) for name in ("model.onnx", "recipe.json", "data.npz", "program", "log.jsonl", "describe.json")}
        self.threads = threads
        np.savez(self.path["data.npz"], **task.inputs, **task.labels)
        with open(self.path["recipe.json"], "w") as file:
            json.dump({"loss": task.loss_name, "optimizer": {"kind": "adamw", "lr": LEARNING_RATE}}, file)
        begin = time.perf_counter()
        self.run(os.path.join(os.environ["AUTOPAR_BIN"], "autopar"), "compile", self.path["model.onnx"], "--train", self.path["recipe.json"],
                 "--ranks", str(ranks), *(["--strategy", "data"] if ranks > 1 else []), "-o", self.path["program"])
        self.compile_seconds = time.perf_counter() - begin
        self.base = self.run(self.path["program"], "--help")
        self.run(self.path["program"], "--describe", "--json", self.path["describe.json"])
        with open(self.path["describe.json"]) as file:
            self.predicted = max(json.load(file)["entries"][0]["predicted_peak_memory_bytes"])
        self.memory = 0

    @staticmethod
    def run(*command):
        """The most bytes that a process of it held."""
        done = subprocess.run([sys.executable, "-c", CHILD_PEAK, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed")
        return int(done.stdout)

    def round(self):
        peak = self.run(self.path["program"], "--threads", str(self.threads), "--data", self.path["data.npz"], "--steps", str(STEPS),
                        "--log", self.path["log.jsonl"])
        self.memory = max(self.memory, peak - self.base)
        with open(self.path["log.jsonl"]) as file:
            lines = [json.loads(line) for line in file]
        return [line["loss"] for line in lines], [line["seconds"] for line in lines]


def measure(name, folder, threads, rounds, ranks, compiled):
    task = make_task(name)
    export(task, os.path.join(folder, "model.onnx"))
    with contextlib.ExitStack() as stack:
        sides = {"autopar": Autopar(task, folder, threads, ranks), "PyTorch": stack.enter_context(PyTorch(name, threads, ranks))}
        if compiled:
            sides["compiled"] = stack.enter_context(PyTorch(name, threads, ranks, compiled=True))
        seconds = {side: [] for side in sides}
        for number in range(rounds):
            losses = {}
            for side, run in sides.items():
                losses[side], times = run.round()
                seconds[side] += times[1:]
            if number == 0 and not np.allclose(losses["autopar"], losses["PyTorch"], rtol=1e-3):
                raise SystemExit(f"{name}: the losses differ: {losses}; no times for wrong numbers")
    median = {side: statistics.median(times) for side, times in seconds.items()}
    own, eager = sides["autopar"], sides["PyTorch"]
    text = f"{name:9} autopar {median['autopar'] * 1e3:8.1f} ms   PyTorch {median['PyTorch'] * 1e3:8.1f} ms   {median['autopar'] / median['PyTorch']:.2f}x"
    if compiled:
        text += f"   torch.compile {median['compiled'] * 1e3:8.1f} ms   {median['autopar'] / median['compiled']:.2f}x"
    if ranks == 1:
        text += f"   memory {own.memory / 2**20:6.0f} MiB, predicted {own.predicted / 2**20:6.0f}, PyTorch {eager.memory / 2**20:6.0f}"
    print(f"{text}   compiled in {own.compile_seconds:.1f} s", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("models", nargs="*", help=f"of {', '.join(MODELS)}; without one, all")
    arguments.add_argument("--threads", type=int, help="of a rank (2, or 1 with several ranks)")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--ranks", type=int, default=1)
    arguments.add_argument("--compile", action="store_true", help="time torch.compile, too")
    arguments.add_argument("--folder", help="where exports and programs are kept (a temporary one)")
    arguments.add_argument("--worker", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.worker:
        work(*json.loads(options.worker))
        return
    if unknown := set(options.models) - set(MODELS):
        arguments.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(MODELS)}")
    threads = options.threads or (2 if options.ranks == 1 else 1)
    for name in options.models or (MODELS if options.ranks == 1 else ["gpt2"]):
        with tempfile.TemporaryDirectory() as made:
            folder = os.path.join(options.folder, name) if options.folder else made
            os.makedirs(folder, exist_ok=True)
            measure(name, folder, threads, options.rounds, options.ranks, options.compile)


if __name__ == "__main__":
    main()
