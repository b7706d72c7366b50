"""Draws the losses of training runs, and how far each is from the last one given.

    python -m autopar.plot_training OUT.svg NAME=LOSSES NAME=LOSSES ... [--title TEXT]

LOSSES is the log that an executable wrote with --log (JSON lines) or a .npy file of losses by step. Needs matplotlib. The file has no
time in it: the same losses give the same bytes.
"""

import argparse
import json

import matplotlib
import numpy as np

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "autopar", "svg.fonttype": "none", "font.size": 9})

import matplotlib.pyplot as plt  # noqa: E402 after the backend is chosen


def read_losses(path):
    """float64[steps]; NaN where the log has null."""
    if path.endswith(".npy"):
        return np.load(path).astype(np.float64)
    with open(path) as file:
        losses = [json.loads(line)["loss"] for line in file]
    return np.array([np.nan if loss is None else loss for loss in losses])


def draw(runs, title, path):
    """`runs`: {name: losses}. Losses above, relative differences from the last run below."""
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 4.2), height_ratios=[2, 1], layout="constrained")
    *_, (reference, want) = runs.items()
    for number, (name, losses) in enumerate(runs.items()):
        style = {"color": f"C{number}", "linewidth": 1 + 1.5 * (len(runs) - 1 - number)}
        above.plot(losses, label=name, **style)
        if name != reference:
            steps = min(len(losses), len(want))
            difference = np.abs(losses[:steps] - want[:steps]) / np.abs(want[:steps])
            below.plot(np.maximum(difference, 1e-9), color=f"C{number}", linewidth=1)
    above.set(ylabel="loss", title=title)
    above.legend(frameon=False)
    below.set(xlabel="step", ylabel=f"relative to\n{reference}", yscale="log")
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    plt.close(figure)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out")
    arguments.add_argument("runs", nargs="+", metavar="NAME=LOSSES")
    arguments.add_argument("--title", default="")
    options = arguments.parse_args()
    runs = {}
    for run in options.runs:
        name, found, path = run.rpartition("=")
        if not found:
            arguments.error(f"'{run}' is not NAME=LOSSES")
        runs[name] = read_losses(path)
    draw(runs, options.title, options.out)


if __name__ == "__main__":
    main()
