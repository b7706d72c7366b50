// RUN: autopar-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{state "s" begins as "zero", which is no #autopar.parameter and no number}}
func.func @step(%s: tensor<2xf32> {autopar.source = #autopar.state<"s", "zero">})
    -> (tensor<2xf32> {autopar.result = #autopar.next_state<"s">}) {
  return %s : tensor<2xf32>
}

// -----

// expected-error @+1 {{state "s" must have one result that is #autopar.next_state<"s">}}
func.func @step(%s: tensor<2xf32> {autopar.source = #autopar.state<"s", 0.0 : f32>})
    -> (tensor<2xf32> {autopar.result = #autopar.output<"y">}) {
  return %s : tensor<2xf32>
}

// -----

// expected-error @+1 {{state "s" must have one result that is #autopar.next_state<"s">}}
func.func @step(%s: tensor<2xf32> {autopar.source = #autopar.state<"s", 0.0 : f32>})
    -> (tensor<2xf32> {autopar.result = #autopar.next_state<"s">}, tensor<2xf32> {autopar.result = #autopar.next_state<"s">}) {
  return %s, %s : tensor<2xf32>, tensor<2xf32>
}

// -----

// expected-error @+1 {{has no state "s" for a next value}}
func.func @step(%s: tensor<2xf32> {autopar.source = #autopar.input<"s">})
    -> (tensor<2xf32> {autopar.result = #autopar.next_state<"s">}) {
  return %s : tensor<2xf32>
}

// -----

// expected-error @+1 {{state "s" is 'tensor<2xf32>', but its next value 'tensor<3xf32>'}}
func.func @step(%s: tensor<2xf32> {autopar.source = #autopar.state<"s", 0.0 : f32>},
                %x: tensor<3xf32> {autopar.source = #autopar.input<"x">})
    -> (tensor<3xf32> {autopar.result = #autopar.next_state<"s">}) {
  return %x : tensor<3xf32>
}

// -----

autopar.mesh @mesh #autopar.mesh<["x"=2]>
// expected-error @+1 {{state "s" and its next value are sharded unlike}}
func.func @step(%s: tensor<4xf32> {autopar.source = #autopar.state<"s", 0.0 : f32>, autopar.sharding = #autopar.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32> {autopar.result = #autopar.next_state<"s">, autopar.sharding = #autopar.sharding<@mesh, [{}]>}) {
  return %s : tensor<4xf32>
}
