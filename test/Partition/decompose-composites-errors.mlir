// RUN: autopar-opt %s --autopar-decompose-composites --split-input-file --verify-diagnostics

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @step(%a: tensor<4x4xf32>) {
  // expected-error @below {{node '' has no autopar.strategy: plan the module first}}
  %0 = autopar.softmax %a dim = 1 : tensor<4x4xf32>
  return
}
