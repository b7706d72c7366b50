// RUN: split-file %s %t
// RUN: not autopar-opt %t/model.mlir --autopar-plan="ranks=2 strategy=layer constraints=%t/mask.json" 2>&1 | FileCheck %s --check-prefix=MASK
// RUN: autopar-opt %t/model.mlir --autopar-plan="ranks=2 strategy=layer constraints=%t/all.json" --autopar-verify-plan | FileCheck %s --check-prefix=ALL

// What depends on no input has no stage of its own: a pin of it alone is an error, and a pin of more leaves it where it is read.
// MASK: constraint 1 (node 'first/mask'): its ops depend on no input: each stage that reads them computes them, they have no stage of their own
// ALL: autopar.broadcast {{.*}}autopar.stage = 1
// ALL: autopar.unary tanh {{.*}}autopar.stage = 0
// ALL: autopar.binary add {{.*}}autopar.stage = 1

//--- mask.json
{"constraints": [{"node": "first/mask", "stage": 0}]}
//--- all.json
{"constraints": [{"node": "first*", "stage": 0}, {"node": "sum", "stage": 1}]}
//--- model.mlir
func.func @step(%x: tensor<8x6xf32> {autopar.source = #autopar.input<"x">},
                %m: tensor<6xf32> {autopar.source = #autopar.parameter<"m", "m.onnx", offset = 0, length = 24>})
    -> (tensor<8x6xf32> {autopar.result = #autopar.output<"y">}) {
  %0 = autopar.broadcast %m dims = [1] : tensor<6xf32> -> tensor<8x6xf32> loc("first/mask")
  %1 = autopar.unary tanh %x : tensor<8x6xf32> -> tensor<8x6xf32> loc("first")
  %2 = autopar.binary add %1, %0 : tensor<8x6xf32> loc("sum")
  return %2 : tensor<8x6xf32>
}
