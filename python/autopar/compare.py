"""Compares arrays with a reference: |y - ref| <= tolerance * (std(ref) + |ref|).

    python -m autopar.compare got.npz reference.npz [--tolerance 1e-4]
"""

import argparse
import sys

import numpy as np


def worst_ratio(got, reference, tolerance=1e-4):
    """Largest error as a multiple of what is allowed (1 or less is equal); inf for another shape or a NaN."""
    if got.shape != reference.shape:
        return float("inf")
    if reference.size == 0:
        return 0.0
    if reference.dtype.kind != "f":
        return 0.0 if np.array_equal(got, reference) else float("inf")
    ref = reference.astype(np.float64)
    error = np.abs(got.astype(np.float64) - ref)
    allowed = tolerance * (ref.std() + np.abs(ref))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(error == 0, 0.0, error / allowed)
    return float("inf") if np.isnan(ratio).any() else float(ratio.max())


def compare(got, reference, tolerance=1e-4):
    """Worst ratio by name over two dicts of arrays; a missing array is infinitely wrong."""
    return {
        name: worst_ratio(got[name], array, tolerance) if name in got else float("inf")
        for name, array in reference.items()
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("got")
    arguments.add_argument("reference")
    arguments.add_argument("--tolerance", type=float, default=1e-4)
    options = arguments.parse_args()
    with np.load(options.got) as got, np.load(options.reference) as reference:
        ratios = compare(dict(got), dict(reference), options.tolerance)
    for name, ratio in ratios.items():
        print(f"{name}: {'equal' if ratio <= 1 else 'DIFFERENT'}, {ratio:.3g} of the tolerance {options.tolerance:g}")
    sys.exit(any(ratio > 1 for ratio in ratios.values()))


if __name__ == "__main__":
    main()
