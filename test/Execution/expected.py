"""Errors that a check expects of the package."""

import autopar


def expect_error(body, *parts):
    """Runs `body`, which must raise an AutoparError with these parts in its message."""
    try:
        body()
    except autopar.AutoparError as error:
        for part in parts:
            assert part in str(error), f"no {part!r} in: {error}"
        return
    raise AssertionError(f"no error, but one with {parts[0]!r} was expected")
