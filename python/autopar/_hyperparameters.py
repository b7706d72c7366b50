"""Hyperparameters of a training that are set between steps."""

import re
from collections.abc import Mapping
from typing import Dict, Iterator, List, Tuple, Union

import numpy as np

from ._program import AutoparError
from ._session import Session

ROLE = "hyperparameter"


class Hyperparameters(Mapping):
    """What the recipe names `at_run_time`, by name: a number, or a tuple of them, as of `betas`. Assigning sets it for the steps that follow.

        trainer.hyperparameters["lr"] = 1e-4
        trainer.hyperparameters["betas"] = 0.9, 0.95
        dict(trainer.hyperparameters)
    """

    def __init__(self, session: Session):
        self._session = session
        self._states: Dict[str, List[str]] = {}  # those of a list are states NAME[0], NAME[1]
        for info in session.states:
            if info.role == ROLE:
                element = re.fullmatch(r"(.*)\[\d+\]", info.name)
                self._states.setdefault(element[1] if element else info.name, []).append(info.name)

    def _find(self, name) -> List[str]:
        if name in self:
            return self._states[_key(name)]
        if not self._states:
            raise AutoparError(f"no hyperparameter {name!r} is set at run time: the recipe names none in 'at_run_time', as in \"at_run_time\": [\"lr\"]")
        known = ", ".join(map(repr, self._states))
        raise AutoparError(f"no hyperparameter {name!r} is set at run time; those are {known}, and the recipe's 'at_run_time' can name others")

    def __getitem__(self, name: str) -> Union[float, Tuple[float, ...]]:
        values = tuple(float(self._session.read_state(state, ROLE)) for state in self._find(name))
        return values if len(values) > 1 else values[0]

    def __setitem__(self, name: str, value) -> None:
        states = self._find(name)
        numbers = _numbers(name, value, len(states))
        before = [self._session.read_state(state, ROLE) for state in states[:-1]]
        try:
            for state, number in zip(states, numbers):
                self._session.write_state(state, np.float64(number), ROLE)
        except AutoparError:
            for state, number in zip(states, before):
                self._session.write_state(state, number, ROLE)
            raise

    def __contains__(self, name) -> bool:
        return _key(name) in self._states

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __repr__(self):
        return repr(dict(self))


def _key(name):
    """Without the object of the recipe that may stand before it."""
    return re.sub(r"^(optimizer|schedule)\.", "", name) if isinstance(name, str) else name


def _number(value) -> float:
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__float__") or getattr(value, "shape", ()) != ():
        raise TypeError
    return float(value)


def _numbers(name, value, count) -> List[float]:
    try:
        numbers = [_number(value)] if count == 1 else [_number(each) for each in value]
        if len(numbers) == count:
            return numbers
    except (TypeError, ValueError):
        pass
    wanted = "a number" if count == 1 else f"a sequence of {count} numbers"
    raise AutoparError(f"hyperparameter {name!r} must be {wanted}, and is given {value!r}")
