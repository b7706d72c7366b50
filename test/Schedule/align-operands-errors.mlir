// A stage that the plan's cluster has no devices for.
// RUN: autopar-opt %s --autopar-align-operands --verify-diagnostics

// expected-error @+1 {{autopar.plan: its cluster has no devices for stage 1 of 2}}
module attributes {autopar.target = "emulated", autopar.stages = 2 : i64, autopar.plan = {cluster = {links = [{within = "node", kind = "nvlink"}], nodes = [{count = 1 : i64, devices = 1 : i64, type = "h100-80gb"}]}, predicted_stage_memory_bytes = [1000, 1000]}} {
autopar.mesh @mesh #autopar.mesh<["x"=1]>
func.func @step_1(%x: tensor<8xf32>) -> tensor<8xf32> attributes {autopar.stage = 1 : i64} {
  return %x : tensor<8xf32>
}
}
