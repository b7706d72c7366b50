// A call says what the kernel's body computes.
// RUN: autopar-opt %s --verify-diagnostics --split-input-file

// expected-error @+2 {{unknown kind of library call scan}}
func.func @unknown(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %y = autopar.kernel ins(%x, %w) library <scan, a = 0, b = 1> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  }
}

// -----

func.func @no_such_role(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{a GEMM has no 'q'}}
  %y = autopar.kernel ins(%x, %w) library <gemm, a = 0, q = 1> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  }
}

// -----

func.func @no_operand(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{is a GEMM without operand 'b'}}
  %y = autopar.kernel ins(%x, %w) library <gemm, a = 0> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  }
}

// -----

func.func @unknown_activation(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{unknown activation swish}}
  %y = autopar.kernel ins(%x, %w) library <gemm, a = 0, b = 1, activation = swish> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  }
}

// -----

func.func @no_truth(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{expected true or false}}
  %y = autopar.kernel ins(%x, %w) library <convolution, a = 0, b = 1, channels_last = maybe> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  }
}

// -----

func.func @no_root(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{is no library call: its body has no op that a library computes, or several}}
  %y = autopar.kernel ins(%x, %x) library <gemm, a = 0, b = 1> : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x8xf32>, %1: tensor<2x8xf32>):
    %2 = autopar.unary relu %0 : tensor<2x8xf32> -> tensor<2x8xf32>
    autopar.yield %2 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @another_kind(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{is no library call: 'autopar.einsum' is not a convolution}}
  %y = autopar.kernel ins(%x, %w) library <convolution, a = 0, b = 1> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    autopar.yield %2 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @swapped(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.einsum' reads another value as 'a' than its call #autopar.library_call<gemm, a = 1, b = 0> says}}
  %y = autopar.kernel ins(%x, %w) library <gemm, a = 1, b = 0> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    autopar.yield %2 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @activation_not_said(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.einsum' is followed by more than its call #autopar.library_call<gemm, a = 0, b = 1> says}}
  %y = autopar.kernel ins(%x, %w) library <gemm, a = 0, b = 1> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %3 = autopar.unary relu %2 : tensor<2x8xf32> -> tensor<2x8xf32>
    autopar.yield %3 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @another_activation(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.einsum' is not followed by tanh}}
  %y = autopar.kernel ins(%x, %w) library <gemm, a = 0, b = 1, activation = tanh> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %3 = autopar.unary relu %2 : tensor<2x8xf32> -> tensor<2x8xf32>
    autopar.yield %3 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @no_silu(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.einsum' is not followed by silu}}
  %y = autopar.kernel ins(%x, %w) library <gemm, a = 0, b = 1, activation = silu> : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %3 = autopar.unary tanh %2 : tensor<2x8xf32> -> tensor<2x8xf32>
    %4 = autopar.binary mul %2, %3 : tensor<2x8xf32>
    autopar.yield %4 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

// A GEMM adds after its activation.
func.func @addend_first(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>, %r: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.einsum' is not followed by relu}}
  %y = autopar.kernel ins(%x, %w, %r) library <gemm, a = 0, b = 1, addend = 2, activation = relu> : (tensor<2x4xf32>, tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>, %2: tensor<2x8xf32>):
    %3 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %4 = autopar.binary add %3, %2 : tensor<2x8xf32>
    %5 = autopar.unary relu %4 : tensor<2x8xf32> -> tensor<2x8xf32>
    autopar.yield %5 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @no_sum(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>, %r: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.einsum' is not followed by its addend}}
  %y = autopar.kernel ins(%x, %w, %r) library <gemm, a = 0, b = 1, addend = 2> : (tensor<2x4xf32>, tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>, %2: tensor<2x8xf32>):
    %3 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %4 = autopar.binary mul %3, %2 : tensor<2x8xf32>
    autopar.yield %4 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @another_addend(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>, %r: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.binary' adds another value than the call's addend}}
  %y = autopar.kernel ins(%x, %w, %r, %r) library <gemm, a = 0, b = 1, addend = 3> : (tensor<2x4xf32>, tensor<4x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>, %2: tensor<2x8xf32>, %other: tensor<2x8xf32>):
    %3 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %4 = autopar.binary add %3, %2 : tensor<2x8xf32>
    autopar.yield %4 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @bias_of_rows(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>, %b: tensor<2xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.binary' adds what is not one value per column or channel}}
  %y = autopar.kernel ins(%x, %w, %b) library <gemm, a = 0, b = 1, bias = 2> : (tensor<2x4xf32>, tensor<4x8xf32>, tensor<2xf32>) -> tensor<2x8xf32> {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>, %2: tensor<2xf32>):
    %3 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %4 = autopar.broadcast %2 dims = [0] : tensor<2xf32> -> tensor<2x8xf32>
    %5 = autopar.binary add %3, %4 : tensor<2x8xf32>
    autopar.yield %5 : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

func.func @two_results(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // expected-error @+1 {{'autopar.yield' gives more than one result}}
  %y:2 = autopar.kernel ins(%x, %w) library <gemm, a = 0, b = 1> : (tensor<2x4xf32>, tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<4x8xf32>):
    %2 = autopar.einsum "mk,kn->mn" %0, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    autopar.yield %2, %2 : tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %y#0 : tensor<2x8xf32>
}

// -----

func.func @packed_gradient(%x: tensor<2x3x5x5xf32>, %g: tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32> {
  // expected-error @+1 {{is the gradient of a filter, which reads no operand packed}}
  %y = autopar.kernel ins(%x, %g) library <filter_gradient, a = 0, b = 1, packed = 0> : (tensor<2x3x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32> {
  ^bb0(%0: tensor<2x3x5x5xf32>, %1: tensor<2x4x5x5xf32>):
    %2 = autopar.transpose %0 perm = [1, 0, 2, 3] : tensor<2x3x5x5xf32> -> tensor<3x2x5x5xf32>
    %3 = autopar.transpose %1 perm = [1, 0, 2, 3] : tensor<2x4x5x5xf32> -> tensor<4x2x5x5xf32>
    %4 = autopar.convolution %2, %3 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<3x2x5x5xf32>, tensor<4x2x5x5xf32>) -> tensor<3x4x3x3xf32>
    autopar.yield %4 : tensor<3x4x3x3xf32>
  }
  return %y : tensor<3x4x3x3xf32>
}

// -----

func.func @gradient_with_activation(%x: tensor<2x3x5x5xf32>, %g: tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32> {
  // expected-error @+1 {{is the gradient of a filter, which has no epilogue as in #autopar.library_call<filter_gradient, a = 0, b = 1, activation = relu>}}
  %y = autopar.kernel ins(%x, %g) library <filter_gradient, a = 0, b = 1, activation = relu> : (tensor<2x3x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32> {
  ^bb0(%0: tensor<2x3x5x5xf32>, %1: tensor<2x4x5x5xf32>):
    %2 = autopar.transpose %0 perm = [1, 0, 2, 3] : tensor<2x3x5x5xf32> -> tensor<3x2x5x5xf32>
    %3 = autopar.transpose %1 perm = [1, 0, 2, 3] : tensor<2x4x5x5xf32> -> tensor<4x2x5x5xf32>
    %4 = autopar.convolution %2, %3 strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<3x2x5x5xf32>, tensor<4x2x5x5xf32>) -> tensor<3x4x3x3xf32>
    autopar.yield %4 : tensor<3x4x3x3xf32>
  }
  return %y : tensor<3x4x3x3xf32>
}
