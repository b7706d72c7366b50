"""The writer of a Trainer's TensorBoard files, through whichever package is installed."""

import importlib
import os

from ._program import AutoparError

# Modules and the class of each that has add_scalar(tag, value, step): the first that is installed writes.
_WRITERS = (("tensorboard.summary", "Writer"), ("tensorboardX", "SummaryWriter"), ("torch.utils.tensorboard", "SummaryWriter"))
_LEFT_OUT = {"no_labels"}


def _writer_class():
    for module, name in _WRITERS:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue  # not installed, or an old one without it
    raise AutoparError("tensorboard=: none of the packages tensorboard, tensorboardX and torch.utils.tensorboard is there, one of which writes TensorBoard's files: "
                       "pip install tensorboard")


class Board:
    """Writes scalars of steps and of evaluations into files in `folder`; without one it writes nothing."""

    def __init__(self, folder=None):
        self._folder = folder
        self._class = None if folder is None else _writer_class()
        self._writer = None  # is made with the first scalars

    def _add(self, group, values, number):
        if self._class is None:
            return
        self._writer = self._writer or self._class(os.fspath(self._folder))
        for name, value in values.items():
            if name not in _LEFT_OUT:
                self._writer.add_scalar(f"{group}/{name}", value, number)

    def add_step(self, number, values, seconds):
        """`values`: numbers by role, as `loss`; `number`: of the step."""
        self._add("train", values, number)
        self._add("train", {"seconds": seconds}, number)

    def add_metrics(self, steps, values):
        """`values`: metrics by name, of the parameters after so many steps."""
        self._add("evaluation", values, steps)

    def close(self):
        """Writes to the files all that was added."""
        if self._writer:
            self._writer.close()
        self._class = self._writer = None
