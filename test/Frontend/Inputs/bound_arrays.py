"""Writes the arrays that import-bind-values.test binds inputs to: python bound_arrays.py FOLDER"""

import sys

import numpy as np

folder = sys.argv[1]
np.savez(f"{folder}/in.npz", axes=np.array([0, 2]), h=np.array([0.5, -2], "float16"), large=np.arange(100))
np.savez(f"{folder}/other.npz", other=np.array([0, 2]))
np.save(f"{folder}/axes.npy", np.array([0, 2]))
np.save(f"{folder}/short.npy", np.array([0, 2], "int32"))
