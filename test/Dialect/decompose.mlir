// RUN: autopar-opt %s -autopar-test-decompose | FileCheck %s

// CHECK-LABEL: func @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: %[[M:.*]] = autopar.reduce max %[[X]] dims = [1] : tensor<2x3xf32> -> tensor<2xf32>
// CHECK-NEXT: %[[MB:.*]] = autopar.broadcast %[[M]] dims = [0] : tensor<2xf32> -> tensor<2x3xf32>
// CHECK-NEXT: %[[D:.*]] = autopar.binary sub %[[X]], %[[MB]]
// CHECK-NEXT: %[[E:.*]] = autopar.unary exp %[[D]]
// CHECK-NEXT: %[[S:.*]] = autopar.reduce sum %[[E]] dims = [1]
// CHECK-NEXT: %[[SB:.*]] = autopar.broadcast %[[S]] dims = [0]
// CHECK-NEXT: %[[R:.*]] = autopar.binary div %[[E]], %[[SB]] {autopar.names = ["p"]}
// CHECK-NEXT: return %[[R]]
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = autopar.softmax %x dim = 1 {autopar.names = ["p"]} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func @log_softmax
// CHECK: %[[D:.*]] = autopar.binary sub
// CHECK: %[[L:.*]] = autopar.unary log
// CHECK: %[[LB:.*]] = autopar.broadcast %[[L]]
// CHECK: %[[R:.*]] = autopar.binary sub %[[D]], %[[LB]]
// CHECK: return %[[R]]
func.func @log_softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = autopar.softmax %x dim = 1 log : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// The mean divides by the global count, and half precision is widened.
// CHECK-LABEL: func @layer_norm
// CHECK: %[[X:.*]] = autopar.convert %{{.*}} : tensor<2x3x4xf16> -> tensor<2x3x4xf32>
// CHECK: %[[S:.*]] = autopar.reduce sum %[[X]] dims = [1, 2] : tensor<2x3x4xf32> -> tensor<2xf32>
// CHECK: %[[N:.*]] = autopar.constant dense<1.200000e+01> : tensor<2xf32>
// CHECK: %[[M:.*]] = autopar.binary div %[[S]], %[[N]]
// CHECK: %[[MB:.*]] = autopar.broadcast %[[M]] dims = [0]
// CHECK: %[[D:.*]] = autopar.binary sub %[[X]], %[[MB]]
// CHECK: %[[Q:.*]] = autopar.binary mul %[[D]], %[[D]]
// CHECK: autopar.reduce sum %[[Q]] dims = [1, 2]
// CHECK: %[[I:.*]] = autopar.unary rsqrt
// CHECK: %[[IB:.*]] = autopar.broadcast %[[I]] dims = [0]
// CHECK: %[[R:.*]] = autopar.binary mul %[[D]], %[[IB]]
// CHECK: autopar.convert %[[R]] : tensor<2x3x4xf32> -> tensor<2x3x4xf16>
func.func @layer_norm(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %0 = autopar.normalize layer %x dims = [1, 2] epsilon = 1.0e-5 : tensor<2x3x4xf16>
  return %0 : tensor<2x3x4xf16>
}

// CHECK-LABEL: func @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: autopar.binary mul %[[X]], %[[X]]
func.func @rms_norm(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = autopar.normalize rms %x dims = [1] epsilon = 1.0e-5 : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
