"""The place of an iterable of batches, its `state_dict`, as a text that a checkpoint keeps.

JSON, in which objects with one key that begins with a `$` stand for what JSON has not: tuples, bytes, dicts with other keys than texts, arrays and tensors. Nothing
that is read runs code, as a pickle would: checkpoints may come from anywhere.
"""

import base64
import json
import sys

import numpy as np

from ._program import AutoparError

_PLAIN = (type(None), bool, int, float, str)
_MOST = 16 << 20


def _encode(value, where):
    torch = sys.modules.get("torch")  # where it is not imported nothing is a tensor
    if type(value) in _PLAIN:
        return value
    if isinstance(value, dict):
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: _encode(item, f"{where}[{key!r}]") for key, item in value.items()}
        return {"$dict": [[_encode(key, f"a key of {where}"), _encode(item, f"{where}[{key!r}]")] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        items = [_encode(item, f"{where}[{number}]") for number, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    if torch and isinstance(value, torch.Tensor):
        return {"$tensor": _encode_array(value.detach().cpu().numpy(), where)}
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return {"$scalar": _encode_array(np.asarray(value), where)}
    if isinstance(value, np.ndarray):
        return {"$array": _encode_array(value, where)}
    raise AutoparError(f"{where} is a {type(value).__name__}, which a checkpoint cannot keep: it keeps numbers, texts, bytes, arrays, and lists, tuples and dicts of them")


def _encode_array(array, where):
    if array.dtype.kind not in "biuf":
        raise AutoparError(f"{where} is an array of {array.dtype}, which a checkpoint cannot keep: it keeps arrays of numbers")
    return [array.dtype.str, list(array.shape), base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()]


def _decode_array(value):
    dtype, shape, data = value
    if np.dtype(dtype).kind not in "biuf":
        raise ValueError(dtype)
    return np.frombuffer(base64.b64decode(data), np.dtype(dtype)).reshape(shape).copy()


def _decode_tensor(value):
    import torch
    return torch.from_numpy(_decode_array(value))


_READERS = {"$dict": lambda items: {_decode(key): _decode(item) for key, item in items}, "$tuple": lambda items: tuple(_decode(item) for item in items),
            "$bytes": base64.b64decode, "$array": _decode_array, "$tensor": _decode_tensor, "$scalar": lambda value: _decode_array(value)[()]}


def _decode(value):
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), "")
    if len(value) == 1 and kind.startswith("$"):
        return _READERS[kind](value[kind])
    return {key: _decode(item) for key, item in value.items()}


def place_of(iterable) -> str:
    """The place that `iterable` tells, as a text; "" if it tells none."""
    state = getattr(iterable, "state_dict", None)
    if not callable(state):
        return ""
    text = json.dumps(_encode(state(), "state_dict()"))
    if len(text) > _MOST:
        raise AutoparError(f"state_dict() of the data has {len(text)} bytes as a text, of which a checkpoint keeps at most {_MOST}: it should tell a place, not the data")
    return text


def takes_place(iterable) -> bool:
    return callable(getattr(iterable, "load_state_dict", None))


def restore(iterable, text) -> None:
    """Gives `iterable` the place that `place_of` told."""
    try:
        state = _decode(json.loads(text))
    except (ValueError, KeyError, TypeError, ImportError, RecursionError) as error:
        raise AutoparError(f"the place of the data in the checkpoint cannot be read: {error!r}") from error
    iterable.load_state_dict(state)
