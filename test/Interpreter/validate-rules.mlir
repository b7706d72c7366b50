// RUN: autopar-opt %s --autopar-validate-rules=all -o /dev/null | FileCheck %s
// RUN: autopar-opt %s --autopar-validate-rules=seed=7 -o /dev/null | FileCheck %s

// Every op's sharding rule, split over 2 to 5 devices and over 2x2: sizes that do
// not divide, and sizes below the number of blocks.

// CHECK: {{[0-9]+}} ops, {{[0-9]+}} splits equal the whole, {{[0-9]+}} are not allowed

func.func @unary(%f: tensor<6x3xf32>, %i: tensor<5x2xi64>, %b: tensor<7xi1>, %d: tensor<4x3xf64>) {
  %0 = autopar.unary abs %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %1 = autopar.unary ceil %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %2 = autopar.unary cos %d : tensor<4x3xf64> -> tensor<4x3xf64>
  %3 = autopar.unary erf %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %4 = autopar.unary exp %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %5 = autopar.unary floor %d : tensor<4x3xf64> -> tensor<4x3xf64>
  %6 = autopar.unary gelu_erf %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %7 = autopar.unary gelu_tanh %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %8 = autopar.unary is_nan %f : tensor<6x3xf32> -> tensor<6x3xi1>
  %9 = autopar.unary is_inf %f : tensor<6x3xf32> -> tensor<6x3xi1>
  %10 = autopar.unary log %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %11 = autopar.unary neg %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %12 = autopar.unary neg %i : tensor<5x2xi64> -> tensor<5x2xi64>
  %13 = autopar.unary not %b : tensor<7xi1> -> tensor<7xi1>
  %14 = autopar.unary reciprocal %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %15 = autopar.unary relu %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %16 = autopar.unary round %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %17 = autopar.unary rsqrt %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %18 = autopar.unary sigmoid %d : tensor<4x3xf64> -> tensor<4x3xf64>
  %19 = autopar.unary sign %i : tensor<5x2xi64> -> tensor<5x2xi64>
  %20 = autopar.unary sin %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %21 = autopar.unary sqrt %f : tensor<6x3xf32> -> tensor<6x3xf32>
  %22 = autopar.unary tanh %f : tensor<6x3xf32> -> tensor<6x3xf32>
  return
}

func.func @binary(%f: tensor<6x3xf32>, %i: tensor<5x2xi64>, %b: tensor<7xi1>, %h: tensor<3x5xbf16>, %u: tensor<9xui8>) {
  %0 = autopar.binary add %f, %f : tensor<6x3xf32>
  %1 = autopar.binary sub %f, %f : tensor<6x3xf32>
  %2 = autopar.binary mul %f, %f : tensor<6x3xf32>
  %3 = autopar.binary div %f, %f : tensor<6x3xf32>
  %4 = autopar.binary max %f, %f : tensor<6x3xf32>
  %5 = autopar.binary min %f, %f : tensor<6x3xf32>
  %6 = autopar.binary pow %f, %f : tensor<6x3xf32>
  %7 = autopar.binary fmod %f, %f : tensor<6x3xf32>
  %8 = autopar.binary add %i, %i : tensor<5x2xi64>
  %9 = autopar.binary sub %i, %i : tensor<5x2xi64>
  %10 = autopar.binary mul %i, %i : tensor<5x2xi64>
  %11 = autopar.binary div %i, %i : tensor<5x2xi64>
  %12 = autopar.binary mod %i, %i : tensor<5x2xi64>
  %13 = autopar.binary max %i, %i : tensor<5x2xi64>
  %14 = autopar.binary and %b, %b : tensor<7xi1>
  %15 = autopar.binary or %b, %b : tensor<7xi1>
  %16 = autopar.binary xor %i, %i : tensor<5x2xi64>
  %17 = autopar.binary add %h, %h : tensor<3x5xbf16>
  %18 = autopar.binary min %u, %u : tensor<9xui8>
  return
}

