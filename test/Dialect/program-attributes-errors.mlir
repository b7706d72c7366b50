// RUN: autopar-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{has no name}}
func.func private @row() attributes {row = #autopar.fixed_input<name = "", text = "2", value = dense<2> : tensor<i64>>}

// -----

// expected-error @below {{has places [1], which are no texts}}
func.func private @row() attributes {row = #autopar.check<output = "c", message = "m", places = [1]>}

// -----

// expected-error @below {{has to have either table and dim, or text}}
func.func private @row() attributes {row = #autopar.index_bound<input = "i", table = "w", size = 5, shape = [2], starts = [0], sizes = [2]>}

// -----

// expected-error @below {{has size -5}}
func.func private @row() attributes {row = #autopar.index_bound<input = "i", text = "t", size = -5, shape = [2], starts = [0], sizes = [2]>}

// -----

// expected-error @below {{has starts [1] and sizes [2], which are no part of an input of shape [2]}}
func.func private @row() attributes {row = #autopar.index_bound<input = "i", text = "t", size = 5, shape = [2], starts = [1], sizes = [2]>}

// -----

// expected-error @below {{has to have either least or above}}
func.func private @row() attributes {row = #autopar.hyperparameter<name = "lr">}

// -----

// expected-error @below {{has bytes -1}}
func.func private @row() attributes {row = #autopar.known_tensor<name = "w", bytes = -1, content = "">}

// -----

// expected-error @below {{is made by the compiler, and described as if it had been there}}
func.func private @row() attributes {row = #autopar.weight_file<file = "/weights", name = "weights", size = 4 : i64, made = true>}

// -----

// expected-error @below {{has offset -64}}
func.func private @row() attributes {row = #autopar.made_weight<name = "w", offset = -64, size = 64>}

// -----

// expected-error @below {{has 1 sizes and 2 accesses of buffers}}
func.func private @row() attributes {row = #autopar.grid_kernel<name = "k", threads = 1, shared_bytes = 0, scalars = 0, bytes = [64], access = [1, 2]>}

// -----

// expected-error @below {{has a buffer of 64 bytes and access 4}}
func.func private @row() attributes {row = #autopar.grid_kernel<name = "k", threads = 1, shared_bytes = 0, scalars = 0, bytes = [64], access = [4]>}

// -----

// expected-error @below {{has blocks of 0 threads}}
func.func private @row() attributes {row = #autopar.grid_kernel<name = "k", threads = 0, shared_bytes = 0, scalars = 0, bytes = [], access = []>}

// -----

// expected-error @below {{autopar.checks must be an array of #autopar.check}}
func.func private @rows() attributes {autopar.checks = [#autopar.hyperparameter<name = "lr", least = 0.0 : f64>]}

// -----

// expected-error @below {{autopar.kernels must be an array of #autopar.grid_kernel}}
func.func private @rows() attributes {autopar.kernels = 3}
