// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=data" --autopar-verify-plan | FileCheck %s --check-prefix=DATA
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=row" --autopar-verify-plan | FileCheck %s --check-prefix=ROW
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=tensor" --autopar-verify-plan | FileCheck %s --check-prefix=TENSOR
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=data,tensor mesh=data=2,tensor=2" --autopar-verify-plan | FileCheck %s --check-prefix=BOTH
// RUN: autopar-opt %s --autopar-plan="ranks=4 strategy=replicated" --autopar-verify-plan | FileCheck %s --check-prefix=SAME

// DATA: autopar.mesh @mesh <["data"=4]>
// ROW: autopar.mesh @mesh <["row"=4]>
// TENSOR: autopar.mesh @mesh <["tensor"=4]>
// BOTH: autopar.mesh @mesh <["data"=2, "tensor"=2]>
// SAME: autopar.mesh @mesh <["replicated"=4]>
module attributes {autopar.model = "mlp.onnx"} {
  // The batch is sharded over data; the weights are whole.
  // DATA: %{{.*}}: tensor<8x16xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"data"}, {}]>
  // DATA-SAME: %{{.*}}: tensor<16x32xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>
  // A row split of the first weight, a column and then a row split with tensor.
  // ROW: %{{.*}}: tensor<16x32xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"row"}, {}]>
  // TENSOR: %{{.*}}: tensor<16x32xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}, {"tensor"}]>
  // TENSOR-SAME: %{{.*}}: tensor<32x4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"tensor"}, {}]>
  // BOTH: %{{.*}}: tensor<8x16xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"data"}, {}]>
  // BOTH-SAME: %{{.*}}: tensor<16x32xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}, {"tensor"}]>
  // SAME: %{{.*}}: tensor<16x32xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>
  func.func @step(%x: tensor<8x16xf32> {autopar.source = #autopar.input<"x">},
                  %w1: tensor<16x32xf32> {autopar.source = #autopar.parameter<"w1", "mlp.onnx", offset = 0, length = 2048>},
                  %w2: tensor<32x4xf32> {autopar.source = #autopar.parameter<"w2", "mlp.onnx", offset = 2048, length = 512>})
      -> (tensor<8x4xf32> {autopar.result = #autopar.output<"y">}) {
    // DATA: autopar.einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"data": split 0}>
    // ROW: autopar.einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"row": split 2}>
    // TENSOR: autopar.einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"tensor": split 1}>
    // BOTH: autopar.einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor": split 1}>
    // SAME: autopar.einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {}>
    %0 = autopar.einsum "mk,kn->mn" %x, %w1 : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    // DATA: autopar.unary {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"data": split 0}>
    %1 = autopar.unary relu %0 : tensor<8x32xf32> -> tensor<8x32xf32>
    // ROW: autopar.einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"row": split 2}>
    // TENSOR: autopar.einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"tensor": split 2}>
    // BOTH: autopar.einsum {{.*}} autopar.strategy = #autopar.strategy<@mesh, {"data": split 0, "tensor": split 2}>
    %2 = autopar.einsum "mk,kn->mn" %1, %w2 : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
}
