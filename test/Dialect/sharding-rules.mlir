// RUN: autopar-opt %s -autopar-test-sharding-rules -verify-diagnostics -o /dev/null
//
// Operand and result dimensions as factors, the factors' sizes, passes; class and
// flops.

func.func @elementwise(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>, %c: tensor<2x3xi1>) {
  // expected-remark @below {{([0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (0) sum; elementwise, 6 flops}}
  %0 = autopar.unary neg %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // expected-remark @below {{([0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (0) max, (0) min; elementwise, 6 flops}}
  %1 = autopar.unary relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // expected-remark @below {{([0, 1]) -> ([0, 1]) {0 = 2, 1 = 3}; elementwise, 240 flops}}
  %2 = autopar.unary log %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // expected-remark @below {{([0, 1], [0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (0, 1) sum; elementwise, 6 flops}}
  %3 = autopar.binary add %x, %x : tensor<2x3xf32>
  // expected-remark @below {{([0, 1], [0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (0) sum, (1) sum; elementwise, 6 flops}}
  %4 = autopar.binary mul %x, %x : tensor<2x3xf32>
  // expected-remark @below {{([0, 1], [0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (0) sum; elementwise, 6 flops}}
  %5 = autopar.binary div %x, %x : tensor<2x3xf32>
  // expected-remark @below {{([0, 1], [0, 1]) -> ([0, 1]) {0 = 2, 1 = 3}; elementwise, 6 flops}}
  %6 = autopar.binary div %n, %n : tensor<2x3xi32>
  // expected-remark @below {{([0, 1], [0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (0, 1) max; elementwise, 6 flops}}
  %7 = autopar.binary max %x, %x : tensor<2x3xf32>
  // expected-remark @below {{([0, 1], [0, 1]) -> ([0, 1]) {0 = 2, 1 = 3}; elementwise, 6 flops}}
  %8 = autopar.compare lt %x, %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // expected-remark @below {{([0, 1], [0, 1], [0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (1, 2) sum, (1, 2) max, (1, 2) min; elementwise, 6 flops}}
  %9 = autopar.select %c, %x, %x : tensor<2x3xi1>, tensor<2x3xf32>
  // expected-remark @below {{([0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (0) sum, (0) max, (0) min; elementwise, 6 flops}}
  %10 = autopar.convert %x : tensor<2x3xf32> -> tensor<2x3xf64>
  // expected-remark @below {{([0, 1]) -> ([0, 1]) {0 = 2, 1 = 3} passes (0) max, (0) min; elementwise, 6 flops}}
  %11 = autopar.convert %x : tensor<2x3xf32> -> tensor<2x3xf16>
  // expected-remark @below {{([0, 1]) -> ([0, 1]) {0 = 2, 1 = 3}; elementwise, 6 flops}}
  %12 = autopar.convert %n : tensor<2x3xi32> -> tensor<2x3xf32>
  return
}

func.func @sources(%o: tensor<i64>) {
  // expected-remark @below {{() -> ([0, 1]) {0 = 2, 1 = 3}; none, 0 flops}}
  %0 = autopar.constant dense<0.0> : tensor<2x3xf32>
  // expected-remark @below {{() -> ([-]) {}; none, 0 flops}}
  %1 = autopar.constant dense<[1, 2]> : tensor<2xi64>
  // expected-remark @below {{() -> ([0, 1]) {0 = 2, 1 = 3}; elementwise, 6 flops}}
  %2 = autopar.iota dim = 1 : () -> tensor<2x3xi64>
  // expected-remark @below {{([]) -> ([0]) {0 = 2}; elementwise, 2 flops}}
  %3 = autopar.iota dim = 0 offset %o : (tensor<i64>) -> tensor<2xi64>
  return
}

