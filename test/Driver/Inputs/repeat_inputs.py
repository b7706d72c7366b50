"""Writes the arrays of an .npz file so many times, one behind the other along a new first dimension, each time rolled by one more:
`repeat_inputs.py FROM COUNT TO`."""

import sys

import numpy

arrays = numpy.load(sys.argv[1])
numpy.savez(sys.argv[3], **{name: numpy.stack([numpy.roll(array, step) for step in range(int(sys.argv[2]))]) for name, array in arrays.items()})
