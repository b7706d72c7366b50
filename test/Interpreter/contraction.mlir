// RUN: autopar-opt %s --autopar-interpret -o /dev/null | FileCheck %s

// Sums of products, and windows with strides, dilation, padding and groups.

func.func @step() -> (tensor<2x2xi64>, tensor<2xi64>, tensor<2x2xi64>, tensor<1x1x3xf32>, tensor<1x1x2xf32>,
                      tensor<1x2x2xf32>, tensor<1x1x3xf32>, tensor<1x1x2xf32>) {
  %a = autopar.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %b = autopar.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  // CHECK: result0 = dense<{{\[}}[19, 22], [43, 50]]>
  %0 = autopar.einsum "mk,kn->mn" %a, %b : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
  // Batch m: one dot product per row.
  // CHECK: result1 = dense<[17, 53]>
  %1 = autopar.einsum "mk,mk->m" %a, %b : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2xi64>
  // Transposed operand and result.
  // CHECK: result2 = dense<{{\[}}[17, 39], [23, 53]]>
  %2 = autopar.einsum "mk,nk->nm" %a, %b : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>

  %x = autopar.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]]]> : tensor<1x1x5xf32>
  %w = autopar.constant dense<[[[1.0, 10.0]]]> : tensor<1x1x2xf32>
  // 0 1 | 2 3 | 4 5: padded by one before.
  // CHECK: result3 = dense<{{\[\[}}[1.000000e+01, 3.200000e+01, 5.400000e+01]]]>
  %3 = autopar.convolution %x, %w strides = [2] dilations = [1] low = [1] high = [0] groups = 1
    : (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x3xf32>
  // 1 _ _ 4 | 2 _ _ 5.
  // CHECK: result4 = dense<{{\[\[}}[4.100000e+01, 5.200000e+01]]]>
  %4 = autopar.convolution %x, %w strides = [1] dilations = [3] low = [0] high = [0] groups = 1
    : (tensor<1x1x5xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  // Two groups: each output channel reads one input channel.
  %xs = autopar.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<1x2x3xf32>
  %ws = autopar.constant dense<[[[1.0, 1.0]], [[1.0, -1.0]]]> : tensor<2x1x2xf32>
  // CHECK: result5 = dense<{{\[\[}}[3.000000e+00, 5.000000e+00], [-1.000000e+00, -1.000000e+00]]]>
  %5 = autopar.convolution %xs, %ws strides = [1] dilations = [1] low = [0] high = [0] groups = 2
    : (tensor<1x2x3xf32>, tensor<2x1x2xf32>) -> tensor<1x2x2xf32>
  %n = autopar.unary neg %x : tensor<1x1x5xf32> -> tensor<1x1x5xf32>
  // Padding is no element of a maximum.
  // CHECK: result6 = dense<{{\[\[}}[-1.000000e+00, -2.000000e+00, -4.000000e+00]]]>
  %6 = autopar.pool max %n window = [2] strides = [2] dilations = [1] low = [1] high = [0]
    : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>
  // CHECK: result7 = dense<{{\[\[}}[6.000000e+00, 1.200000e+01]]]>
  %7 = autopar.pool sum %x window = [3] strides = [2] dilations = [1] low = [0] high = [0]
    : (tensor<1x1x5xf32>) -> tensor<1x1x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7
    : tensor<2x2xi64>, tensor<2xi64>, tensor<2x2xi64>, tensor<1x1x3xf32>, tensor<1x1x2xf32>, tensor<1x2x2xf32>,
      tensor<1x1x3xf32>, tensor<1x1x2xf32>
}
