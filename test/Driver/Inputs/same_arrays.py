"""Compares the arrays of two .npz files by name: `same_arrays.py A B`; nearly equal ones agree."""

import sys

import numpy

one, other = (numpy.load(path) for path in sys.argv[1:3])
assert sorted(one) == sorted(other), f"{sorted(one)} and {sorted(other)}"
for name in one:
    numpy.testing.assert_allclose(one[name], other[name], rtol=1e-4, atol=1e-5, err_msg=name)
print(f"{len(one.files)} arrays agree")
