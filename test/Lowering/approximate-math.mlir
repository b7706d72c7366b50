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

// Numbers below 2^-126 are scaled by 2^24 before the polynomial.
// CHECK-LABEL: @log_of_denormals
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[X]], %{{.*}} : f32
// CHECK: %[[SCALED:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK: arith.select %[[SMALL]], %[[SCALED]], %[[X]] : f32
// CHECK-NOT: math.log
// CHECK: arith.select %[[SMALL]]
// CHECK-NEXT: return
func.func @log_of_denormals(%x: f32) -> f32 {
  %0 = math.log %x : f32
  return %0 : f32
}

// CHECK-LABEL: @f64_stays
// CHECK: math.exp
func.func @f64_stays(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
}
