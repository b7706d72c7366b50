// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s
// RUN: rm -rf %t && autopar-opt %s --autopar-lower-to-gpu=cuda-source=%t -o /dev/null && FileCheck %s --check-prefix=SOURCE < %t/program.cpp

module attributes {autopar.model = "m.onnx", autopar.persistent = [[]]} {
  autopar.mesh @mesh <["x"=3]>
  func.func @step_0() attributes {autopar.arena_bytes = 512 : i64} {
    %a = autopar.buffer arena[0] : memref<7x4xbf16>
    %b = autopar.buffer arena[64] : memref<7x4xbf16>
    autopar.collective_broadcast %a outs %b mesh = @mesh axes = ["x"] {root = 2 : i64} : (memref<7x4xbf16>, memref<7x4xbf16>) -> ()
    return
  }
}

// Op, communicator, root, type, elements.
// CHECK-LABEL: llvm.func internal @stage_0_step(
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: %[[ROOT:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG: %[[DTYPE:.*]] = llvm.mlir.constant(10 : i32)
// CHECK-DAG: %[[COUNT:.*]] = llvm.mlir.constant(28 : i64)
// CHECK: llvm.call @aprt_broadcast(%arg0, %{{.*}}, %{{.*}}, %[[ROOT]], %[[DTYPE]], %[[COUNT]], %{{.*}}, %{{.*}})

// SOURCE: TRY(aprt_broadcast(rank, 0, 0, 2, APRT_BF16, 28, arena + 0, arena + 64));
