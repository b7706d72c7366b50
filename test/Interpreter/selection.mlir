// RUN: autopar-opt %s --autopar-interpret -o /dev/null | FileCheck %s

// The first of equal elements is better; NaN is larger than any number.
func.func @step() -> (tensor<3xi64>, tensor<2xi64>, tensor<2x1xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2x2xi64>) {
  %v = autopar.constant dense<[3, 5, 1, 5]> : tensor<4xi64>
  // CHECK: result0 = dense<[1, 3, 0]>
  %0 = autopar.top_k %v dim = 0 : tensor<4xi64> -> tensor<3xi64>
  // CHECK: result1 = dense<[2, 0]>
  %1 = autopar.top_k %v dim = 0 smallest : tensor<4xi64> -> tensor<2xi64>
  %m = autopar.constant dense<[[1.0, 4.0, 4.0], [9.0, 2.0, 9.0]]> : tensor<2x3xf32>
  // CHECK: result2 = dense<{{\[}}[1], [0]]>
  %2 = autopar.top_k %m dim = 1 : tensor<2x3xf32> -> tensor<2x1xi64>
  %n = autopar.constant dense<[1.0, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  // CHECK: result3 = dense<[1, 2]>
  %3 = autopar.top_k %n dim = 0 : tensor<3xf32> -> tensor<2xi64>
  // CHECK: result4 = dense<[0, 2]>
  %4 = autopar.top_k %n dim = 0 smallest : tensor<3xf32> -> tensor<2xi64>
  %i = autopar.constant dense<[[2, -1], [0, 7]]> : tensor<2x2xi64>
  %t = autopar.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  // CHECK: result5 = dense<{{\[}}[3, 3], [4, 6]]>
  %5 = autopar.gather_elements %t, %i dim = 1 : (tensor<2x3xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<3xi64>, tensor<2xi64>, tensor<2x1xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2x2xi64>
}
