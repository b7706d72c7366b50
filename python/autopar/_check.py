"""Checks of the numbers, names and paths that callers give beside arrays. A value of another kind is an error, and is never guessed."""

import math
import numbers
import operator
import os
from typing import Iterable, List, Mapping, Optional

from ._program import AutoparError
from ._tensors import list_text


def whole(name, number, least) -> int:
    """The number, which must be whole, not too small, and fit into 64 bits."""
    try:
        value = operator.index(number)
    except TypeError:
        raise AutoparError(f"{name} is {number!r}, but must be a whole number") from None
    if value < least:
        raise AutoparError(f"{name} is {number}, but must be {least} or more")
    if value >= 1 << 63:
        raise AutoparError(f"{name} is {number}, but must be less than 2**63")
    return value


def seconds(name, value) -> float:
    if not isinstance(value, numbers.Real) or math.isnan(value):
        raise AutoparError(f"{name} is {value!r}, but must be a number of seconds")
    return float(value)


def text(name, value) -> Optional[str]:
    if value is not None and not isinstance(value, str):
        raise AutoparError(f"{name} is {value!r}, but must be a str")
    return value


def path(name, value) -> bytes:
    """The path's bytes for the library, which would read a path with a null character up to that only."""
    try:
        encoded = os.fsencode(value)
    except TypeError:
        raise AutoparError(f"{name} is {value!r}, but must be a path") from None
    if b"\0" in encoded:
        raise AutoparError(f"{name} is {value!r}, which has a null character")
    return encoded


def batches(what, given) -> None:
    """An error where `given` is no iterable of batches. It is not iterated here, for a DataLoader starts its workers then."""
    if isinstance(given, Mapping):
        raise AutoparError(f"{what} of one batch: give a list of batches, [batch]")
    if not hasattr(given, "__iter__") and not hasattr(given, "__getitem__"):
        raise AutoparError(f"{what} of a {type(given).__name__}: give a list or another iterable of batches, dicts of arrays by the names of the inputs")


def output_names(wanted: Iterable[str]) -> List[str]:
    """The names of outputs, of which one alone is not taken for a list of letters."""
    if type(wanted) is not list and (isinstance(wanted, (str, bytes)) or not isinstance(wanted, Iterable)):
        raise AutoparError(f"outputs are {wanted!r}: give a list of their names")
    return list(wanted)


def arrays_by_name(what, given, tensors) -> dict:
    if given is None or type(given) is dict or isinstance(given, Mapping):
        return dict(given or {})
    raise AutoparError(f"{what} are a {type(given).__name__}: give a dict of arrays by the names of the {what}, which are {list_text(tensors)}")
