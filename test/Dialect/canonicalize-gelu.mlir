// RUN: autopar-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @tanh_form
// CHECK-NEXT: %[[G:.*]] = autopar.unary gelu_tanh %arg0 {autopar.names = ["y"]}
// CHECK-NEXT: return %[[G]]
func.func @tanh_form(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %half = autopar.constant dense<5.0e-01> : tensor<2x4xf32>
  %one = autopar.constant dense<1.0> : tensor<2x4xf32>
  %three = autopar.constant dense<3.0> : tensor<2x4xf32>
  %c = autopar.constant dense<4.471500e-02> : tensor<2x4xf32>
  %s = autopar.constant dense<0.797884583> : tensor<2x4xf32>
  %0 = autopar.binary mul %x, %half : tensor<2x4xf32>
  %1 = autopar.binary pow %x, %three : tensor<2x4xf32>
  %2 = autopar.binary mul %1, %c : tensor<2x4xf32>
  %3 = autopar.binary add %x, %2 : tensor<2x4xf32>
  %4 = autopar.binary mul %3, %s : tensor<2x4xf32>
  %5 = autopar.unary tanh %4 : tensor<2x4xf32> -> tensor<2x4xf32>
  %6 = autopar.binary add %5, %one : tensor<2x4xf32>
  %7 = autopar.binary mul %0, %6 {autopar.names = ["y"]} : tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}

// -----

// The same with x taken out of the cubic, on a product.
// CHECK-LABEL: func.func @tanh_form_factored
// CHECK: %[[X:.*]] = autopar.unary exp %arg0
// CHECK-NEXT: autopar.unary gelu_tanh %[[X]]
// CHECK-NEXT: return
func.func @tanh_form_factored(%a: tensor<4xf32>) -> tensor<4xf32> {
  %half = autopar.constant dense<5.0e-01> : tensor<4xf32>
  %one = autopar.constant dense<1.0> : tensor<4xf32>
  %c = autopar.constant dense<4.471500e-02> : tensor<4xf32>
  %s = autopar.constant dense<0.797884583> : tensor<4xf32>
  %x = autopar.unary exp %a : tensor<4xf32> -> tensor<4xf32>
  %0 = autopar.binary mul %x, %c : tensor<4xf32>
  %1 = autopar.binary mul %0, %x : tensor<4xf32>
  %2 = autopar.binary add %one, %1 : tensor<4xf32>
  %3 = autopar.binary mul %x, %s : tensor<4xf32>
  %4 = autopar.binary mul %3, %2 : tensor<4xf32>
  %5 = autopar.unary tanh %4 : tensor<4xf32> -> tensor<4xf32>
  %6 = autopar.binary add %one, %5 : tensor<4xf32>
  %7 = autopar.binary mul %x, %6 : tensor<4xf32>
  %8 = autopar.binary mul %half, %7 : tensor<4xf32>
  return %8 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @erf_form
// CHECK: %[[X:.*]] = autopar.binary mul %arg0, %arg1
// CHECK-NEXT: autopar.unary gelu_erf %[[X]]
// CHECK-NEXT: return
func.func @erf_form(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %half = autopar.constant dense<5.0e-01> : tensor<4xf32>
  %one = autopar.constant dense<1.0> : tensor<4xf32>
  %root = autopar.constant dense<1.41421354> : tensor<4xf32>
  %x = autopar.binary mul %a, %b : tensor<4xf32>
  %0 = autopar.binary div %x, %root : tensor<4xf32>
  %1 = autopar.unary erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = autopar.binary add %1, %one : tensor<4xf32>
  %3 = autopar.binary mul %x, %2 : tensor<4xf32>
  %4 = autopar.binary mul %3, %half : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// Other constants, and x * sigmoid(x), stay as they are.
// CHECK-LABEL: func.func @not_gelu
// CHECK-NOT: gelu
// CHECK: return
func.func @not_gelu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %half = autopar.constant dense<5.0e-01> : tensor<4xf32>
  %one = autopar.constant dense<1.0> : tensor<4xf32>
  %c = autopar.constant dense<0.8> : tensor<4xf32>
  %0 = autopar.binary mul %x, %c : tensor<4xf32>
  %1 = autopar.unary erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = autopar.binary add %1, %one : tensor<4xf32>
  %3 = autopar.binary mul %x, %2 : tensor<4xf32>
  %4 = autopar.binary mul %3, %half : tensor<4xf32>
  %5 = autopar.unary sigmoid %x : tensor<4xf32> -> tensor<4xf32>
  %6 = autopar.binary mul %x, %5 : tensor<4xf32>
  return %4, %6 : tensor<4xf32>, tensor<4xf32>
}

// A cube of halves is computed in f32.
// CHECK-LABEL: @tanh_of_halves
// CHECK-NEXT: unary gelu_tanh %arg0 : tensor<4xf16>
// CHECK-NEXT: return
func.func @tanh_of_halves(%x: tensor<4xf16>) -> tensor<4xf16> {
  %c = autopar.constant dense<0.044715> : tensor<4xf16>
  %k = autopar.constant dense<0.797885> : tensor<4xf16>
  %one = autopar.constant dense<1.0> : tensor<4xf16>
  %half = autopar.constant dense<0.5> : tensor<4xf16>
  %w = autopar.convert %x : tensor<4xf16> -> tensor<4xf32>
  %square = autopar.binary mul %w, %w : tensor<4xf32>
  %wide = autopar.binary mul %square, %w : tensor<4xf32>
  %cube = autopar.convert %wide : tensor<4xf32> -> tensor<4xf16>
  %0 = autopar.binary mul %cube, %c : tensor<4xf16>
  %1 = autopar.binary add %x, %0 : tensor<4xf16>
  %2 = autopar.binary mul %1, %k : tensor<4xf16>
  %3 = autopar.unary tanh %2 : tensor<4xf16> -> tensor<4xf16>
  %4 = autopar.binary add %3, %one : tensor<4xf16>
  %5 = autopar.binary mul %x, %half : tensor<4xf16>
  %6 = autopar.binary mul %5, %4 : tensor<4xf16>
  return %6 : tensor<4xf16>
}
