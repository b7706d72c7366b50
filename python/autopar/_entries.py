"""The entries of a program: the model with other sizes, one of which a step takes."""

from typing import NamedTuple, Tuple

from ._program import AutoparError
from ._tensors import COUNTED_ROWS


class Entry(NamedTuple):
    """An entry of a session: its name as `--entry` was written ("" where there is one only), and its tensors."""

    name: str
    inputs: tuple
    outputs: tuple
    fixed_inputs: tuple
    states: tuple
    handle: object
    #: By state the number of the entry whose memory it is.
    owners: Tuple[int, ...]

    def __repr__(self):
        return f"<entry {self.name!r}: {', '.join(map(str, self.inputs)) or 'none'}>"


def _lines(entries):
    return "".join(f"\n  {entry.name}: {', '.join(map(str, entry.inputs)) or 'none'}" for entry in entries)


def _shape(value):
    return tuple(getattr(value, "shape", ()))


def _given(feeds):
    texts = [f"{name} {getattr(value, 'dtype', type(value).__name__)}{list(_shape(value))}" for name, value in feeds.items()]
    return ", ".join(texts) or "none"


def named(entries, name):
    """The number of the entry of that name."""
    for number, entry in enumerate(entries):
        if entry.name == name:
            return number
    if len(entries) == 1 and not entries[0].name:
        raise AutoparError(f"no entry is called {name!r}: the program has one entry, which has no name; leave the entry out")
    raise AutoparError(f"no entry is called {name!r}; the entries:{_lines(entries)}")


def choose(entries, feeds, name):
    """The entry of that name, or without one that whose inputs have the shapes of `feeds`."""
    if name is not None:
        return entries[named(entries, name)]
    if len(entries) == 1:
        return entries[0]
    needed = {entry.name: [info for info in entry.inputs if info.name in feeds or info.role != COUNTED_ROWS] for entry in entries}
    fitting = [entry for entry in entries if all(info.name in feeds and info.shape == _shape(feeds[info.name]) for info in needed[entry.name])]
    if not fitting:
        raise AutoparError(f"no entry takes the inputs {_given(feeds)}; the entries:{_lines(entries)}")
    if len(fitting) > 1:  # an evaluation takes what its training takes, but no labels
        fitting = [entry for entry in fitting if {info.name for info in needed[entry.name]} == set(feeds)] or fitting
    if len(fitting) > 1:
        names = ", ".join(repr(entry.name) for entry in fitting)
        raise AutoparError(f"inputs of these shapes are those of {len(fitting)} entries: say which by entry=, one of {names}")
    return fitting[0]


def state_hint(entry, name, function):
    """What an error adds about states if `name` is no input or output of the entry; `function` reads or writes one."""
    if not entry.states:
        return ""
    known = [info.name for info in entry.states]
    return f"; {name!r} is a state, which steps keep: {function} has it" if name in known else f"; what steps keep are states ({function}): {', '.join(known[:8])}"
