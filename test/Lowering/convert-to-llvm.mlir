// RUN: autopar-opt %s --split-input-file --verify-diagnostics --autopar-convert-to-llvm | FileCheck %s

// Functions of the C library, narrow floats and rounded quotients, blocks and functions: all of it is LLVM's.
// CHECK-DAG: llvm.func @sinf(f32) -> f32
// CHECK-LABEL: llvm.func @step(
// CHECK-SAME: %[[X:.*]]: f32, %[[N:.*]]: i64, %[[B:.*]]: bf16
func.func @step(%x: f32, %n: i64, %b: bf16) -> f32 {
  // CHECK: llvm.call @sinf(%[[X]]) : (f32) -> f32
  %sine = math.sin %x : f32
  // CHECK: llvm.sdiv
  %two = arith.constant 2 : i64
  %half = arith.ceildivsi %n, %two : i64
  %zero = arith.constant 0 : i64
  %none = arith.cmpi eq, %half, %zero : i64
  // CHECK: llvm.cond_br
  cf.cond_br %none, ^none, ^some
^none:
  return %sine : f32
^some:
  // CHECK: llvm.bitcast %{{.*}} : i32 to f32
  %wide = arith.extf %b : bf16 to f32
  // CHECK: llvm.fadd
  %sum = arith.addf %sine, %wide : f32
  // CHECK: llvm.return
  return %sum : f32
}

// -----
// The C library has no functions of vectors.
func.func @vector(%x: vector<4xf32>) -> vector<4xf32> {
  // expected-error @below {{'math.tan' op of a vector: take it apart before}}
  %tangent = math.tan %x : vector<4xf32>
  return %tangent : vector<4xf32>
}
