"""How far each element of an output may be from the oracle's: measured, by moving all values by roundings."""

import numpy as np

from .oracle import NoOracle
from .types import ROUNDING, is_float, smallest_normal

TRIALS, MORE_TRIALS = 3, 40
FACTOR = 6  # times the largest move that was seen: few moves miss the largest
FLOOR, FLOOR_OF_16_BITS = 64, 4  # roundings of an output's own type, of its size and its spread


class Tolerance:
    """`leaves`: arrays of inputs and weights by name."""

    def __init__(self, oracle, leaves, expected, outputs, seed):
        self.oracle, self.leaves, self.outputs = oracle, leaves, outputs
        self.expected = {name: expected[name] for name in outputs}
        self.random = np.random.default_rng(seed)
        self.allowed = {name: self._floor(a) for name, a in self.expected.items()}
        self.loose = {name: np.zeros(a.shape, bool) for name, a in self.expected.items()}  # may be anything
        self.add(TRIALS)

    def _floor(self, array):
        if not is_float(array.dtype):
            return None
        wide = array.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        spread = finite.std() if finite.size else 0
        rounding = (FLOOR_OF_16_BITS if array.dtype.itemsize == 2 else FLOOR) * ROUNDING[array.dtype]
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(rounding * (np.abs(wide) + spread), posinf=0) + 16 * smallest_normal(array.dtype)

    def add(self, trials):
        """Moves all values so many times, at times by more: few small moves reach a jump nearby, that of a comparison."""
        for i in range(trials):
            times = (1, 2, 4)[i % 3]
            try:
                values = self.oracle.run(self.leaves, self.random, times)
            except NoOracle:  # an index left its range: nothing can be said
                values = {}
            for name in self.outputs:
                self._see(name, values.get(name), times)

    def _see(self, name, moved, times):
        expected = self.expected[name]
        if moved is None or moved.shape != expected.shape:
            self.loose[name][...] = True
            return
        if not is_float(expected.dtype):
            self.loose[name] |= moved != expected
            return
        with np.errstate(all="ignore"):
            a, b = moved.astype(np.float64), expected.astype(np.float64)
            both = np.isfinite(a) & np.isfinite(b)
            self.loose[name] |= ~both & ~((a == b) | np.isnan(a) & np.isnan(b))
            self.allowed[name] = np.maximum(self.allowed[name], np.where(both, FACTOR / times * np.abs(a - b), 0))

    def wrong(self, name, got):
        """Why an output is wrong, or ""."""
        expected = self.expected[name]
        if got is None:
            return f"output {name} is missing"
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return f"output {name} is {got.dtype}{list(got.shape)}, not {expected.dtype}{list(expected.shape)}"
        return self._differs(name, got) if expected.size else ""

    def _differs(self, name, got):
        expected = self.expected[name]
        if not is_float(expected.dtype):
            bad = (got != expected) & ~self.loose[name]
            ratio = bad.astype(float)
        else:
            with np.errstate(all="ignore"):
                a, b = got.astype(np.float64), expected.astype(np.float64)
                same = (a == b) | np.isnan(a) & np.isnan(b)
                ratio = np.where(same, 0, np.where(np.isfinite(a) & np.isfinite(b), np.abs(a - b) / self.allowed[name], np.inf))
            ratio = np.where(self.loose[name], 0, ratio)
            bad = ratio > 1
        if not bad.any():
            return ""
        at = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        return (f"output {name}: {int(bad.sum())} of {bad.size} elements differ, at {[int(i) for i in at]} {got[at]} for {expected[at]}, "
                f"{ratio[at]:.3g} of the tolerance")

    def check(self, got):
        """Why outputs are wrong, or ""; what differs is looked at again with more moves."""
        found = [text for name in self.outputs if (text := self.wrong(name, got.get(name)))]
        if found and all("differ," in text for text in found):
            self.add(MORE_TRIALS)
            found = [text for name in self.outputs if (text := self.wrong(name, got.get(name)))]
        return "; ".join(found)
