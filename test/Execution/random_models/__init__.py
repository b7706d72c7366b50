"""Random valid ONNX models: their makers, what they must compute, the runs, and the search for a smaller failing one."""
