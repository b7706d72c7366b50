// RUN: autopar-opt %s -split-input-file -verify-diagnostics --autopar-verify-plan

// expected-error @below {{there is no autopar.mesh: plan the module first}}
module {
}

// -----

module {
  autopar.mesh @mesh <["x"=2]>
  // expected-error @below {{argument 0 has no sharding after planning}}
  func.func @step(%x: tensor<4xf32> {autopar.source = #autopar.input<"x">}) {
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=2]>
  func.func @step(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
    // expected-error @below {{has no strategy after planning}}
    %0 = autopar.unary relu %x : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=2]>
  func.func @step(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
    // expected-error @below {{has a strategy that its sharding rule forbids}}
    %0 = autopar.unary relu %x {autopar.strategy = #autopar.strategy<@mesh, {"x": split 3}>} : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=2]>
  func.func @step(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
    // expected-error @below {{needs one sharding per result after planning}}
    %0 = autopar.unary relu %x {autopar.strategy = #autopar.strategy<@mesh, {}>} : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// -----

module attributes {autopar.stages = 2 : i64} {
  autopar.mesh @mesh <["x"=1]>
  func.func @step(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
    // expected-note @below {{defined here}}
    %0 = autopar.unary relu %x {autopar.strategy = #autopar.strategy<@mesh, {}>, autopar.shardings = [#autopar.sharding<@mesh, [{}]>],
      autopar.stage = 1 : i64} : tensor<4xf32> -> tensor<4xf32>
    // expected-error @below {{reads from a later stage}}
    %1 = autopar.unary relu %0 {autopar.strategy = #autopar.strategy<@mesh, {}>, autopar.shardings = [#autopar.sharding<@mesh, [{}]>],
      autopar.stage = 0 : i64} : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=2]>
  func.func @step(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
    // expected-error @below {{operand 0: its steps lead to [{}], not to [{"x"}]}}
    %0 = autopar.unary relu %x {autopar.strategy = #autopar.strategy<@mesh, {"x": split 0}>, autopar.shardings = [#autopar.sharding<@mesh, [{"x"}]>]}
      : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=2]>
  func.func @step(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"x"}]>}) {
    // expected-error @below {{result 0: step 0, #autopar.reshard_step<all_reduce ["x"]>, does not apply to a value that is sharded [{"x"}]}}
    %0 = autopar.unary relu %x {autopar.strategy = #autopar.strategy<@mesh, {"x": split 0}>, autopar.shardings = [#autopar.sharding<@mesh, [{}]>],
      autopar.result_steps = [[#autopar.reshard_step<all_reduce ["x"]>]]} : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// -----

module {
  autopar.mesh @mesh <["x"=2]>
  func.func @step(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"x"}]>})
      -> (tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
    // expected-error @below {{operand 0: its steps lead to [{"x"}], not to [{}]}}
    return %x : tensor<4xf32>
  }
}
