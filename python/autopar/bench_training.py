"""Times a training step beside PyTorch's: the same model, data, optimizer and number of threads, in one run.

    python -m autopar.bench_training [gpt2 | bert | resnet50 ...] [--threads N] [--rounds N] [--folder DIR]

Needs a Python with torch, transformers, torchvision, onnx and onnxscript; AUTOPAR_BIN: the folder of the built tools. Each model is
exported to ONNX with its parameters kept (GPT-2 of 124 million parameters on 4 x 128 tokens, BERT-base on 8 x 128, ResNet-50 with
batch 8 in training mode) and trained by AdamW on random data. Rounds of steps of both take turns, the first step of each does not
count; a time is the median. The losses of the first rounds must agree, or no time is printed.
"""

import argparse
import json
import os
import statistics
import subprocess
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


class PyTorch:
    """A task, eagerly."""

    def __init__(self, task):
        self.task = task
        self.inputs = [torch.from_numpy(array) for array in task.inputs.values()]
        self.labels = [torch.from_numpy(array) for array in task.labels.values()]
        self.optimizer = torch.optim.AdamW(task.model.parameters(), lr=LEARNING_RATE)

    def export(self, path):
        first, names = tuple(array[0] for array in self.inputs), list(self.task.inputs)
        if any(isinstance(part, torch.nn.BatchNorm2d) for part in self.task.model.modules()):
            # The older exporter keeps batch norm as it is in training.
            torch.onnx.export(self.task.model, first, path, input_names=names, opset_version=17, dynamo=False,
                              training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
        else:
            torch.onnx.export(self.task.model, first, path, input_names=names, opset_version=18, dynamo=True, external_data=False, verbose=False)

    def round(self):
        """Losses and seconds of the steps."""
        losses, seconds = [], []
        for step in range(STEPS):
            begin = time.perf_counter()
            inputs = [array[step] for array in self.inputs]
            loss = self.task.loss(self.task.model(*inputs), *inputs, *[array[step] for array in self.labels])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            seconds.append(time.perf_counter() - begin)
        return losses, seconds


class Autopar:
    """The same as an executable, of which a round is a run."""

    def __init__(self, task, folder, threads):
        self.path = {name: os.path.join(folder, name) for name in ("model.onnx", "recipe.json", "data.npz", "program", "log.jsonl")}
        self.threads = threads
        np.savez(self.path["data.npz"], **task.inputs, **task.labels)
        with open(self.path["recipe.json"], "w") as file:
            json.dump({"loss": task.loss_name, "optimizer": {"kind": "adamw", "lr": LEARNING_RATE}}, file)
        begin = time.perf_counter()
        self.run(os.path.join(os.environ["AUTOPAR_BIN"], "autopar"), "compile", self.path["model.onnx"], "--train", self.path["recipe.json"],
                 "-o", self.path["program"])
        self.compile_seconds = time.perf_counter() - begin

    @staticmethod
    def run(*command):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def round(self):
        self.run(self.path["program"], "--threads", str(self.threads), "--data", self.path["data.npz"], "--steps", str(STEPS),
                 "--log", self.path["log.jsonl"])
        with open(self.path["log.jsonl"]) as file:
            lines = [json.loads(line) for line in file]
        return [line["loss"] for line in lines], [line["seconds"] for line in lines]


def measure(name, folder, threads, rounds):
    torch.manual_seed(0)
    torch.set_num_threads(threads)
    task = MODELS[name](np.random.Generator(np.random.PCG64(0)))
    eager = PyTorch(task)
    eager.export(os.path.join(folder, "model.onnx"))
    own = Autopar(task, folder, threads)
    eager_seconds, own_seconds = [], []
    for number in range(rounds):
        want, seconds = eager.round()
        eager_seconds += seconds[1:]
        got, seconds = own.round()
        own_seconds += seconds[1:]
        if number == 0 and not np.allclose(got, want, rtol=1e-3):
            raise SystemExit(f"{name}: the losses differ: {got} and {want}; no times for wrong numbers")
    ours, theirs = statistics.median(own_seconds), statistics.median(eager_seconds)
    print(f"{name:10} autopar {ours * 1e3:9.1f} ms   PyTorch {theirs * 1e3:9.1f} ms   {ours / theirs:.2f}x   "
          f"compiled in {own.compile_seconds:.1f} s", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("models", nargs="*", help=f"of {', '.join(MODELS)}; without one, all")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--folder", help="where exports and programs are kept (a temporary one)")
    options = arguments.parse_args()
    if unknown := set(options.models) - set(MODELS):
        arguments.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(MODELS)}")
    for name in options.models or MODELS:
        with tempfile.TemporaryDirectory() as made:
            folder = os.path.join(options.folder, name) if options.folder else made
            os.makedirs(folder, exist_ok=True)
            measure(name, folder, options.threads, options.rounds)


if __name__ == "__main__":
    main()
