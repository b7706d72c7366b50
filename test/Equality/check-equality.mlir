// RUN: autopar-opt %s --autopar-check-equality | FileCheck %s

// A local program written by hand, in another way than Partition would: the sum
// is gathered from scattered pieces. It is as good.

autopar.mesh @mesh #autopar.mesh<["x"=2]>

func.func private @step.global(
    %a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">},
    %b: tensor<6x4xf32> {autopar.source = #autopar.input<"b">})
    -> (tensor<4x4xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.einsum "mk,kn->mn" %a, %b {autopar.origin = array<i64: 0>} : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %1 = autopar.unary neg %0 {autopar.origin = array<i64: 1>} : tensor<4x4xf32> -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-NOT: @step.global
// CHECK-LABEL: func.func @step_0
// CHECK-NOT: autopar.origin
// CHECK-NOT: autopar.strategy
func.func @step_0(
    %a: tensor<4x3xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #autopar.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<3x4xf32> {autopar.source = #autopar.input<"b">, autopar.global_type = tensor<6x4xf32>,
                         autopar.sharding = #autopar.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<4x4xf32>,
                         autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>}) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.einsum "mk,kn->mn" %a, %b {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {"x": split 2}>}
    : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  // neg lets the partial sum pass.
  %1 = autopar.unary neg %0 {autopar.origin = array<i64: 1>, autopar.strategy = #autopar.strategy<@mesh, {"x": pass 0}>}
    : tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = autopar.reduce_scatter %1 mesh = @mesh axes = ["x"] {dim = 1 : i64, kind = #autopar<reduce_kind sum>} : (tensor<4x4xf32>) -> tensor<4x2xf32>
  %3 = autopar.all_to_all %2 mesh = @mesh axes = ["x"] {split_dim = 0 : i64, concat_dim = 1 : i64} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %4 = autopar.all_gather %3 mesh = @mesh axes = ["x"] {dim = 0 : i64} : (tensor<2x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
