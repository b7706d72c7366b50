"""The usual call of a session: an array for each input by name, all outputs into new arrays, of a program with one entry.

After a step the caches hold nothing of Python's, so that each object that a call touches costs: this way through a call touches few. What does not fit it
takes the way of all calls, which says what is wrong.
"""

import ctypes
import os
from typing import Dict, Mapping, Optional

import numpy as np

from . import _library

_forks = 0  # of the process that this one was forked from


def _count_fork():
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class UsualCalls:
    """Calls of one entry, one at a time."""

    def __init__(self, library, entry):
        self._run, self._entry, self._forks = library.autopar_session_run, entry.handle, _forks
        self._inputs, self._outputs = ([(index, info.name, info.dtype, info.shape, info.dtype.alignment - 1) for index, info in enumerate(infos)]
                                       for infos in (entry.inputs, entry.outputs))
        self._read, self._written = ((ctypes.c_void_p * max(len(infos), 1))() for infos in (entry.inputs, entry.outputs))

    @staticmethod
    def suit(entries) -> bool:
        """True if there is one entry, of tensors whose memory Python's buffers describe."""
        only = entries[0]
        return len(entries) == 1 and not only.fixed_inputs and all(info.dtype.kind in "fiub" and 0 not in info.shape for info in only.inputs + only.outputs)

    def call(self, feeds: Mapping[str, object], address_of=ctypes.addressof, of_buffer=ctypes.c_char.from_buffer) -> Optional[Dict[str, np.ndarray]]:
        """The outputs of a step; None: nothing was done, for something does not fit. The caller holds the session's lock."""
        if type(feeds) is not dict or len(feeds) != len(self._inputs) or self._forks != _forks:
            return None
        arrays = []  # another thread may change `feeds` during the step
        try:
            for index, name, dtype, shape, unaligned in self._inputs:
                value = feeds[name]
                if type(value) is not np.ndarray or value.dtype is not dtype or value.shape != shape:
                    return None
                arrays.append(value)
                self._read[index] = address = address_of(of_buffer(value))
                if address & unaligned:
                    return None
        except (KeyError, TypeError, BufferError):  # missing, read-only or with other strides
            return None
        results = {}
        for index, name, dtype, shape, _ in self._outputs:
            results[name] = array = np.empty(shape, dtype)
            self._written[index] = address_of(of_buffer(array))
        if self._run(self._entry, self._read, self._written):
            _library.check(1)
        return results
