"""How numbers may move: by what a computation of their type may be off, and by what the standard leaves open."""

import numpy as np

from .types import ROUNDING, is_float, largest, smallest_normal

# The oracle's own roundings and its functions' errors, in roundings of the type; those of 16 bits are computed in fp32, and what
# is open is whether a number is rounded between two nodes.
NOISE, NOISE_OF_16_BITS = 6, 1.5


def moved(array, random, amount, rounding=None, absolute=False):
    """Each element by up to `amount` times the noise of its type (`rounding` instead of its own), up or down; beside 1 if that is
    larger and `absolute`."""
    if array.dtype not in ROUNDING:
        return array
    roundings = NOISE_OF_16_BITS if array.dtype.itemsize == 2 else NOISE
    noise = random.uniform(-1, 1, array.shape) * (amount * roundings * (rounding or ROUNDING[array.dtype]))
    wide = array.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(wide), 1) if absolute else wide
        return np.where(np.isfinite(wide), wide + size * noise, wide).astype(array.dtype)


def overflowing(array, count, random):
    """Half of what `count` times would overflow is infinite; beside infinities, which may come first, some of it does not count."""
    with np.errstate(all="ignore"):
        drawn = random.random(array.shape)
        large = np.isfinite(array) & (np.abs(array.astype(np.float64)) > largest(array.dtype) / count)
        array = np.where(large & (drawn < 0.5), np.copysign(np.inf, array), array).astype(array.dtype)
        dropped = large & (drawn > 0.75) & np.isinf(array).any()
        return np.where(dropped, 0, array).astype(array.dtype)


def overflown(power, base, exponent, random):
    """Anything where a power of integers is none of theirs, or of doubles: those are cut in other ways than what is multiplied."""
    if power.dtype.kind not in "iu":
        return power
    with np.errstate(all="ignore"):
        real = np.broadcast_to(np.power(base.astype(np.float64), exponent.astype(np.float64)), power.shape)
    beyond = ~(np.abs(real) < 2.0 ** min(53, 8 * power.dtype.itemsize - 1))
    return np.where(beyond, power ^ random.integers(1, 100, power.shape).astype(power.dtype), power)


def unordered(product, factors, random):
    """Infinite or 0 where factors above 1, or those below, multiplied first would leave the type's range."""
    if not is_float(factors.dtype):
        return product
    with np.errstate(all="ignore"):
        sizes = np.log(np.abs(factors[factors != 0].astype(np.float64)))
    above, below = sizes[sizes > 0].sum(), sizes[sizes < 0].sum()
    open_range = above > np.log(largest(factors.dtype)) or below < np.log(smallest_normal(factors.dtype))
    return np.full_like(product, random.choice([0, np.inf, -np.inf])) if open_range else product


def flushed(array, random):
    """Half of what is below the smallest normal number is 0."""
    tiny = (np.abs(array) < smallest_normal(array.dtype)) & (random.random(array.shape) < 0.5)
    return np.where(tiny, np.copysign(0, array), array).astype(array.dtype)
