// Rows of a program's tables are printed and read again.
// RUN: autopar-opt %s | autopar-opt | FileCheck %s

// CHECK: #autopar.fixed_input<name = "axes", text = "[0,2]", value = dense<[0, 2]> : tensor<2xi64>>
// CHECK: #autopar.check<output = "first", message = "not finite:", places = ["a NaN in x", "an Inf in x"]>
// CHECK: #autopar.check<output = "full", message = "the states are full">
// CHECK: #autopar.index_bound<input = "ids", table = "w", dim = 0 : i64, size = 50, shape = [8, 2], starts = [0, 1], sizes = [8, 1]>
// CHECK: #autopar.index_bound<input = "labels", text = "labels are classes, 0 to 4", size = 5, ignored = -100 : i64, shape = [8], starts = [0], sizes = [8]>
// CHECK: #autopar.hyperparameter<name = "lr", least = 0.000000e+00 : f64>
// CHECK: #autopar.hyperparameter<name = "steps", above = 0.000000e+00 : f64, below = 1.000000e+00 : f64, integer = true>
// CHECK: #autopar.known_tensor<name = "scales", bytes = 16, content = "0123">
// CHECK: #autopar.weight_file<file = "/weights", name = "weights", made = true>
// CHECK: #autopar.weight_file<file = "m.onnx", name = "../m.onnx", size = 10 : i64, structure = "01", content = "23">
// CHECK: #autopar.made_weight<name = "w", offset = 0, size = 64>
// CHECK: #autopar.grid_kernel<name = "kernel_0", threads = 128, shared_bytes = 0, scalars = 1, bytes = [64, 32], access = [1, 2]>
func.func private @rows() attributes {rows = [
  #autopar.fixed_input<name = "axes", text = "[0,2]", value = dense<[0, 2]> : tensor<2xi64>>,
  #autopar.check<output = "first", message = "not finite:", places = ["a NaN in x", "an Inf in x"]>,
  #autopar.check<message = "the states are full", output = "full">,
  #autopar.index_bound<input = "ids", table = "w", dim = 0 : i64, size = 50, shape = [8, 2], starts = [0, 1], sizes = [8, 1]>,
  #autopar.index_bound<input = "labels", text = "labels are classes, 0 to 4", size = 5, ignored = -100 : i64, shape = [8], starts = [0], sizes = [8]>,
  #autopar.hyperparameter<name = "lr", least = 0.0 : f64>,
  #autopar.hyperparameter<name = "steps", above = 0.0 : f64, below = 1.0 : f64, integer = true>,
  #autopar.known_tensor<name = "scales", bytes = 16, content = "0123">,
  #autopar.weight_file<file = "/weights", name = "weights", made = true>,
  #autopar.weight_file<file = "m.onnx", name = "../m.onnx", size = 10 : i64, structure = "01", content = "23">,
  #autopar.made_weight<name = "w", offset = 0, size = 64>,
  #autopar.grid_kernel<name = "kernel_0", threads = 128, shared_bytes = 0, scalars = 1, bytes = [64, 32], access = [1, 2]>]}
