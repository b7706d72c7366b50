// RUN: autopar-opt %s --autopar-limit-unrolling | FileCheck %s

// Rows, columns and a window: the window may be unrolled, what is around it not, nor a loop alone.
// CHECK-LABEL: @window
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: }
// CHECK-NOT: loop_annotation
// CHECK: }
// CHECK: } {loop_annotation = #[[KEEP:.*]]}
// CHECK: } {loop_annotation = #[[KEEP]]}
// CHECK: scf.for
// CHECK-NOT: loop_annotation
func.func @window(%n: index, %p: !llvm.ptr, %x: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %ten = arith.constant 10 : index
  %many = arith.constant 1000 : index
  scf.for %i = %zero to %n step %one {
    scf.for %j = %zero to %ten step %one {
      scf.for %k = %zero to %three step %one {
        scf.for %l = %zero to %three step %one {
          llvm.store %x, %p : f32, !llvm.ptr
        }
      }
    }
  }
  scf.for %i = %zero to %many step %one {
    llvm.store %x, %p : f32, !llvm.ptr
  }
  return
}

// Two small nests in a loop of two are one large nest.
// CHECK-LABEL: @beside
// CHECK: } {loop_annotation
func.func @beside(%p: !llvm.ptr, %x: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %twenty = arith.constant 20 : index
  scf.for %i = %zero to %two step %one {
    scf.for %j = %zero to %twenty step %one {
      llvm.store %x, %p : f32, !llvm.ptr
    }
    scf.for %j = %zero to %twenty step %one {
      llvm.store %x, %p : f32, !llvm.ptr
    }
  }
  return
}