func.func @compare_select_convert(%f: tensor<6x3xf32>, %i: tensor<5x2xi64>, %c: tensor<6x3xi1>) {
  %0 = autopar.compare lt %f, %f : tensor<6x3xf32> -> tensor<6x3xi1>
  %1 = autopar.compare ge %i, %i : tensor<5x2xi64> -> tensor<5x2xi1>
  %2 = autopar.select %c, %f, %f : tensor<6x3xi1>, tensor<6x3xf32>
  %3 = autopar.convert %i : tensor<5x2xi64> -> tensor<5x2xf32>
  %4 = autopar.convert %f : tensor<6x3xf32> -> tensor<6x3xi32>
  %5 = autopar.convert %f : tensor<6x3xf32> -> tensor<6x3xi1>
  %6 = autopar.convert %c : tensor<6x3xi1> -> tensor<6x3xf32>
  %7 = autopar.convert %f : tensor<6x3xf32> -> tensor<6x3xf16>
  %8 = autopar.convert %f : tensor<6x3xf32> -> tensor<6x3xf64>
  return
}

func.func @sources(%o: tensor<i64>) {
  %0 = autopar.constant dense<2.5> : tensor<6x3xf32>
  %1 = autopar.constant dense<[1, -2, 3]> : tensor<3xi64>
  %2 = autopar.iota dim = 0 : () -> tensor<7xi64>
  %3 = autopar.iota dim = 1 : () -> tensor<2x5xf32>
  %4 = autopar.iota dim = 1 offset %o : (tensor<i64>) -> tensor<2x5xi64>
  return
}