func.func @movement(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>, %z: tensor<2x5xf32>, %c: tensor<2x3xi1>) {
  // expected-remark @below {{([-, 2]) -> ([0, 1, 2]) {0 = 4, 1 = 2, 2 = 3} passes (0) sum, (0) max, (0) min; movement, 0 flops}}
  %0 = autopar.broadcast %y dims = [1, 2] : tensor<1x3xf32> -> tensor<4x2x3xf32>
  // expected-remark @below {{([1, 0]) -> ([0, 1]) {0 = 3, 1 = 2} passes (0) sum, (0) max, (0) min; movement, 0 flops}}
  %1 = autopar.transpose %x perm = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  // expected-remark @below {{([0, -]) -> ([0, -]) {0 = 2} passes (0) sum, (0) max, (0) min; movement, 0 flops}}
  %2 = autopar.slice %x starts = [0, 1] steps = [1, 1] : tensor<2x3xf32> -> tensor<2x2xf32>
  // A reversed dimension does not split.
  // expected-remark @below {{([-, 0]) -> ([-, 0]) {0 = 3} passes (0) sum, (0) max, (0) min; movement, 0 flops}}
  %3 = autopar.slice %x starts = [1, 0] steps = [-1, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  // expected-remark @below {{([0, -]) -> ([0, -]) {0 = 2} passes (0) sum; movement, 0 flops}}
  %4 = autopar.pad %x low = [0, 1] high = [0, 1] value = 0.0 : tensor<2x3xf32> -> tensor<2x5xf32>
  // expected-remark @below {{([0, -]) -> ([0, -]) {0 = 2}; movement, 0 flops}}
  %5 = autopar.pad %x low = [0, 1] high = [0, 1] value = 1.0 : tensor<2x3xf32> -> tensor<2x5xf32>
  // expected-remark @below {{([0, -], [0, -]) -> ([0, -]) {0 = 2} passes (0, 1) sum, (0, 1) max, (0, 1) min; movement, 0 flops}}
  %6 = autopar.concat %x, %z dim = 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  // Bools have no sum.
  // expected-remark @below {{([1, 0]) -> ([0, 1]) {0 = 3, 1 = 2} passes (0) max, (0) min; movement, 0 flops}}
  %7 = autopar.transpose %c perm = [1, 0] : tensor<2x3xi1> -> tensor<3x2xi1>
  return
}

func.func @reshapes(%x: tensor<4x6xf32>, %y: tensor<5x4x6xf32>, %z: tensor<2x1x3xf32>, %e: tensor<0x3xf32>) {
  // expected-remark @below {{([0, 1]) -> ([0*1]) {0 = 4, 1 = 6} passes (0) sum, (0) max, (0) min; view, 0 flops}}
  %0 = autopar.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  // expected-remark @below {{([0, 1*2]) -> ([0*1, 2]) {0 = 4, 1 = 2, 2 = 3} passes (0) sum, (0) max, (0) min; view, 0 flops}}
  %1 = autopar.reshape %x : tensor<4x6xf32> -> tensor<8x3xf32>
  // 4x6 and 3x8 have no common refinement; 5 has.
  // expected-remark @below {{([0, -, -]) -> ([0, -, -]) {0 = 5} passes (0) sum, (0) max, (0) min; view, 0 flops}}
  %2 = autopar.reshape %y : tensor<5x4x6xf32> -> tensor<5x3x8xf32>
  // expected-remark @below {{([0, -, 1]) -> ([0, 1, -]) {0 = 2, 1 = 3} passes (0) sum, (0) max, (0) min; view, 0 flops}}
  %3 = autopar.reshape %z : tensor<2x1x3xf32> -> tensor<2x3x1xf32>
  // expected-remark @below {{([-, -]) -> ([-, -]) {} passes (0) sum, (0) max, (0) min; view, 0 flops}}
  %4 = autopar.reshape %e : tensor<0x3xf32> -> tensor<3x0xf32>
  // The first dimensions refine, the rest of the group does not: all whole.
  // expected-remark @below {{([-, -, -]) -> ([-, -, -]) {} passes (0) sum, (0) max, (0) min; view, 0 flops}}
  %5 = autopar.reshape %y : tensor<5x4x6xf32> -> tensor<10x3x4xf32>
  return
}

func.func @gathers(%x: tensor<9x4xf32>, %i: tensor<2x3xi64>, %o: tensor<i64>, %c: tensor<9xi1>, %d: tensor<2x5x6x7xf32>, %n: tensor<2x3x2xi64>, %e: tensor<3x4xi64>) {
  // expected-remark @below {{([3, 2], [0, 1]) -> ([0, 1, 2]) {0 = 2, 1 = 3, 2 = 4, 3 = 9 sum} passes (0) sum; movement, 0 flops}}
  %0 = autopar.gather %x, %i dim = 0 : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  // expected-remark @below {{([-, 2], [0, 1], []) -> ([0, 1, 2]) {0 = 2, 1 = 3, 2 = 4} passes (0) sum; movement, 0 flops}}
  %1 = autopar.gather %x, %i offset %o of 18 dim = 0 : (tensor<9x4xf32>, tensor<2x3xi64>, tensor<i64>) -> tensor<2x3x4xf32>
  // expected-remark @below {{([-], [0, 1]) -> ([0, 1]) {0 = 2, 1 = 3}; movement, 0 flops}}
  %2 = autopar.gather %c, %i dim = 0 : (tensor<9xi1>, tensor<2x3xi64>) -> tensor<2x3xi1>
  // expected-remark @below {{([0, -, -, 2], [0, 1, -]) -> ([0, 1, 2]) {0 = 2, 1 = 3, 2 = 7} passes (0) sum, (0) max, (0) min; movement, 0 flops}}
  %3 = autopar.gather_nd %d, %n batch_dims = 1 : (tensor<2x5x6x7xf32>, tensor<2x3x2xi64>) -> tensor<2x3x7xf32>
  // expected-remark @below {{([2, 1], [0, 1]) -> ([0, 1]) {0 = 3, 1 = 4, 2 = 9 sum} passes (0) sum; movement, 0 flops}}
  %4 = autopar.gather_elements %x, %e dim = 0 : (tensor<9x4xf32>, tensor<3x4xi64>) -> tensor<3x4xf32>
  // expected-remark @below {{([-, 1], [0, 1], []) -> ([0, 1]) {0 = 3, 1 = 4} passes (0) sum; movement, 0 flops}}
  %5 = autopar.gather_elements %x, %e offset %o of 18 dim = 0 : (tensor<9x4xf32>, tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xf32>
  // expected-remark @below {{([0, -]) -> ([0, -]) {0 = 9}; reduction, 36 flops}}
  %6 = autopar.top_k %x dim = 1 : tensor<9x4xf32> -> tensor<9x2xi64>
  return
}

func.func @contractions(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x1xf32>, %g: tensor<6x2x3x1xf32>) {
  // expected-remark @below {{([0, 1, 3], [0, 3, 2]) -> ([0, 1, 2]) {0 = 2, 1 = 3, 2 = 5, 3 = 4 sum mask 0} passes (0) sum, (1) sum; contraction, 240 flops}}
  %0 = autopar.einsum "bmk,bkn->bmn" %a, %b : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // A window of one element with padding behind it does not split.
  // expected-remark @below {{([0, 2, 3 window(size 3, stride 2, dilation 1, low 1, fill 0), -], [1, 2, -, -]) -> ([0, 1, 3, -]) {0 = 1, 1 = 6, 2 = 4 sum mask 0, 3 = 4} passes (0) sum, (1) sum; convolution, 5760 flops}}
  %1 = autopar.convolution %x, %w strides = [2, 1] dilations = [1, 1] low = [1, 0] high = [1, 2] groups = 1
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x1xf32>) -> tensor<1x6x4x10xf32>
  // expected-remark @below {{([0, 1*3, 4 window(size 3, stride 1, dilation 2, low 2, fill 0), 5 window(size 1, stride 1, dilation 1, low 0, fill 0)], [1*2, 3, -, -]) -> ([0, 1*2, 4, 5]) {0 = 1, 1 = 2, 2 = 3, 3 = 2 sum mask 0, 4 = 8, 5 = 8} passes (0) sum, (1) sum; convolution, 4608 flops}}
  %2 = autopar.convolution %x, %g strides = [1, 1] dilations = [2, 1] low = [2, 0] high = [2, 0] groups = 2
      : (tensor<1x4x8x8xf32>, tensor<6x2x3x1xf32>) -> tensor<1x6x8x8xf32>
  // expected-remark @below {{([0, 1, 2 window(size 3, stride 2, dilation 1, low 1, fill -inf), 3 window(size 2, stride 2, dilation 1, low 0, fill -inf)]) -> ([0, 1, 2, 3]) {0 = 1, 1 = 4, 2 = 4, 3 = 4} passes (0) max; window, 384 flops}}
  %3 = autopar.pool max %x window = [3, 2] strides = [2, 2] dilations = [1, 1] low = [1, 0] high = [1, 0]
      : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  return
}

func.func @reductions(%x: tensor<2x3x4xf32>, %n: tensor<3xi32>) {
  // expected-remark @below {{([0, 2, 1]) -> ([0, 1]) {0 = 2, 1 = 4, 2 = 3 sum mask 0} passes (0) sum; reduction, 24 flops}}
  %0 = autopar.reduce sum %x dims = [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>
  // expected-remark @below {{([1, 0, 2]) -> ([0]) {0 = 3, 1 = 2 max mask -inf, 2 = 4 max mask -inf} passes (0) max; reduction, 24 flops}}
  %1 = autopar.reduce max %x dims = [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  // expected-remark @below {{([0]) -> ([]) {0 = 3 max mask -2.14748e+09} passes (0) max; reduction, 3 flops}}
  %2 = autopar.reduce max %n dims = [0] : tensor<3xi32> -> tensor<i32>
  // expected-remark @below {{([0]) -> ([]) {0 = 3 prod mask 1} passes (0) prod; reduction, 3 flops}}
  %3 = autopar.reduce prod %n dims = [0] : tensor<3xi32> -> tensor<i32>
  // expected-remark @below {{([0, -, 1]) -> ([0, -, 1]) {0 = 2, 1 = 4} passes (0) sum; reduction, 24 flops}}
  %4 = autopar.scan sum %x dim = 1 : tensor<2x3x4xf32>
  // expected-remark @below {{([0, 1, 2]) -> ([0, 1, 2]) {0 = 2, 1 = 3, 2 = 4 decompose mask -inf}; reduction, 576 flops}}
  %5 = autopar.softmax %x dim = 2 : tensor<2x3x4xf32>
  // expected-remark @below {{([0, 1, 2]) -> ([0, 1, 2]) {0 = 2, 1 = 3 decompose, 2 = 4 decompose}; reduction, 120 flops}}
  %6 = autopar.normalize rms %x dims = [1, 2] epsilon = 0.0 : tensor<2x3x4xf32>
  return
}
