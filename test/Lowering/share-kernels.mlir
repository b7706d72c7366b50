// RUN: autopar-opt %s --autopar-share-kernels | FileCheck %s

// Sizes that differ are arguments: one for the same size in two places. What is equal in both stays, and so does a window.
// CHECK-LABEL: llvm.func internal @rows
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[ROW:.*]]: i64, %[[COLUMNS:.*]]: i64 {llvm.range = #llvm.constant_range<i64, 64, 1001>}) attributes {no_inline}
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3
// CHECK-DAG: %[[DEPTH:.*]] = arith.constant 512
// CHECK: arith.muli %[[ROW]], %[[COLUMNS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COLUMNS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[DEPTH]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[THREE]]
llvm.func internal @rows(%p: !llvm.ptr, %row: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %columns = arith.constant 64 : i64
  %depth = arith.constant 512 : i64
  %x = arith.constant 1.0 : f32
  %first = arith.muli %row, %columns : i64
  scf.for %i = %zero to %columns step %one : i64 {
    scf.for %k = %zero to %depth step %one : i64 {
      scf.for %j = %zero to %three step %one : i64 {
        %at = arith.addi %first, %i : i64
        %place = llvm.getelementptr %p[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %x, %place : f32, !llvm.ptr
      }
    }
  }
  llvm.return
}

// What nothing uses is no difference.
// CHECK-NOT: @more_rows
llvm.func internal @more_rows(%p: !llvm.ptr, %row: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %columns = arith.constant 1000 : i64
  %depth = arith.constant 512 : i64
  %x = arith.constant 1.0 : f32
  %first = arith.muli %row, %columns : i64
  scf.for %i = %zero to %columns step %one : i64 {
    scf.for %k = %zero to %depth step %one : i64 {
      scf.for %j = %zero to %three step %one : i64 {
        %at = arith.addi %first, %i : i64
        %unused = arith.muli %i, %depth : i64
        %also = arith.addi %unused, %j : i64
        %place = llvm.getelementptr %p[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %x, %place : f32, !llvm.ptr
      }
    }
  }
  llvm.return
}

// Another window is another function, and so is another stride in the innermost loop.
// CHECK: llvm.func internal @five(%{{.*}}: !llvm.ptr) {
llvm.func internal @five(%p: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %trips = arith.constant 5 : i64
  %stride = arith.constant 64 : i64
  %x = arith.constant 1.0 : f32
  scf.for %i = %zero to %trips step %one : i64 {
    %at = arith.muli %i, %stride : i64
    %place = llvm.getelementptr %p[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %x, %place : f32, !llvm.ptr
  }
  llvm.return
}

// CHECK: llvm.func internal @seven(%{{.*}}: !llvm.ptr) {
llvm.func internal @seven(%p: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %trips = arith.constant 7 : i64
  %stride = arith.constant 64 : i64
  %x = arith.constant 1.0 : f32
  scf.for %i = %zero to %trips step %one : i64 {
    %at = arith.muli %i, %stride : i64
    %place = llvm.getelementptr %p[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %x, %place : f32, !llvm.ptr
  }
  llvm.return
}

// CHECK: llvm.func internal @wide(%{{.*}}: !llvm.ptr) {
llvm.func internal @wide(%p: !llvm.ptr) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %trips = arith.constant 5 : i64
  %stride = arith.constant 128 : i64
  %x = arith.constant 1.0 : f32
  scf.for %i = %zero to %trips step %one : i64 {
    %at = arith.muli %i, %stride : i64
    %place = llvm.getelementptr %p[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %x, %place : f32, !llvm.ptr
  }
  llvm.return
}

// CHECK-LABEL: llvm.func @calls
// CHECK-DAG: %[[SMALL:.*]] = arith.constant 64 : i64
// CHECK: llvm.call @rows(%[[Q:.*]], %[[R:.*]], %[[SMALL]])
// CHECK-DAG: %[[LARGE:.*]] = arith.constant 1000 : i64
// CHECK: llvm.call @rows(%[[Q]], %[[R]], %[[LARGE]])
// CHECK: llvm.call @five(%[[Q]])
// CHECK: llvm.call @seven(%[[Q]])
// CHECK: llvm.call @wide(%[[Q]])
llvm.func @calls(%p: !llvm.ptr, %row: i64) {
  llvm.call @rows(%p, %row) : (!llvm.ptr, i64) -> ()
  llvm.call @more_rows(%p, %row) : (!llvm.ptr, i64) -> ()
  llvm.call @five(%p) : (!llvm.ptr) -> ()
  llvm.call @seven(%p) : (!llvm.ptr) -> ()
  llvm.call @wide(%p) : (!llvm.ptr) -> ()
  llvm.return
}

// Factors of numbers vary, and memory on the stack is as large as any kernel's.
// CHECK-LABEL: llvm.func internal @mean
// CHECK-SAME: (%{{.*}}: !llvm.ptr {llvm.noalias}, %[[COUNT:.*]]: i64 {llvm.range = #llvm.constant_range<i64, 128, 513>}, %[[SCALE:.*]]: f32) attributes {no_inline}
// CHECK: %[[MOST:.*]] = arith.constant 512 : i64
// CHECK: llvm.alloca %[[MOST]] x f32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
llvm.func internal @mean(%p: !llvm.ptr {llvm.noalias}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %count = arith.constant 128 : i64
  %scale = arith.constant 0.5 : f32
  %sums = llvm.alloca %count x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  scf.for %i = %zero to %count step %one : i64 {
    %place = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %place : !llvm.ptr -> f32
    %y = arith.mulf %x, %scale : f32
    %sum = llvm.getelementptr %sums[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %y, %sum : f32, !llvm.ptr
  }
  llvm.return
}
// CHECK-NOT: @longer_mean(%
llvm.func internal @longer_mean(%p: !llvm.ptr {llvm.noalias}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %count = arith.constant 512 : i64
  %scale = arith.constant 0.125 : f32
  %sums = llvm.alloca %count x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  scf.for %i = %zero to %count step %one : i64 {
    %place = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %place : !llvm.ptr -> f32
    %y = arith.mulf %x, %scale : f32
    %sum = llvm.getelementptr %sums[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %y, %sum : f32, !llvm.ptr
  }
  llvm.return
}
// CHECK-LABEL: llvm.func @calls_means
// CHECK-DAG: %[[FEW:.*]] = arith.constant 128 : i64
// CHECK-DAG: %[[HALF:.*]] = arith.constant 5.0{{.*}} : f32
// CHECK: llvm.call @mean(%[[Q:.*]], %[[FEW]], %[[HALF]])
// CHECK-DAG: %[[MANY:.*]] = arith.constant 512 : i64
// CHECK-DAG: %[[EIGHTH:.*]] = arith.constant 1.25{{.*}} : f32
// CHECK: llvm.call @mean(%[[Q]], %[[MANY]], %[[EIGHTH]])
llvm.func @calls_means(%p: !llvm.ptr) {
  llvm.call @mean(%p) : (!llvm.ptr) -> ()
  llvm.call @longer_mean(%p) : (!llvm.ptr) -> ()
  llvm.return
}

// A function that is called twice, or whose address is taken, is not looked at.
// CHECK-LABEL: llvm.func internal @twice(%{{.*}}: !llvm.ptr) {
llvm.func internal @twice(%p: !llvm.ptr) {
  llvm.return
}
// CHECK-LABEL: llvm.func internal @taken(%{{.*}}: !llvm.ptr) {
llvm.func internal @taken(%p: !llvm.ptr) {
  llvm.return
}
// CHECK-LABEL: llvm.func @others
// CHECK: llvm.call @twice
// CHECK: llvm.call @twice
// CHECK: llvm.call @taken
llvm.func @others(%p: !llvm.ptr) -> !llvm.ptr {
  llvm.call @twice(%p) : (!llvm.ptr) -> ()
  llvm.call @twice(%p) : (!llvm.ptr) -> ()
  llvm.call @taken(%p) : (!llvm.ptr) -> ()
  %f = llvm.mlir.addressof @taken : !llvm.ptr
  llvm.return %f : !llvm.ptr
}
