// RUN: autopar-opt %s --autopar-interpret -o /dev/null | FileCheck %s

// Functions of single elements, at the values where their definition matters.

func.func @step() -> (tensor<4xf64>, tensor<4xf64>, tensor<3xf64>, tensor<3xf64>, tensor<2xi1>, tensor<3xf64>,
                      tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xf64>, tensor<4xf64>, tensor<2xf64>,
                      tensor<3xi1>, tensor<2xi64>, tensor<4xi64>, tensor<3xi1>, tensor<2xf64>, tensor<2xi8>, tensor<2xbf16>) {
  %half = autopar.constant dense<[0.5, 1.5, -0.5, -2.5]> : tensor<4xf64>
  // Half to even.
  // CHECK: result0 = dense<[0.000000e+00, 2.000000e+00, -0.000000e+00, -2.000000e+00]>
  %0 = autopar.unary round %half : tensor<4xf64> -> tensor<4xf64>
  // CHECK: result1 = dense<[5.000000e-01, 1.500000e+00, 0.000000e+00, 0.000000e+00]>
  %1 = autopar.unary relu %half : tensor<4xf64> -> tensor<4xf64>
  %x = autopar.constant dense<[0.0, 1.0, -1.0]> : tensor<3xf64>
  // CHECK: result2 = dense<[0.000000e+00, 0.84134474606854{{[0-9]*}}, -0.15865525393145{{[0-9]*}}]>
  %2 = autopar.unary gelu_erf %x : tensor<3xf64> -> tensor<3xf64>
  // CHECK: result3 = dense<[0.000000e+00, 0.84119199{{[0-9]*}}, -0.15880800{{[0-9]*}}]>
  %3 = autopar.unary gelu_tanh %x : tensor<3xf64> -> tensor<3xf64>
  %nan = autopar.constant dense<[0x7FF8000000000000, 1.0]> : tensor<2xf64>
  // CHECK: result4 = dense<[true, false]>
  %4 = autopar.unary is_nan %nan : tensor<2xf64> -> tensor<2xi1>
  // CHECK: result5 = dense<[0.000000e+00, 1.000000e+00, -1.000000e+00]>
  %5 = autopar.unary sign %x : tensor<3xf64> -> tensor<3xf64>

  %a = autopar.constant dense<[7, -7, 7, -7]> : tensor<4xi64>
  %b = autopar.constant dense<[2, 2, -2, 0]> : tensor<4xi64>
  // Truncates; 0 where the divisor is 0.
  // CHECK: result6 = dense<[3, -3, -3, 0]>
  %6 = autopar.binary div %a, %b : tensor<4xi64>
  // The divisor's sign, then the dividend's.
  // CHECK: result7 = dense<[1, 1, -1, 0]>
  %7 = autopar.binary mod %a, %b : tensor<4xi64>
  // CHECK: result8 = dense<[1, -1, 1, 0]>
  %8 = autopar.binary fmod %a, %b : tensor<4xi64>
  %c = autopar.constant dense<[7.5, -7.5, 7.5, -7.5]> : tensor<4xf64>
  %d = autopar.constant dense<[2.0, 2.0, -2.0, -2.0]> : tensor<4xf64>
  // CHECK: result9 = dense<[1.500000e+00, 5.000000e-01, -5.000000e-01, -1.500000e+00]>
  %9 = autopar.binary mod %c, %d : tensor<4xf64>
  // CHECK: result10 = dense<[1.500000e+00, -1.500000e+00, 1.500000e+00, -1.500000e+00]>
  %10 = autopar.binary fmod %c, %d : tensor<4xf64>
  %one = autopar.constant dense<1.0> : tensor<2xf64>
  // Carries NaN on.
  // CHECK: result11 = dense<[0x7FF8000000000000, 1.000000e+00]>
  %11 = autopar.binary max %one, %nan : tensor<2xf64>
  %y = autopar.constant dense<[0.0, 2.0, -2.0]> : tensor<3xf64>
  // CHECK: result12 = dense<[false, true, false]>
  %12 = autopar.compare lt %x, %y : tensor<3xf64> -> tensor<3xi1>
  %m = autopar.constant dense<[true, false]> : tensor<2xi1>
  %p = autopar.constant dense<[1, 2]> : tensor<2xi64>
  %q = autopar.constant dense<[3, 4]> : tensor<2xi64>
  // CHECK: result13 = dense<[1, 4]>
  %13 = autopar.select %m, %p, %q : tensor<2xi1>, tensor<2xi64>
  // CHECK: result14 = dense<[7, -7, 7, -7]>
  %14 = autopar.convert %c : tensor<4xf64> -> tensor<4xi64>
  // CHECK: result15 = dense<[false, true, true]>
  %15 = autopar.convert %x : tensor<3xf64> -> tensor<3xi1>
  // CHECK: result16 = dense<[1.000000e+00, 0.000000e+00]>
  %16 = autopar.convert %m : tensor<2xi1> -> tensor<2xf64>
  // Wraps at the type's width.
  %byte = autopar.constant dense<[127, -128]> : tensor<2xi8>
  // CHECK: result17 = dense<[-2, 0]>
  %17 = autopar.binary add %byte, %byte : tensor<2xi8>
  // Rounds to the type after each op: 1 + 2^-9 is 1.
  %u = autopar.constant dense<[1.0, 2.0]> : tensor<2xbf16>
  %v = autopar.constant dense<0.001953125> : tensor<2xbf16>
  // CHECK: result18 = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xbf16>
  %18 = autopar.binary add %u, %v : tensor<2xbf16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18
    : tensor<4xf64>, tensor<4xf64>, tensor<3xf64>, tensor<3xf64>, tensor<2xi1>, tensor<3xf64>, tensor<4xi64>, tensor<4xi64>,
      tensor<4xi64>, tensor<4xf64>, tensor<4xf64>, tensor<2xf64>, tensor<3xi1>, tensor<2xi64>, tensor<4xi64>, tensor<3xi1>,
      tensor<2xf64>, tensor<2xi8>, tensor<2xbf16>
}
