// RUN: autopar-opt %s --autopar-partition --split-input-file --verify-diagnostics

autopar.mesh @mesh #autopar.mesh<["data"=2]>
func.func @step() -> tensor<8xf32> {
  // expected-error @below {{what is received has no sharding: plan the module first}}
  %0 = autopar.recv channel = 0 from 0 : () -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
