// RUN: autopar-opt %s --autopar-decompose-composites | FileCheck %s
// RUN: autopar-opt %s --autopar-partition-pipeline | FileCheck %s --check-prefix=LOCAL
// RUN: autopar-opt %s --autopar-partition-pipeline --autopar-interpret='against=%s' -o /dev/null

#rows = #autopar.sharding<@mesh, [{"tensor"}, {}]>
#columns = #autopar.sharding<@mesh, [{}, {"tensor"}]>

autopar.mesh @mesh #autopar.mesh<["tensor"=2]>

// An rms norm whose last part reads the operand, too: the parts make the copy again once.
// CHECK-LABEL: func.func @step
// CHECK: autopar.regathers = array<i64: 0>
// CHECK-NOT: autopar.regathers
// CHECK: return
// LOCAL-COUNT-1: autopar.all_to_all %{{.*}}autopar.regather = 0
// LOCAL-NOT: autopar.all_to_all
func.func @step(
    %x: tensor<4x5xf32> {autopar.source = #autopar.input<"x">, autopar.sharding = #rows})
    -> (tensor<4x5xf32> {autopar.result = #autopar.output<"n">, autopar.sharding = #columns}) {
  %0 = autopar.normalize rms %x dims = [1] epsilon = 1.0e-5 {autopar.strategy = #autopar.strategy<@mesh, {"tensor": split 1}>, autopar.shardings = [#columns],
    autopar.regathers = array<i64: 0>, autopar.operand_steps = [[#autopar.reshard_step<all_to_all ["tensor"] dim = 1 concat_dim = 0>]]} : tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
