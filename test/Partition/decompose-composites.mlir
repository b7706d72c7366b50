// RUN: autopar-opt %s --autopar-decompose-composites | FileCheck %s
// RUN: autopar-opt %s --autopar-partition-pipeline | FileCheck %s --check-prefix=LOCAL
// RUN: autopar-opt %s --autopar-partition-pipeline --autopar-interpret='against=%s' -o /dev/null

// Softmax and layer norm along a split dimension of 5 elements over 2 devices.
// The statistics are partial and ended at once; broadcasts follow their users.

#in = #autopar.sharding<@mesh, [{"data"}, {"tensor"}]>
#both = #autopar.strategy<@mesh, {"data": split 0, "tensor": split 1}>

autopar.mesh @mesh #autopar.mesh<["data"=2, "tensor"=2]>

// CHECK-LABEL: func.func @step
// CHECK: autopar.reduce max %{{.*}} dims = [1]
// CHECK-SAME: autopar.shardings = [#autopar.sharding<@mesh, [{"data"}]>]
// CHECK-SAME: autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor": split 1}>
// CHECK: autopar.broadcast
// CHECK-SAME: autopar.shardings = [#autopar.sharding<@mesh, [{"data"}, {"tensor"}]>]
// CHECK-SAME: autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor": split 1}>
// CHECK: autopar.unary exp
// CHECK: autopar.reduce sum
// CHECK: autopar.binary div
// CHECK-SAME: autopar.names = ["p"]
// CHECK-NOT: autopar.normalize

// LOCAL-LABEL: func.func @step_0
// LOCAL: autopar.mask %{{.*}}dim = 1 : i64, size = 5 : i64, value = 0xFFF0000000000000
// LOCAL: autopar.reduce max %{{.*}} dims = [1] : tensor<2x3xf32> -> tensor<2xf32>
// LOCAL: autopar.all_reduce %{{.*}} axes = ["tensor"] {{.*}}max
// LOCAL: autopar.broadcast %{{.*}} : tensor<2xf32> -> tensor<2x3xf32>
// LOCAL: autopar.reduce sum
// LOCAL: autopar.all_reduce %{{.*}} axes = ["tensor"] {{.*}}sum
func.func @step(
    %x: tensor<4x5xf32> {autopar.source = #autopar.input<"x">, autopar.sharding = #in})
    -> (tensor<4x5xf32> {autopar.result = #autopar.output<"p">, autopar.sharding = #in},
        tensor<4x5xf32> {autopar.result = #autopar.output<"n">, autopar.sharding = #in}) {
  %0 = autopar.softmax %x dim = 1 {autopar.strategy = #both, autopar.shardings = [#in], autopar.names = ["p"]} : tensor<4x5xf32>
  %1 = autopar.normalize layer %x dims = [1] epsilon = 1.0e-5 {autopar.strategy = #both, autopar.shardings = [#in]} : tensor<4x5xf32>
  return %0, %1 : tensor<4x5xf32>, tensor<4x5xf32>
}
