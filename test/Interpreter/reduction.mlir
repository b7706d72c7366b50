// RUN: autopar-opt %s --autopar-interpret -o /dev/null | FileCheck %s

// Reductions, scans and the composites made of them.

func.func @step() -> (tensor<2xi64>, tensor<3xi64>, tensor<i64>, tensor<2xi1>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>,
                      tensor<1x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>) {
  %m = autopar.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  // CHECK: result0 = dense<[6, 15]>
  %0 = autopar.reduce sum %m dims = [1] : tensor<2x3xi64> -> tensor<2xi64>
  // CHECK: result1 = dense<[4, 10, 18]>
  %1 = autopar.reduce prod %m dims = [0] : tensor<2x3xi64> -> tensor<3xi64>
  // CHECK: result2 = dense<6>
  %2 = autopar.reduce max %m dims = [0, 1] : tensor<2x3xi64> -> tensor<i64>
  %bools = autopar.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  // CHECK: result3 = dense<[true, false]>
  %3 = autopar.reduce max %bools dims = [1] : tensor<2x2xi1> -> tensor<2xi1>
  %v = autopar.constant dense<[3, 1, 4, 1]> : tensor<4xi64>
  // CHECK: result4 = dense<[3, 4, 8, 9]>
  %4 = autopar.scan sum %v dim = 0 : tensor<4xi64>
  // CHECK: result5 = dense<[6, 5, 1, 0]>
  %5 = autopar.scan sum %v dim = 0 exclusive reverse : tensor<4xi64>
  // CHECK: result6 = dense<[3, 3, 4, 4]>
  %6 = autopar.scan max %v dim = 0 : tensor<4xi64>

  // exp(0) and exp(ln 3): 1/4 and 3/4.
  %x = autopar.constant dense<[[0.0, 1.0986122886681098]]> : tensor<1x2xf64>
  // CHECK: result7 = dense<{{\[}}[2.500000e-01, 7.500000e-01]]>
  %7 = autopar.softmax %x dim = 1 : tensor<1x2xf64>
  // CHECK: result8 = dense<{{\[}}[-1.3862943611198{{[0-9]*}}, -0.2876820724517{{[0-9]*}}]]>
  %8 = autopar.softmax %x dim = 1 log : tensor<1x2xf64>
  // A row of -inf only.
  %infinite = autopar.constant dense<0xFFF0000000000000> : tensor<1x2xf64>
  // CHECK: result9 = dense<0x{{[7F]}}FF8000000000000> : tensor<1x2xf64>
  %9 = autopar.softmax %infinite dim = 1 : tensor<1x2xf64>
  // Mean 3, variance 4; mean of squares 13.
  %y = autopar.constant dense<[[1.0, 5.0]]> : tensor<1x2xf64>
  // CHECK: result10 = dense<{{\[}}[-1.000000e+00, 1.000000e+00]]>
  %10 = autopar.normalize layer %y dims = [1] epsilon = 0.000000e+00 : tensor<1x2xf64>
  // 1/4 and 5/4 with epsilon 3.
  // CHECK: result11 = dense<{{\[}}[2.500000e-01, 1.250000e+00]]>
  %11 = autopar.normalize rms %y dims = [1] epsilon = 3.000000e+00 : tensor<1x2xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11
    : tensor<2xi64>, tensor<3xi64>, tensor<i64>, tensor<2xi1>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<1x2xf64>,
      tensor<1x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>
}
