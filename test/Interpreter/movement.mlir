// RUN: autopar-opt %s --autopar-interpret -o /dev/null | FileCheck %s

// Each result element is an operand element: which one.

func.func @step() -> (tensor<2x3xi64>, tensor<2x2xi64>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<2x2xi64>, tensor<3x4xi64>,
                      tensor<2x4xi64>, tensor<4x3xi64>, tensor<3xi64>, tensor<2x3xi64>, tensor<2xi64>, tensor<2x1xi64>, tensor<3xi64>,
                      tensor<3x2xi64>, tensor<2x2xi64>, tensor<2x3xi32>, tensor<2x3xi32>) {
  %m = autopar.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %row = autopar.constant dense<[7, 8, 9]> : tensor<3xi64>
  // CHECK: result0 = dense<{{\[}}[7, 8, 9], [7, 8, 9]]>
  %0 = autopar.broadcast %row dims = [1] : tensor<3xi64> -> tensor<2x3xi64>
  %column = autopar.constant dense<[[1], [2]]> : tensor<2x1xi64>
  // CHECK: result1 = dense<{{\[}}[1, 1], [2, 2]]>
  %1 = autopar.broadcast %column dims = [0, 1] : tensor<2x1xi64> -> tensor<2x2xi64>
  // CHECK: result2 = dense<{{\[}}[1, 2], [3, 4], [5, 6]]>
  %2 = autopar.reshape %m : tensor<2x3xi64> -> tensor<3x2xi64>
  // CHECK: result3 = dense<{{\[}}[1, 4], [2, 5], [3, 6]]>
  %3 = autopar.transpose %m perm = [1, 0] : tensor<2x3xi64> -> tensor<3x2xi64>
  // CHECK: result4 = dense<{{\[}}[6, 4], [3, 1]]>
  %4 = autopar.slice %m starts = [1, 2] steps = [-1, -2] : tensor<2x3xi64> -> tensor<2x2xi64>
  // CHECK: result5 = dense<{{\[}}[9, 9, 9, 9], [1, 2, 3, 9], [4, 5, 6, 9]]>
  %5 = autopar.pad %m low = [1, 0] high = [0, 1] value = 9.000000e+00 : tensor<2x3xi64> -> tensor<3x4xi64>
  // CHECK: result6 = dense<{{\[}}[1, 1, 2, 3], [2, 4, 5, 6]]>
  %6 = autopar.concat %column, %m dim = 1 : (tensor<2x1xi64>, tensor<2x3xi64>) -> tensor<2x4xi64>
  // A negative index counts from the end; one outside is clamped.
  %rows = autopar.constant dense<[0, -1, 5, -5]> : tensor<4xi64>
  // CHECK: result7 = dense<{{\[}}[1, 2, 3], [4, 5, 6], [4, 5, 6], [1, 2, 3]]>
  %7 = autopar.gather %m, %rows dim = 0 : (tensor<2x3xi64>, tensor<4xi64>) -> tensor<4x3xi64>
  %scalar = autopar.constant dense<1> : tensor<i64>
  // CHECK: result8 = dense<[4, 5, 6]>
  %8 = autopar.gather %m, %scalar dim = 0 : (tensor<2x3xi64>, tensor<i64>) -> tensor<3xi64>
  // Rows 2 and 3 of four are here: the others read as zero.
  %two = autopar.constant dense<2> : tensor<i64>
  %global = autopar.constant dense<[-1, 1]> : tensor<2xi64>
  // CHECK: result9 = dense<{{\[}}[4, 5, 6], [0, 0, 0]]>
  %9 = autopar.gather %m, %global offset %two of 4 dim = 0 : (tensor<2x3xi64>, tensor<2xi64>, tensor<i64>) -> tensor<2x3xi64>
  %pairs = autopar.constant dense<[[0, 2], [1, -3]]> : tensor<2x2xi64>
  // CHECK: result10 = dense<[3, 4]>
  %10 = autopar.gather_nd %m, %pairs batch_dims = 0 : (tensor<2x3xi64>, tensor<2x2xi64>) -> tensor<2xi64>
  %each = autopar.constant dense<[[[2]], [[0]]]> : tensor<2x1x1xi64>
  // CHECK: result11 = dense<{{\[}}[3], [4]]>
  %11 = autopar.gather_nd %m, %each batch_dims = 1 : (tensor<2x3xi64>, tensor<2x1x1xi64>) -> tensor<2x1xi64>
  // CHECK: result12 = dense<[1, 2, 3]>
  %12 = autopar.iota dim = 0 offset %scalar : (tensor<i64>) -> tensor<3xi64>
  // A row that is meant twice gets the sum; one outside is clamped, another block's left out.
  %updates = autopar.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi64>
  %places = autopar.constant dense<[2, 0, -1, 9]> : tensor<4xi64>
  // CHECK: result13 = dense<{{\[}}[3, 4], [0, 0], [13, 16]]>
  %13 = autopar.scatter sum %updates, %places dim = 0 : (tensor<4x2xi64>, tensor<4xi64>) -> tensor<3x2xi64>
  // CHECK: result14 = dense<{{\[}}[1, 2], [12, 14]]>
  %14 = autopar.scatter sum %updates, %places offset %two of 4 dim = 0 : (tensor<4x2xi64>, tensor<4xi64>, tensor<i64>) -> tensor<2x2xi64>
  // The greatest of each row's own indices; a row that none means has the least number there is.
  %own = autopar.constant dense<[[2, 0, 2, 2], [1, 1, 0, 1]]> : tensor<2x4xi64>
  %some = autopar.constant dense<[[1, 7, 9, 4], [5, 8, 6, 2]]> : tensor<2x4xi32>
  // CHECK: result15 = dense<{{\[}}[7, -2147483648, 9], [6, 8, -2147483648]]>
  %15 = autopar.scatter max %some, %own dim = 1 batched : (tensor<2x4xi32>, tensor<2x4xi64>) -> tensor<2x3xi32>
  // CHECK: result16 = dense<{{\[}}[7, 2147483647, 1], [6, 2, 2147483647]]>
  %16 = autopar.scatter min %some, %own dim = 1 batched : (tensor<2x4xi32>, tensor<2x4xi64>) -> tensor<2x3xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16
    : tensor<2x3xi64>, tensor<2x2xi64>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<2x2xi64>, tensor<3x4xi64>, tensor<2x4xi64>,
      tensor<4x3xi64>, tensor<3xi64>, tensor<2x3xi64>, tensor<2xi64>, tensor<2x1xi64>, tensor<3xi64>, tensor<3x2xi64>, tensor<2x2xi64>, tensor<2x3xi32>,
      tensor<2x3xi32>
}
