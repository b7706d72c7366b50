// RUN: autopar-opt %s --autopar-partition --split-input-file --verify-diagnostics

autopar.mesh @mesh #autopar.mesh<["time"=2, "data"=2]>
func.func @step(%x: tensor<8xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"time"}]>}) -> tensor<8xf32> {
  // expected-error @below {{node '': no collectives lead from #autopar.sharding<@mesh, [{"time"}]> to #autopar.sharding<@mesh, [{}]>; micro-batches cannot exchange data, and no value leaves an interval: choose other shardings}}
  %0 = autopar.reshard %x from <@mesh, [{"time"}]> to <@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

autopar.mesh @mesh #autopar.mesh<["data"=2]>
func.func @step() -> tensor<8xf32> {
  // expected-error @below {{what is received has no sharding: plan the module first}}
  %0 = autopar.recv channel = 0 from 0 : () -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
