// Two layers that learn by gradient descent: every form of the step computes the same, step after step.
// RUN: autopar-opt %s --autopar-plan="ranks=1" --autopar-partition-pipeline --autopar-schedule-pipeline -o %t.one.mlir
// RUN: autopar-opt %t.one.mlir --autopar-interpret="against=%s steps=1000" -o /dev/null | FileCheck %s
// RUN: FileCheck %s --check-prefix=PLACES < %t.one.mlir
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=data" --autopar-partition-pipeline -o %t.data.mlir
// RUN: autopar-opt %t.data.mlir --autopar-interpret="against=%s steps=20" -o /dev/null
// RUN: autopar-opt %t.data.mlir --autopar-schedule-pipeline --autopar-interpret="against=%s steps=20" -o /dev/null
// RUN: autopar-opt %s --autopar-plan="ranks=2 strategy=tensor" --autopar-partition-pipeline --autopar-schedule-pipeline --autopar-interpret="against=%s steps=20" -o /dev/null
// RUN: autopar-opt %s --autopar-plan="ranks=3" --autopar-partition-pipeline --autopar-schedule-pipeline --autopar-interpret="against=%s steps=20" -o /dev/null
// RUN: autopar-opt %s --autopar-plan="ranks=6 strategy=data,tensor mesh=data=3,tensor=2" --autopar-partition-pipeline --autopar-schedule-pipeline --autopar-interpret="against=%s steps=20" -o /dev/null
// RUN: not autopar-opt %s --autopar-plan="ranks=2 strategy=layer" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LAYER

// CHECK: 4000 results equal
// LAYER: a model with states ('w1') runs in one stage: leave layer out of --strategy and --mesh

// Each next value is computed where the state is: nothing is copied.
// PLACES: autopar.persistent = {{.*}}what = #autopar.state<"w1", #autopar.parameter<"w1"{{.*}}what = #autopar.state<"w2", #autopar.parameter<"w2"{{.*}}what = #autopar.state<"count", 0 : i64>
// PLACES: func.func @step_0() {{.*}}autopar.results = [#autopar.port<what = #autopar.output<"loss", role = loss>, {{.*}}space = arena,
// PLACES-SAME: #autopar.port<what = #autopar.next_state<"w1">, {{.*}}space = persistent, position = 2,
// PLACES-SAME: #autopar.port<what = #autopar.next_state<"w2">, {{.*}}space = persistent, position = 3,
// PLACES-SAME: #autopar.port<what = #autopar.next_state<"count">, {{.*}}space = persistent, position = 4,
// PLACES-NOT: autopar.op = "copy"
func.func @step(
    %x: tensor<6x5xf32> {autopar.source = #autopar.input<"x">},
    %t: tensor<6x4xf32> {autopar.source = #autopar.input<"t">},
    %w1: tensor<5x8xf32> {autopar.source = #autopar.state<"w1", #autopar.parameter<"w1", "w.bin", offset = 0, length = 160>>},
    %w2: tensor<8x4xf32> {autopar.source = #autopar.state<"w2", #autopar.parameter<"w2", "w.bin", offset = 160, length = 128>>},
    %n: tensor<i64> {autopar.source = #autopar.state<"count", 0 : i64>})
    -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>},
        tensor<5x8xf32> {autopar.result = #autopar.next_state<"w1">},
        tensor<8x4xf32> {autopar.result = #autopar.next_state<"w2">},
        tensor<i64> {autopar.result = #autopar.next_state<"count">}) {
  %rate = autopar.constant dense<0.01> : tensor<f32>
  %zero = autopar.constant dense<0.0> : tensor<f32>
  %one = autopar.constant dense<1> : tensor<i64>
  %z = autopar.einsum "bi,ij->bj" %x, %w1 : (tensor<6x5xf32>, tensor<5x8xf32>) -> tensor<6x8xf32> loc("z")
  %h = autopar.unary relu %z : tensor<6x8xf32> -> tensor<6x8xf32> loc("h")
  %y = autopar.einsum "bj,jk->bk" %h, %w2 : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32> loc("y")
  %d = autopar.binary sub %y, %t : tensor<6x4xf32> loc("d")
  %dd = autopar.binary mul %d, %d : tensor<6x4xf32> loc("dd")
  %loss = autopar.reduce sum %dd dims = [0, 1] : tensor<6x4xf32> -> tensor<f32> loc("loss")
  %g2 = autopar.einsum "bj,bk->jk" %h, %d : (tensor<6x8xf32>, tensor<6x4xf32>) -> tensor<8x4xf32> loc("g2")
  %gh = autopar.einsum "bk,jk->bj" %d, %w2 : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32> loc("gh")
  %zeros = autopar.broadcast %zero dims = [] : tensor<f32> -> tensor<6x8xf32> loc("zeros")
  %on = autopar.compare gt %z, %zeros : tensor<6x8xf32> -> tensor<6x8xi1> loc("on")
  %gz = autopar.select %on, %gh, %zeros : tensor<6x8xi1>, tensor<6x8xf32> loc("gz")
  %g1 = autopar.einsum "bi,bj->ij" %x, %gz : (tensor<6x5xf32>, tensor<6x8xf32>) -> tensor<5x8xf32> loc("g1")
  %r1 = autopar.broadcast %rate dims = [] : tensor<f32> -> tensor<5x8xf32> loc("r1")
  %s1 = autopar.binary mul %g1, %r1 : tensor<5x8xf32> loc("s1")
  %w1n = autopar.binary sub %w1, %s1 : tensor<5x8xf32> loc("w1n")
  %r2 = autopar.broadcast %rate dims = [] : tensor<f32> -> tensor<8x4xf32> loc("r2")
  %s2 = autopar.binary mul %g2, %r2 : tensor<8x4xf32> loc("s2")
  %w2n = autopar.binary sub %w2, %s2 : tensor<8x4xf32> loc("w2n")
  %next = autopar.binary add %n, %one : tensor<i64> loc("next")
  return %loss, %w1n, %w2n, %next : tensor<f32>, tensor<5x8xf32>, tensor<8x4xf32>, tensor<i64>
}
