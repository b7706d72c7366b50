// RUN: autopar-opt %s --autopar-approximate-math | FileCheck %s

// CHECK-LABEL: @f32_becomes_polynomials
// CHECK-NOT: math.exp
// CHECK-NOT: math.tanh
// CHECK: math.sin
func.func @f32_becomes_polynomials(%x: f32) -> (f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.sin %x : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: @f64_stays
// CHECK: math.exp
func.func @f64_stays(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
}
