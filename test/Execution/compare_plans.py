"""Compares the plans of two builds of the compiler byte for byte, and the times of their searches.

    python test/Execution/compare_plans.py OTHER_TOOL [TOOL] [--rounds 1] [--only TEXT]

A case is a graph of ../shared/models/graphs, a cluster, and options: memory limits, objectives, strategies, training. For each case
both compilers plan in turn. They must write the same bytes: the plan file, its page and what is printed of it (without its time);
or refuse the case with the same words. A search's time is what `--verbose` tells of the phase `plan`, by --rounds the median
of so many. A line per case has both times and FAIL where a byte differs, and which. Then the sum of both compilers' times with
the spread of the rounds' sums, and "N passed, N failed, N skipped". Times decide nothing here.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))

from autopar import find_tool  # noqa: E402
from shared_models import GRAPHS, end_without  # noqa: E402

SECONDS = 600  # that a plan may take before it is given up
RECIPES = {
    "image": {"loss": "softmax_cross_entropy_mean", "optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9}},
    "text": {"loss": "causal_lm_shifted_cross_entropy_mean", "optimizer": {"kind": "adamw", "lr": 1e-4}},
}
# graph: pairs of a cluster and options, "@" before the name of a recipe
CASES = {
    "bert-base": ["1x8:h100-80gb", "2x4:a100-80gb --memory-limit 150MiB", "1x4:a100-80gb --memory-limit 140MiB",
                  "4x1:v100-32gb@12.5 --strategy layer", "8x8:a100-80gb --objective throughput"],
    "bert-large": ["2x8:a100-80gb --precision bf16", "4x1:a100-80gb@1 --precision bf16 --memory-limit 250MiB"],
    "dlrm-click-logs": ["8x8:a100-80gb", "1x8:h100-80gb --memory-limit 4GiB"],
    "efficientnet-b0": ["8x8:h100-80gb --precision bf16", "1x4:a100-80gb"],
    "gpt2-124m": ["2x4:a100-80gb --precision bf16 --memory-limit 400MiB", "2x4:a100-80gb --precision bf16 --memory-limit 150MiB",
                  "4x1:h100-80gb@2 --strategy layer --micro-batches 4", "1x8:h100-80gb --strategy tensor",
                  "1x4:a100-80gb --train @text", "4x2:v100-32gb --precision fp16 --train @text --memory-limit 1GiB"],
    "gpt2-1.5b": ["1x8:a100-80gb --precision bf16", "2x4:v100-32gb@12.5 --precision fp16 --memory-limit 2GiB"],
    "gpt3-13b": ["4x8:v100-32gb@12.5 --precision fp16", "4x8:v100-32gb@12.5 --precision fp16 --train @text",
                 "1x8:a100-80gb --precision bf16 --memory-limit 6GiB", "16x1:h100-80gb --precision bf16 --strategy layer"],
    "gpt3-175b": ["128x8:a100-80gb --precision bf16", "16x8:a100-80gb --precision bf16 --mesh x=8,y=4,z=4",
                  "8x8:h100-80gb --precision bf16 --objective throughput"],
    "llama-3-70b": ["8x8:h100-80gb --precision bf16", "4x8:a100-80gb --precision bf16 --memory-limit 20GiB"],
    "llama-3-8b": ["8x8:h100-80gb --precision bf16", "1x8:h100-80gb --precision bf16 --memory-limit 6GiB",
                   "2x8:a100-80gb --precision bf16 --fewest-devices"],
    "llama-3.2-1b": ["1x4:a100-80gb --precision bf16 --memory-limit 1GiB", "4x1:a100-80gb@1 --precision bf16"],
    "mixtral-8x7b": ["8x8:h100-80gb --precision bf16", "2x8:h100-80gb --precision bf16 --memory-limit 10GiB"],
    "mixtral-8x7b-capacity": ["2x8:h100-80gb --precision bf16"],
    "resnet50": ["256x8:a100-80gb --precision bf16", "1x8:a100-80gb --memory-limit 120MiB", "2x4:v100-32gb --train @image"],
    "t5-3b": ["1x8:a100-80gb --precision bf16", "2x4:a100-80gb --precision bf16 --memory-limit 1GiB"],
    "vit-b16": ["2x8:h100-80gb --precision bf16", "1x8:a100-80gb --memory-limit 60MiB"],
    "wide-resnet101": ["2x8:a100-80gb", "1x8:h100-80gb --memory-limit 300MiB", "4x1:v100-32gb@1 --strategy layer"],
}


def plan(tool, graph, options, work):
    """All that a compiler writes of a case by its name, and the seconds of its search."""
    names = ("plan.json", "page.html")
    recipe = os.path.join(work, "recipe.json")
    if match := re.search(r"@(image|text)", options):
        with open(recipe, "w") as file:
            json.dump(RECIPES[match[1]], file)
        options = options.replace(match[0], recipe)
    for name in names:
        if os.path.exists(os.path.join(work, name)):
            os.remove(os.path.join(work, name))
    command = [tool, "plan", os.path.join(GRAPHS, f"{graph}.onnx.gz"), "--cluster", *options.split(), "--verbose"]
    command += ["--trace-planning", "--save-plan", os.path.join(work, names[0]), "--html", os.path.join(work, names[1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    seconds = re.search(r"^autopar: plan +([0-9.]+) s$", done.stderr, re.MULTILINE)
    written = {"text": re.sub("planned in .*", "", done.stdout), "exit code": done.returncode,
               "messages": re.sub(r"^autopar: [a-z-]+ +[0-9.]+ s\n", "", done.stderr, flags=re.MULTILINE)}
    for name in names:
        path = os.path.join(work, name)
        if os.path.exists(path):
            with open(path) as file:
                written[name] = re.sub("planned in [^<\"]*", "", file.read())
    return written, float(seconds[1]) if seconds else 0.0


def compare(tools, graph, options, rounds, work):
    """The names of what differs between both compilers, and the seconds of each round for both."""
    seconds, differing = ([], []), set()
    for _ in range(rounds):
        results = [plan(tool, graph, options, work) for tool in tools]
        for times, (_, taken) in zip(seconds, results):
            times.append(taken)
        first, second = (written for written, _ in results)
        differing |= {name for name in {*first, *second} if first.get(name) != second.get(name)}
    return sorted(differing), seconds, first["exit code"]


def told_sum(name, cases):
    """The sum of the medians, and the least and the most of the rounds' sums."""
    sums = [sum(times) for times in zip(*cases)]
    medians = sum(statistics.median(times) for times in cases)
    return f"{name} {medians:.2f} s in all, of {min(sums):.2f} to {max(sums):.2f} s by round"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", help="the compiler to compare with")
    parser.add_argument("tool", nargs="?", help="the compiler (default: the build's)")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="", metavar="TEXT", help="the cases whose graph and options contain it")
    options = parser.parse_args()
    cases = [(graph, wanted) for graph, rows in CASES.items() for wanted in rows if options.only in f"{graph} {wanted}"]
    end_without(GRAPHS, len(cases))
    if options.rounds < 1 or not cases:
        parser.error("there is nothing to compare: one round at least, of one of " + ", ".join(CASES))
    times, failed = ([], []), 0
    with tempfile.TemporaryDirectory() as work:
        for graph, wanted in cases:
            differing, seconds, code = compare((options.tool or find_tool(), options.other), graph, wanted, options.rounds, work)
            for told, rounds in zip(times, seconds):
                told.append(rounds)
            failed += bool(differing)
            medians = " ".join(f"{statistics.median(rounds):6.2f}" for rounds in seconds)
            print(f"{medians}  {graph} {wanted}{' (refused)' * bool(code)}{' FAIL: ' * bool(differing)}{', '.join(differing)}", flush=True)
    print(told_sum("these searches take", times[0]), told_sum("the others", times[1]), sep="\n")
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
