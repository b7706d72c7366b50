"""Decodes token by token with a cache that grows, and compares the logits with those of PyTorch's forward pass over the whole text.

    python test/Execution/run_decoding.py [--models gpt2-tiny,llama-tiny,gpt2-124m] [--exporters dynamo,torchscript] [--ranks 1,2,4]
                                          [--tokens N] [--folder DIR]

Needs torch, transformers, onnx and onnxscript; says so and skips where one is absent. Nothing is downloaded: weights are drawn. The
model is exported with one token as input and the cache of all layers as inputs and outputs of a symbolic length; autopar compiles it
with `--bind past=TOKENS` and a `--state` for each tensor of the cache. One token more than fit must end the run with an error. The
last line counts.
"""

import argparse
import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from autopar.compare import worst_ratio  # noqa: E402

NEEDED = ["torch", "transformers", "onnx", "onnxscript"]


def gpt2(**sizes):
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(attn_implementation="eager", **sizes))


def llama(**sizes):
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(attn_implementation="eager", **sizes))


# The build function; how many tokens; two heads share keys and values in llama-tiny.
MODELS = {
    "gpt2-tiny": (lambda: gpt2(n_layer=2, n_embd=48, n_head=4, vocab_size=101, n_positions=24), 24),
    "llama-tiny": (lambda: llama(num_hidden_layers=2, hidden_size=48, num_attention_heads=4, num_key_value_heads=2, vocab_size=101,
                                 intermediate_size=64, max_position_embeddings=64), 24),
    "gpt2-124m": (gpt2, 64),
}


def exported(model, exporter, layers, heads, width, path):
    """Writes the decoder of one token; the names of the cache's inputs."""
    import torch
    from transformers import DynamicCache

    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids, *past):
            cache = DynamicCache()
            for layer in range(layers):
                cache.update(past[2 * layer], past[2 * layer + 1], layer)
            output = self.model(input_ids=ids, past_key_values=cache, use_cache=True)
            return (output.logits, *(kept for layer in output.past_key_values.layers for kept in (layer.keys, layer.values)))

    names = [f"past.{layer}.{kind}" for layer in range(layers) for kind in ("key", "value")]
    outputs = ["logits", *(name.replace("past", "present") for name in names)]
    arguments = (torch.zeros(1, 1, dtype=torch.long), *(torch.randn(1, heads, 9, width) for _ in names))
    common = dict(input_names=["ids", *names], output_names=outputs)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if exporter == "torchscript":
            axes = {name: {2: "past"} for name in names} | {name: {2: "total"} for name in outputs[1:]}
            torch.onnx.export(Decoder().eval(), arguments, path, dynamo=False, dynamic_axes=axes, opset_version=17, **common)
        else:
            size = torch.export.Dim("past", min=2, max=1023)
            torch.onnx.export(Decoder().eval(), arguments, path, dynamo=True, dynamic_shapes=(None, tuple({2: size} for _ in names)), **common)
    return names


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return done.stderr.strip()[-600:] if done.returncode else ""


def attempt(tool, folder, names, ids, want, ranks):
    program, tokens = os.path.join(folder, "program"), ids.shape[1]
    states = [word for name in names for word in ("--state", f"{name}={name.replace('past', 'present')}")]
    if error := run(tool, "compile", os.path.join(folder, "model.onnx"), "-o", program, "--ranks", str(ranks), "--bind", f"past={tokens}", *states):
        return error
    np.savez(os.path.join(folder, "inputs.npz"), ids=ids.T.reshape(tokens, 1, 1))
    step = [program, "--inputs", os.path.join(folder, "inputs.npz"), "--outputs", os.path.join(folder, "out.npz"), "--steps"]
    if error := run(*step, str(tokens)):
        return error
    with np.load(os.path.join(folder, "out.npz")) as got:
        ratio = worst_ratio(got["logits"].reshape(want.shape), want)
    if ratio > 1:
        return f"the logits differ by {ratio:.3g} times the tolerance"
    if "are full: they hold" not in run(*step, str(tokens + 1)):
        return "one token too many is no error"
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--models", default="gpt2-tiny,llama-tiny")
    arguments.add_argument("--exporters", default="torchscript,dynamo")
    arguments.add_argument("--ranks", default="1,2,4")
    arguments.add_argument("--tokens", type=int, help="of the text and of the cache")
    arguments.add_argument("--folder")
    options = arguments.parse_args()
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        print(f"skipped: {', '.join(absent)} not installed")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    import torch
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.models.split(","):
            build, tokens = MODELS[name]
            tokens = options.tokens or tokens
            torch.manual_seed(3)
            model = build().eval()
            config = model.config
            heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
            width = config.hidden_size // config.num_attention_heads
            ids = torch.randint(0, config.vocab_size, (1, tokens))
            with torch.no_grad():
                want = model(input_ids=ids, use_cache=False).logits.numpy()
            for exporter in options.exporters.split(","):
                folder = os.path.join(options.folder or temporary, f"{name}-{exporter}")
                os.makedirs(folder, exist_ok=True)
                names = exported(model, exporter, config.num_hidden_layers, heads, width, os.path.join(folder, "model.onnx"))
                for ranks in map(int, options.ranks.split(",")):
                    start = time.time()
                    error = attempt(find_tool(), folder, names, ids.numpy(), want, ranks)
                    print(f"FAIL: {name} ({exporter}), {ranks} ranks: {error}" if error else
                          f"ok: {name} ({exporter}), {ranks} ranks: {tokens} tokens in {time.time() - start:.1f} s", flush=True)
                    passed, failed = passed + (not error), failed + bool(error)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
