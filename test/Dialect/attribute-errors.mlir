// RUN: autopar-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{the time axis must come first}}
autopar.mesh @mesh #autopar.mesh<["data"=2, "time"=2]>

// -----

// expected-error @below {{axis "x" is there twice}}
autopar.mesh @mesh #autopar.mesh<["x"=2, "x"=2]>

// -----

// expected-error @below {{axis name "x.0" must not be empty nor hold a dot}}
autopar.mesh @mesh #autopar.mesh<["x.0"=2]>

// -----

// expected-error @below {{axis "x" has size 0; sizes are at least 1 and make at most 2^20 devices together}}
autopar.mesh @mesh #autopar.mesh<["x"=0]>

// -----

// expected-error @below {{axis "x" is used twice in a sharding}}
func.func @twice(%x: tensor<4x4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"x"}, {"x"}]>}) {
  return
}

// -----

// expected-error @below {{an interval's step and length are not negative}}
func.func @interval(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"x", step = -1, offset = 0, length = 2}]>}) {
  return
}

// -----

// expected-error @below {{unknown reduction mean}}
func.func @mean(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}], partial = {"x": mean}>}) {
  return
}

// -----

// expected-error @below {{there is no autopar.mesh @mesh}}
func.func @no_mesh(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{mesh @mesh has no axis "y"}}
func.func @no_axis(%x: tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"y"}]>}) {
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=4]>
// expected-error @below {{axis "x.1" is used twice}}
func.func @whole_and_part() -> (tensor<4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"x"}], partial = {"x.1": sum}>}) {
  %0 = autopar.constant dense<0.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @below {{autopar.sharding has 1 dimensions for a value of type 'tensor<4x4xf32>'}}
func.func @rank(%x: tensor<4x4xf32> {autopar.sharding = #autopar.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

// expected-error @below {{autopar.sharding must hold #autopar.sharding}}
func.func @no_sharding(%x: tensor<4xf32> {autopar.sharding = "x"}) {
  return
}

// -----

// expected-error @below {{autopar.global_type must be a tensor type}}
func.func @global_type(%x: tensor<4xf32> {autopar.global_type = f32}) {
  return
}

// -----

func.func @strategy(%x: tensor<4xf32>) {
  // expected-error @below {{autopar.strategy must be #autopar.strategy}}
  %0 = autopar.unary relu %x {autopar.strategy = "x"} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
func.func @strategy_axis(%x: tensor<4xf32>) {
  // expected-error @below {{mesh @mesh has no axis "y"}}
  %0 = autopar.unary relu %x {autopar.strategy = #autopar.strategy<@mesh, {"y": split 0}>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @strategy_word(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'split' or 'pass'}}
  %0 = autopar.unary relu %x {autopar.strategy = #autopar.strategy<@mesh, {"x": cut 0}>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @shardings(%x: tensor<4xf32>) {
  // expected-error @below {{autopar.shardings must hold one sharding per result}}
  %0 = autopar.unary relu %x {autopar.shardings = []} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-error @below {{autopar.precision must be a string}}
module attributes {autopar.precision = 1 : i64} {}

// -----

// expected-error @below {{autopar.stages must be an integer}}
module attributes {autopar.stages = "2"} {}

// -----

// expected-error @below {{autopar.check_numerics must be a unit}}
module attributes {autopar.check_numerics = true} {}

// -----

// expected-error @below {{autopar.hashes must be a dictionary}}
module attributes {autopar.hashes = "x"} {}

// -----

func.func @padded(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{autopar.padded must be a unit}}
  %c = autopar.einsum "ab,bc->ac" %a, %b {autopar.padded = 1 : i64} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// expected-error @below {{autopar.given must be elements}}
func.func @given(%a: tensor<2xf32> {autopar.given = 3 : i64}) {
  return
}

// -----

func.func @task(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{autopar.task must be #autopar.task}}
  %0 = autopar.unary exp %x {autopar.task = "forward"} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @regather(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{autopar.regather must be an integer}}
  %0 = autopar.unary exp %x {autopar.regather} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @regathers(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{autopar.regathers must hold numbers of operands, ascending}}
  %0 = autopar.unary exp %x {autopar.regathers = array<i64: 1>} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @regathers_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{autopar.regathers must hold numbers of operands, ascending}}
  %0 = autopar.binary add %x, %x {autopar.regathers = array<i64: 0, 0>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
