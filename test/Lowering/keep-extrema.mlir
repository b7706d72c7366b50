// RUN: autopar-opt %s --autopar-keep-extrema | FileCheck %s

// CHECK-LABEL: func.func @extrema
func.func @extrema(%x: f32, %y: f32, %a: f64, %b: f64) -> (f32, f64) {
  // CHECK: llvm.intr.maximum(%arg0, %arg1) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
  %0 = arith.maximumf %x, %y fastmath<nsz> : f32
  // CHECK: llvm.intr.minimum(%arg2, %arg3) {fastmathFlags = #llvm.fastmath<nsz>} : (f64, f64) -> f64
  %1 = arith.minimumf %a, %b fastmath<nsz> : f64
  return %0, %1 : f32, f64
}

// Where the sign of a zero counts, and in types that no processor has, comparisons are as fast.
// CHECK-LABEL: func.func @signs
func.func @signs(%x: f32, %h: f16) -> (f32, f16) {
  // CHECK: arith.maximumf %arg0, %arg0 : f32
  %0 = arith.maximumf %x, %x : f32
  // CHECK: arith.maximumf %arg1, %arg1 fastmath<nsz> : f16
  %1 = arith.maximumf %h, %h fastmath<nsz> : f16
  return %0, %1 : f32, f16
}
