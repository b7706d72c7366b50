// RUN: autopar-opt %s --split-input-file --autopar-transpose-tiles --canonicalize --cse | FileCheck %s

// The tile is read by lines of 16 elements, 100 apart, and kept transposed; the
// inner loop reads it there. What is read along the loop stays.
// CHECK-LABEL: llvm.func @tile(
// CHECK-SAME: %[[FROM:[a-z0-9]+]]: !llvm.ptr {llvm.noalias}, %[[ALONG:[a-z0-9]+]]: !llvm.ptr {llvm.noalias}
// CHECK: %[[KEPT:.*]] = llvm.alloca %c256{{.*}} x f32 {alignment = 64 : i64}
// CHECK: %[[LINE:.*]] = llvm.getelementptr inbounds %[[FROM]][%arg3]
// CHECK: llvm.load %[[LINE]] {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: %[[NEXT:.*]] = arith.addi %arg3, %c100
// CHECK: llvm.getelementptr inbounds %[[FROM]][%[[NEXT]]]
// CHECK-COUNT-15: llvm.load {{.*}} -> vector<16xi32>
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-COUNT-62: llvm.shufflevector
// CHECK-NOT: llvm.shufflevector
// CHECK-COUNT-16: llvm.store %{{.*}} : vector<16xi32>
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: scf.for %[[COLUMN:.*]] =
// CHECK: %[[START:.*]] = arith.muli %[[ROW]], %c16
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[COLUMN]]
// CHECK: %[[THERE:.*]] = llvm.getelementptr inbounds %[[KEPT]][%[[AT]]]
// CHECK: %[[X:.*]] = llvm.load %[[THERE]] : !llvm.ptr -> f32
// CHECK: llvm.getelementptr inbounds %[[ALONG]]
// CHECK: arith.addf %[[X]]
llvm.func @tile(%from: !llvm.ptr {llvm.noalias}, %along: !llvm.ptr {llvm.noalias}, %to: !llvm.ptr {llvm.noalias}, %first: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %side = arith.constant 16 : i64
  %width = arith.constant 100 : i64
  scf.for %row = %zero to %side step %one : i64 {
    %r = arith.addi %first, %row : i64
    scf.for %column = %zero to %side step %one : i64 {
      %c = arith.muli %column, %width : i64
      %i = arith.addi %r, %c : i64
      %p = llvm.getelementptr inbounds %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %p : !llvm.ptr -> f32
      %s = arith.muli %row, %width : i64
      %o = arith.addi %s, %column : i64
      %b = llvm.getelementptr inbounds %along[%o] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %y = llvm.load %b : !llvm.ptr -> f32
      %z = arith.addf %x, %y : f32
      %q = llvm.getelementptr inbounds %to[%o] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %z, %q : f32, !llvm.ptr
    }
  }
  llvm.return
}

// -----

// What the tile writes over, or what another argument may be, is read in place.
// CHECK-LABEL: llvm.func @over(
// CHECK-NOT: vector<16
// CHECK: llvm.return
llvm.func @over(%from: !llvm.ptr {llvm.noalias}, %shared: !llvm.ptr, %first: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %side = arith.constant 16 : i64
  %width = arith.constant 100 : i64
  scf.for %row = %zero to %side step %one : i64 {
    scf.for %column = %zero to %side step %one : i64 {
      %c = arith.muli %column, %width : i64
      %i = arith.addi %row, %c : i64
      %p = llvm.getelementptr inbounds %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %p : !llvm.ptr -> f32
      %a = llvm.getelementptr inbounds %shared[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %y = llvm.load %a : !llvm.ptr -> f32
      %z = arith.addf %x, %y : f32
      %s = arith.muli %row, %width : i64
      %o = arith.addi %s, %column : i64
      %q = llvm.getelementptr inbounds %from[%o] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %z, %q : f32, !llvm.ptr
    }
  }
  llvm.return
}

// -----

// A place that is no sum of the loops' numbers, and a line that is not whole.
// CHECK-LABEL: llvm.func @crooked(
// CHECK-NOT: vector<16
// CHECK: llvm.return
llvm.func @crooked(%from: !llvm.ptr {llvm.noalias}, %to: !llvm.ptr {llvm.noalias}, %first: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %side = arith.constant 16 : i64
  %width = arith.constant 100 : i64
  scf.for %row = %zero to %side step %one : i64 {
    scf.for %column = %zero to %side step %one : i64 {
      %c = arith.muli %column, %width : i64
      %d = arith.divsi %c, %first : i64
      %i = arith.addi %row, %d : i64
      %p = llvm.getelementptr inbounds %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %p : !llvm.ptr -> f32
      %e = arith.muli %row, %side : i64
      %f = arith.addi %e, %c : i64
      %g = llvm.getelementptr inbounds %from[%f] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %y = llvm.load %g : !llvm.ptr -> f32
      %z = arith.addf %x, %y : f32
      %q = llvm.getelementptr inbounds %to[%column] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %z, %q : f32, !llvm.ptr
    }
  }
  llvm.return
}
