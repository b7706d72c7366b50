// RUN: autopar-opt %s --split-input-file --autopar-check-equality -verify-diagnostics

// Another root holds the neutral element.
#whole = #autopar.sharding<@mesh, [{}, {}]>
autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=3]>

func.func private @step.global(%a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.unary neg %a {autopar.origin = array<i64: 0>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

func.func @step_0(
    %a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole}) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.keep_first %a mesh = @mesh axes = ["x", "y"] {kind = #autopar<reduce_kind sum>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-error @below {{along axis "y" the first device holds the value, the others the neutral element, and root 1 is not the first: take the first device as root}}
  %1 = autopar.collective_broadcast %0 mesh = @mesh axes = ["x", "y"] {root = 1 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = autopar.unary neg %1 {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {}>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// The first of its row, but of the second row.
#whole = #autopar.sharding<@mesh, [{}, {}]>
autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=3]>

func.func private @step.global(%a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.unary neg %a {autopar.origin = array<i64: 0>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

func.func @step_0(
    %a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole}) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.keep_first %a mesh = @mesh axes = ["x", "y"] {kind = #autopar<reduce_kind sum>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-error @below {{along axis "x" the first device holds the value, the others the neutral element, and root 3 is not the first}}
  %1 = autopar.collective_broadcast %0 mesh = @mesh axes = ["x", "y"] {root = 3 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = autopar.unary neg %1 {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {}>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// The second axis is not done: the value is partial still.
#whole = #autopar.sharding<@mesh, [{}, {}]>
autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=3]>

func.func private @step.global(%a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.unary neg %a {autopar.origin = array<i64: 0>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

func.func @step_0(
    %a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #whole}) attributes {autopar.stage = 0 : i64} {
  // expected-note @below {{from what is made here, by 'autopar.keep_first'}}
  %0 = autopar.keep_first %a mesh = @mesh axes = ["x", "y"] {kind = #autopar<reduce_kind sum>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = autopar.collective_broadcast %0 mesh = @mesh axes = ["y"] {root = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-note @above {{the operand is made here}}
  // expected-error @below {{operand 0 is partial by sum over axis "x"}}
  %2 = autopar.unary neg %1 {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {}>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

#whole = #autopar.sharding<@mesh, [{}, {}]>
#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
autopar.mesh @mesh #autopar.mesh<["x"=2, "y"=3]>

func.func private @step.global(%a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<4x6xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.unary neg %a {autopar.origin = array<i64: 0>} : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

func.func @step_0(
    %a: tensor<2x6xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>, autopar.sharding = #rows})
    -> (tensor<2x6xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<4x6xf32>, autopar.sharding = #rows})
    attributes {autopar.stage = 0 : i64} {
  // expected-error @below {{dimension 0 is split over axis "x": all would hold the block of device 1 in place of their own. Gather the dimension}}
  %0 = autopar.collective_broadcast %a mesh = @mesh axes = ["x"] {root = 1 : i64} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %1 = autopar.unary neg %0 {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {"x": split 0}>} : tensor<2x6xf32> -> tensor<2x6xf32>
  return %1 : tensor<2x6xf32>
}

// -----

// Terms of a sum are no value that one device holds.
autopar.mesh @mesh #autopar.mesh<["x"=2]>

func.func private @step.global(%a: tensor<4x6xf32> {autopar.source = #autopar.input<"a">})
    -> (tensor<6xf32> {autopar.result = #autopar.output<"y">}) attributes {autopar.kept = "step"} {
  %0 = autopar.reduce sum %a dims = [0] {autopar.origin = array<i64: 0>} : tensor<4x6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

func.func @step_0(
    %a: tensor<2x6xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<4x6xf32>,
                         autopar.sharding = #autopar.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<6xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<6xf32>,
                       autopar.sharding = #autopar.sharding<@mesh, [{}]>}) attributes {autopar.stage = 0 : i64} {
  %0 = autopar.reduce sum %a dims = [0] {autopar.origin = array<i64: 0>, autopar.strategy = #autopar.strategy<@mesh, {"x": split 1}>} : tensor<2x6xf32> -> tensor<6xf32>
  // expected-error @below {{the operand is partial over axis "x": all would hold the term of device 0 alone. Reduce it}}
  %1 = autopar.collective_broadcast %0 mesh = @mesh axes = ["x"] {root = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
