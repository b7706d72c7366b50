// RUN: autopar-opt %s --autopar-lower-to-cpu | FileCheck %s

#rows = #autopar.sharding<@mesh, [{"data"}, {}]>
module attributes {autopar.model = "m.onnx", autopar.persistent = [[], []]} {
  autopar.mesh @mesh <["data"=2]>
  func.func @step_0() attributes {autopar.arena_bytes = 512 : i64, autopar.arguments = [
      #autopar.port<what = #autopar.input<"x">, sharding = #rows, global_type = tensor<3x4xf32>, type = tensor<2x4xf32>,
       space = arena, position = 64>]} {
    %x = autopar.buffer arena[64] : memref<2x4xf32>
    %y = autopar.buffer arena[128] : memref<2x4xf32>
    autopar.all_reduce %x outs %y mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>}
      : (memref<2x4xf32>, memref<2x4xf32>) -> ()
    autopar.send %y channel = 0 to 1 : memref<2x4xf32>
    return
  }
  func.func @step_1() attributes {autopar.arena_bytes = 1024 : i64, autopar.results = [
      #autopar.port<what = #autopar.output<"y">, sharding = #rows, global_type = tensor<3x4xf32>, type = tensor<2x4xf32>,
       space = arena, position = 0>]} {
    %x = autopar.buffer arena[256] : memref<2x4xf32>
    %y = autopar.buffer arena[0] : memref<2x4xf32>
    autopar.recv outs %x channel = 0 from 0 : (memref<2x4xf32>) -> ()
    autopar.kernel ins(%x) outs(%y) : (memref<2x4xf32>, memref<2x4xf32>) -> () {
    ^bb0(%0: tensor<2x4xf32>):
      %1 = autopar.mask %0 mesh = @mesh axes = ["data"] {dim = 0 : i64, size = 3 : i64, value = 0.0 : f64}
        : (tensor<2x4xf32>) -> tensor<2x4xf32>
      autopar.yield %1 : tensor<2x4xf32>
    }
    return
  }
}

// A call that fails ends the function with its status.
// CHECK-LABEL: llvm.func internal @stage_0_step(%arg0: !llvm.ptr, %arg1: i64) -> i32
// CHECK: %[[STATUS:.*]] = llvm.call @aprt_all_reduce(
// CHECK: %[[FAILED:.*]] = llvm.icmp "ne" %[[STATUS]]
// CHECK: llvm.cond_br %[[FAILED]], ^[[FAIL:bb[0-9]+]](%[[STATUS]] : i32), ^
// CHECK: llvm.call @aprt_send(
// CHECK: ^[[FAIL]](%[[CODE:.*]]: i32):
// CHECK-NEXT: llvm.return %[[CODE]]

// The mask's device position is a scalar of the kernel.
// CHECK-LABEL: llvm.func internal @stage_1_step(
// CHECK: %[[INDEX:.*]] = llvm.call @aprt_axis_index(
// CHECK: llvm.call @aprt_recv(
// CHECK: llvm.store %[[INDEX]], %{{.*}} : i64, !llvm.ptr
// CHECK: llvm.call @aprt_launch(

// CHECK: llvm.mlir.global external constant @aprt_program_stages()
// CHECK: llvm.mlir.global external constant @aprt_program_manifest("{\22abi\22:6,\22arena_bytes\22:[512,1024],\22channels\22:[{\22bytes\22:32,\22from_stage\22:0,\22slots\22:2,\22to_stage\22:1}]
// CHECK-SAME: \22communicators\22:[{\22axes\22:[\22data\22],\22bytes\22:32,\22groups\22:{{\[\[}}0,1],[2,3]]}]
// CHECK-SAME: \22inputs\22:[{\22dims\22:[{\22length\22:2,\22offset\22:0,\22size\22:3,\22split\22:{{\[\[}}0,1,2]],\22step\22:2}
// CHECK-SAME: \22stages\22:[{\22offset\22:64,\22stage\22:0}]
// CHECK-SAME: \22model\22:\22m.onnx\22
