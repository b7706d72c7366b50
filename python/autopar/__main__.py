"""autopar in Python. In a program: `import autopar`, then autopar.compile, load, Trainer, plan, InferenceSession, export_for_training.

Modules that are commands (`--help` lists the options of each):

  python -m autopar.models          writes models with random weights to try out: python -m autopar.models gpt2 gpt2
  python -m autopar.compare         compares two files of arrays
  python -m autopar.plot_training   draws the losses of logs
  python -m autopar.bench           times programs beside onnxruntime; bench_kernels times single operators, bench_training trainings beside PyTorch

`python -m autopar COMMAND ...` runs the program `autopar`, whose help follows.
"""

import os
import sys

from ._program import AutoparError, find_tool


def main():
    words = sys.argv[1:]
    if words in ([], ["-h"], ["--help"]):
        print(__doc__, flush=True)
        words = ["--help"]
    try:
        tool = find_tool()
    except AutoparError as error:
        return f"error: {error}"
    os.execv(tool, [tool, *words])  # signals and the exit code are the program's


if __name__ == "__main__":
    sys.exit(main())