func.func @movement(%a: tensor<3xf32>, %b: tensor<1x4xf32>, %c: tensor<2x3x5xf32>, %i: tensor<4x6xi64>, %m: tensor<4x6xi1>) {
  %0 = autopar.broadcast %a dims = [1] : tensor<3xf32> -> tensor<5x3x2xf32>
  %1 = autopar.broadcast %b dims = [0, 2] : tensor<1x4xf32> -> tensor<3x2x4xf32>
  %2 = autopar.transpose %c perm = [2, 0, 1] : tensor<2x3x5xf32> -> tensor<5x2x3xf32>
  %3 = autopar.transpose %m perm = [1, 0] : tensor<4x6xi1> -> tensor<6x4xi1>
  %4 = autopar.slice %i starts = [0, 5] steps = [1, -2] : tensor<4x6xi64> -> tensor<4x3xi64>
  %5 = autopar.slice %i starts = [1, 0] steps = [1, 1] : tensor<4x6xi64> -> tensor<2x6xi64>
  %6 = autopar.slice %i starts = [3, 0] steps = [-1, 1] : tensor<4x6xi64> -> tensor<4x6xi64>
  %7 = autopar.pad %c low = [0, 1, 0] high = [0, 0, 2] value = 7.000000e+00 : tensor<2x3x5xf32> -> tensor<2x4x7xf32>
  %8 = autopar.concat %i, %i dim = 1 : (tensor<4x6xi64>, tensor<4x6xi64>) -> tensor<4x12xi64>
  %9 = autopar.concat %c, %c, %c dim = 0 : (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<6x3x5xf32>
  return
}

func.func @reshape(%a: tensor<4x6xf32>, %b: tensor<12x10xi64>, %c: tensor<6x4x5xf32>, %s: tensor<1x1xf32>, %m: tensor<10x3xi1>) {
  %0 = autopar.reshape %a : tensor<4x6xf32> -> tensor<24xf32>
  %1 = autopar.reshape %a : tensor<4x6xf32> -> tensor<4x2x3xf32>
  %2 = autopar.reshape %a : tensor<4x6xf32> -> tensor<8x3xf32>
  %3 = autopar.reshape %a : tensor<4x6xf32> -> tensor<6x4xf32>
  %4 = autopar.reshape %b : tensor<12x10xi64> -> tensor<4x3x1x10xi64>
  %5 = autopar.reshape %b : tensor<12x10xi64> -> tensor<2x6x5x2xi64>
  %6 = autopar.reshape %b : tensor<12x10xi64> -> tensor<4x30xi64>
  %7 = autopar.reshape %c : tensor<6x4x5xf32> -> tensor<24x5xf32>
  %8 = autopar.reshape %c : tensor<6x4x5xf32> -> tensor<6x20xf32>
  %9 = autopar.reshape %c : tensor<6x4x5xf32> -> tensor<3x8x5xf32>
  %10 = autopar.reshape %s : tensor<1x1xf32> -> tensor<f32>
  %11 = autopar.reshape %m : tensor<10x3xi1> -> tensor<5x6xi1>
  return
}

func.func @gather(%t: tensor<7x3xf32>, %i: tensor<2x3xi64>, %s: tensor<i32>, %m: tensor<5x4xi1>, %e: tensor<4x5x6xf32>) {
  %0 = autopar.gather %t, %i dim = 0 : (tensor<7x3xf32>, tensor<2x3xi64>) -> tensor<2x3x3xf32>
  %1 = autopar.gather %t, %i dim = 1 : (tensor<7x3xf32>, tensor<2x3xi64>) -> tensor<7x2x3xf32>
  %2 = autopar.gather %e, %s dim = 1 : (tensor<4x5x6xf32>, tensor<i32>) -> tensor<4x6xf32>
  %3 = autopar.gather %m, %i dim = 0 : (tensor<5x4xi1>, tensor<2x3xi64>) -> tensor<2x3x4xi1>
  return
}

func.func @scatter(%u: tensor<2x3x3xf32>, %i: tensor<2x3xi64>, %v: tensor<7x2x3xf32>, %s: tensor<i32>, %e: tensor<4x6xi64>,
                   %j: tensor<7x2xi64>, %r: tensor<7xi64>, %w: tensor<7x3xi32>) {
  %0 = autopar.scatter sum %u, %i dim = 0 : (tensor<2x3x3xf32>, tensor<2x3xi64>) -> tensor<7x3xf32>
  %1 = autopar.scatter sum %v, %i dim = 1 : (tensor<7x2x3xf32>, tensor<2x3xi64>) -> tensor<7x3xf32>
  %2 = autopar.scatter sum %e, %s dim = 1 : (tensor<4x6xi64>, tensor<i32>) -> tensor<4x5x6xi64>
  %3 = autopar.scatter max %v, %j dim = 1 batched : (tensor<7x2x3xf32>, tensor<7x2xi64>) -> tensor<7x5x3xf32>
  %4 = autopar.scatter min %w, %r dim = 1 batched : (tensor<7x3xi32>, tensor<7xi64>) -> tensor<7x4x3xi32>
  %5 = autopar.scatter sum %v, %i dim = 1 : (tensor<7x2x3xf32>, tensor<2x3xi64>) -> tensor<7x3xf32>
  return
}

func.func @gather_nd(%e: tensor<4x5x6xf32>, %i: tensor<3x2xi64>, %j: tensor<4x3x1xi64>, %k: tensor<3x3xi64>) {
  %0 = autopar.gather_nd %e, %i batch_dims = 0 : (tensor<4x5x6xf32>, tensor<3x2xi64>) -> tensor<3x6xf32>
  %1 = autopar.gather_nd %e, %j batch_dims = 1 : (tensor<4x5x6xf32>, tensor<4x3x1xi64>) -> tensor<4x3x6xf32>
  %2 = autopar.gather_nd %e, %k batch_dims = 0 : (tensor<4x5x6xf32>, tensor<3x3xi64>) -> tensor<3xf32>
  return
}

func.func @einsum(%a: tensor<2x3x5xf32>, %b: tensor<2x5x4xf32>, %c: tensor<5x4xf32>, %d: tensor<4x3xf32>, %v: tensor<7xf32>,
                  %i: tensor<3x5xi64>, %j: tensor<5x2xi64>, %t: tensor<2x5x3xf32>, %q: tensor<2x3x2x5xf32>, %k: tensor<2x4x2x5xf32>) {
  %0 = autopar.einsum "bmk,bkn->bmn" %a, %b : (tensor<2x3x5xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  %1 = autopar.einsum "bmk,kn->bmn" %a, %c : (tensor<2x3x5xf32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
  %2 = autopar.einsum "kn,nm->mk" %c, %d : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<3x5xf32>
  %3 = autopar.einsum "i,i->" %v, %v : (tensor<7xf32>, tensor<7xf32>) -> tensor<f32>
  %4 = autopar.einsum "i,j->ij" %v, %v : (tensor<7xf32>, tensor<7xf32>) -> tensor<7x7xf32>
  %5 = autopar.einsum "mk,kn->nm" %i, %j : (tensor<3x5xi64>, tensor<5x2xi64>) -> tensor<2x3xi64>
  %6 = autopar.einsum "bshd,bthd->bhst" %q, %k : (tensor<2x3x2x5xf32>, tensor<2x4x2x5xf32>) -> tensor<2x2x3x4xf32>
  %7 = autopar.einsum "bmk,bkm->b" %a, %t : (tensor<2x3x5xf32>, tensor<2x5x3xf32>) -> tensor<2xf32>
  return
}

func.func @convolution(%x: tensor<2x4x9x7xf32>, %w: tensor<6x4x3x3xf32>, %g: tensor<6x2x3x2xf32>, %p: tensor<5x4x1x1xf32>,
                       %dw: tensor<4x1x3x3xf32>, %x1: tensor<1x3x11xf32>, %w1: tensor<2x3x4xf32>,
                       %x3: tensor<1x2x4x5x3xf32>, %w3: tensor<2x2x2x3x1xf32>) {
  %0 = autopar.convolution %x, %w strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x9x7xf32>
  %1 = autopar.convolution %x, %w strides = [2, 1] dilations = [1, 2] low = [0, 1] high = [1, 3] groups = 1 : (tensor<2x4x9x7xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x4x7xf32>
  %2 = autopar.convolution %x, %g strides = [2, 2] dilations = [2, 1] low = [2, 0] high = [0, 1] groups = 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x2xf32>) -> tensor<2x6x4x4xf32>
  %3 = autopar.convolution %x, %p strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1 : (tensor<2x4x9x7xf32>, tensor<5x4x1x1xf32>) -> tensor<2x5x9x7xf32>
  %4 = autopar.convolution %x, %p strides = [2, 3] dilations = [1, 1] low = [0, 0] high = [0, 0] groups = 1 : (tensor<2x4x9x7xf32>, tensor<5x4x1x1xf32>) -> tensor<2x5x5x3xf32>
  %5 = autopar.convolution %x, %dw strides = [1, 1] dilations = [1, 1] low = [1, 1] high = [1, 1] groups = 4 : (tensor<2x4x9x7xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x9x7xf32>
  %6 = autopar.convolution %x1, %w1 strides = [3] dilations = [1] low = [2] high = [1] groups = 1 : (tensor<1x3x11xf32>, tensor<2x3x4xf32>) -> tensor<1x2x4xf32>
  %7 = autopar.convolution %x3, %w3 strides = [1, 2, 1] dilations = [1, 1, 1] low = [0, 1, 0] high = [1, 1, 0] groups = 1 : (tensor<1x2x4x5x3xf32>, tensor<2x2x2x3x1xf32>) -> tensor<1x2x4x3x3xf32>
  %8 = autopar.convolution %x, %p strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 2] groups = 1 : (tensor<2x4x9x7xf32>, tensor<5x4x1x1xf32>) -> tensor<2x5x9x9xf32>
  return
}

func.func @pool(%x: tensor<2x3x9x7xf32>, %i: tensor<1x2x8xi64>) {
  %0 = autopar.pool max %x window = [3, 2] strides = [2, 2] dilations = [1, 1] low = [1, 0] high = [1, 1] : (tensor<2x3x9x7xf32>) -> tensor<2x3x5x4xf32>
  %1 = autopar.pool sum %x window = [2, 3] strides = [1, 3] dilations = [2, 1] low = [0, 1] high = [0, 2] : (tensor<2x3x9x7xf32>) -> tensor<2x3x7x3xf32>
  %2 = autopar.pool max %i window = [3] strides = [1] dilations = [1] low = [1] high = [1] : (tensor<1x2x8xi64>) -> tensor<1x2x8xi64>
  %3 = autopar.pool sum %x window = [9, 7] strides = [1, 1] dilations = [1, 1] low = [0, 0] high = [0, 0] : (tensor<2x3x9x7xf32>) -> tensor<2x3x1x1xf32>
  return
}

func.func @reduce(%f: tensor<4x6x3xf32>, %i: tensor<5x3xi64>, %m: tensor<5x3xi1>) {
  %0 = autopar.reduce sum %f dims = [1] : tensor<4x6x3xf32> -> tensor<4x3xf32>
  %1 = autopar.reduce max %f dims = [0, 2] : tensor<4x6x3xf32> -> tensor<6xf32>
  %2 = autopar.reduce min %f dims = [0, 1, 2] : tensor<4x6x3xf32> -> tensor<f32>
  %3 = autopar.reduce prod %f dims = [2] : tensor<4x6x3xf32> -> tensor<4x6xf32>
  %4 = autopar.reduce sum %i dims = [0] : tensor<5x3xi64> -> tensor<3xi64>
  %5 = autopar.reduce max %i dims = [1] : tensor<5x3xi64> -> tensor<5xi64>
  %6 = autopar.reduce min %i dims = [0] : tensor<5x3xi64> -> tensor<3xi64>
  %7 = autopar.reduce prod %i dims = [0] : tensor<5x3xi64> -> tensor<3xi64>
  %8 = autopar.reduce max %m dims = [0] : tensor<5x3xi1> -> tensor<3xi1>
  %9 = autopar.reduce min %m dims = [1] : tensor<5x3xi1> -> tensor<5xi1>
  return
}

func.func @scan(%f: tensor<4x6x3xf32>, %i: tensor<5x3xi64>) {
  %0 = autopar.scan sum %f dim = 1 : tensor<4x6x3xf32>
  %1 = autopar.scan sum %f dim = 0 exclusive reverse : tensor<4x6x3xf32>
  %2 = autopar.scan max %i dim = 0 reverse : tensor<5x3xi64>
  %3 = autopar.scan prod %i dim = 1 exclusive : tensor<5x3xi64>
  return
}

func.func @composites(%f: tensor<3x5x4xf32>, %h: tensor<3x6xf16>) {
  %0 = autopar.softmax %f dim = 1 : tensor<3x5x4xf32>
  %1 = autopar.softmax %f dim = 2 log : tensor<3x5x4xf32>
  %2 = autopar.softmax %h dim = 1 : tensor<3x6xf16>
  %3 = autopar.normalize layer %f dims = [2] epsilon = 1.000000e-05 : tensor<3x5x4xf32>
  %4 = autopar.normalize layer %f dims = [1, 2] epsilon = 1.000000e-05 : tensor<3x5x4xf32>
  %5 = autopar.normalize rms %f dims = [2] epsilon = 1.000000e-06 : tensor<3x5x4xf32>
  %6 = autopar.normalize layer %h dims = [1] epsilon = 1.000000e-05 : tensor<3x6xf16>
  return
}

func.func @selection(%f: tensor<4x6x3xf32>, %i: tensor<5x3xi64>, %e: tensor<4x5x3xi64>, %n: tensor<2x3xi32>, %m: tensor<5x3xi1>) {
  %0 = autopar.top_k %f dim = 1 : tensor<4x6x3xf32> -> tensor<4x2x3xi64>
  %1 = autopar.top_k %i dim = 0 smallest : tensor<5x3xi64> -> tensor<5x3xi64>
  %2 = autopar.gather_elements %f, %e dim = 1 : (tensor<4x6x3xf32>, tensor<4x5x3xi64>) -> tensor<4x5x3xf32>
  %3 = autopar.gather_elements %i, %n dim = 0 : (tensor<5x3xi64>, tensor<2x3xi32>) -> tensor<2x3xi64>
  %4 = autopar.gather_elements %m, %i dim = 0 : (tensor<5x3xi1>, tensor<5x3xi64>) -> tensor<5x3xi1>
  return
}
