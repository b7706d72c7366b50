// RUN: autopar-opt %s --autopar-verify-plan | FileCheck %s

// Two stages, a value partial over an axis, one that is sharded otherwise than it is
// made, and a constant, which each stage makes that reads it: nothing to complain
// about.

// CHECK: autopar.mesh @mesh
module attributes {autopar.stages = 2 : i64} {
autopar.mesh @mesh #autopar.mesh<["a"=2]>
func.func @step(%x: tensor<4x4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}, {"a"}]>},
                %w: tensor<4x4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"a"}, {}]>})
    -> (tensor<4x4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"a"}, {}]>}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w {autopar.stage = 0 : i64,
    autopar.strategy = #autopar.strategy<@mesh, {"a": split 2}>,
    autopar.shardings = [#autopar.sharding<@mesh, [{}, {}], partial = {"a": sum}>]}
    : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = autopar.constant {autopar.stage = 1 : i64, autopar.strategy = #autopar.strategy<@mesh, {}>,
    autopar.shardings = [#autopar.sharding<@mesh, [{}, {}]>]} dense<1.0> : tensor<4x4xf32>
  %3 = autopar.binary add %x, %1 {autopar.stage = 0 : i64, autopar.strategy = #autopar.strategy<@mesh, {}>,
    autopar.operand_steps = [[#autopar.reshard_step<all_gather ["a"] dim = 1>], []],
    autopar.shardings = [#autopar.sharding<@mesh, [{}, {}]>]} : tensor<4x4xf32>
  %2 = autopar.binary add %0, %1 {autopar.stage = 1 : i64, autopar.strategy = #autopar.strategy<@mesh, {"a": split 0}>,
    autopar.operand_steps = [[#autopar.reshard_step<reduce_scatter ["a"] dim = 0>], [#autopar.reshard_step<slice_block ["a"] dim = 0>]],
    autopar.shardings = [#autopar.sharding<@mesh, [{"a"}, {}]>]} : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
}
