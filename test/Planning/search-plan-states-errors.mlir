// A state and its next value are sharded alike: constraints that allow no sharding for both are named.

// RUN: split-file %s %t
// RUN: not autopar-opt %t/model.mlir --autopar-plan="ranks=2 mesh=x=2 constraints=%t/apart.json" 2>&1 | FileCheck %s
// RUN: autopar-opt %t/model.mlir --autopar-plan="ranks=2 mesh=x=2 constraints=%t/alike.json" | FileCheck %s --check-prefix=ALIKE

// CHECK: constraints: state 's' and its next value 's_next' must be sharded alike, and no sharding is allowed for both

// One of both decides.
// ALIKE: autopar.sharding = #autopar.sharding<@mesh, [{}, {"x"}]>, autopar.source = #autopar.state<"s"

//--- apart.json
{"constraints": [{"value": "s", "sharding": [["x"], []]}, {"value": "s_next", "sharding": [[], ["x"]]}]}

//--- alike.json
{"constraints": [{"value": "s_next", "sharding": [[], ["x"]]}]}

//--- model.mlir
func.func @step(%x: tensor<8x4xf32> {autopar.source = #autopar.input<"x">},
                %s: tensor<8x4xf32> {autopar.source = #autopar.state<"s", 0.0>})
    -> (tensor<8x4xf32> {autopar.result = #autopar.next_state<"s">}) {
  %0 = autopar.binary add %s, %x {autopar.names = ["s_next"]} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
