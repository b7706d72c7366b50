// RUN: autopar-opt %s --autopar-widen-reductions --split-input-file | FileCheck %s -enable-var-scope

// NCCL reduces no integers of 16 bits.
module attributes {autopar.target = "emulated"} {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @gpu
// CHECK: %[[W:.*]] = autopar.convert %arg0 : tensor<4xi16> -> tensor<4xi32>
// CHECK: %[[R:.*]] = autopar.all_reduce %[[W]] {{.*}} : (tensor<4xi32>) -> tensor<4xi32>
// CHECK: %[[N:.*]] = autopar.convert %[[R]] : tensor<4xi32> -> tensor<4xi16>
// CHECK: %[[U:.*]] = autopar.convert %arg1 : tensor<4xui16> -> tensor<4xui32>
// CHECK: autopar.reduce_scatter %[[U]] {{.*}} : (tensor<4xui32>) -> tensor<2xui32>
// CHECK: autopar.all_gather {{.*}} : (tensor<4xi16>) -> tensor<8xi16>
// CHECK: return %[[N]]
func.func @gpu(%x: tensor<4xi16>, %y: tensor<4xui16>) -> (tensor<4xi16>, tensor<2xui16>, tensor<8xi16>) {
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<4xi16>) -> tensor<4xi16>
  %1 = autopar.reduce_scatter %y mesh = @mesh axes = ["data"] {dim = 0 : i64, kind = #autopar<reduce_kind sum>} : (tensor<4xui16>) -> tensor<2xui16>
  %2 = autopar.all_gather %x mesh = @mesh axes = ["data"] {dim = 0 : i64} : (tensor<4xi16>) -> tensor<8xi16>
  return %0, %1, %2 : tensor<4xi16>, tensor<2xui16>, tensor<8xi16>
}
}

// -----

// Other types it does; a CPU's ranks reduce all.
module {
autopar.mesh @mesh #autopar.mesh<["data"=2]>
// CHECK-LABEL: func.func @cpu
// CHECK-NEXT: autopar.all_reduce
// CHECK-NEXT: return
func.func @cpu(%x: tensor<4xi16>) -> tensor<4xi16> {
  %0 = autopar.all_reduce %x mesh = @mesh axes = ["data"] {kind = #autopar<reduce_kind sum>} : (tensor<4xi16>) -> tensor<4xi16>
  return %0 : tensor<4xi16>
}
}
