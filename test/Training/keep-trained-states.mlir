// RUN: autopar-opt %s --split-input-file --autopar-stack-parameters --autopar-keep-trained-states | FileCheck %s

// What another entry trains is a state that stays; one that it has as a stack is one here; others are parameters.
module attributes {autopar.trained_states = {w = tensor<3x4x5xf32>, b = tensor<5xf32>, gone = tensor<7xf32>}} {
  // CHECK-LABEL: @step
  // CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x4x5xf32> {autopar.source = #autopar.state<"w", #autopar.parameter<"w" [12, 5], "m.bin", offset = 0, length = 240>>}
  // CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<5xf32> {autopar.source = #autopar.state<"b", #autopar.parameter<"b", "m.bin", offset = 240, length = 20>>}
  // CHECK-SAME: tensor<5xf32> {autopar.source = #autopar.parameter<"frozen", "m.bin", offset = 260, length = 20>}
  // CHECK-SAME: -> (tensor<4x5xf32> {autopar.result = #autopar.output<"y">}, tensor<3x4x5xf32> {autopar.result = #autopar.next_state<"w">}, tensor<5xf32> {autopar.result = #autopar.next_state<"b">})
  func.func @step(%w: tensor<12x5xf32> {autopar.source = #autopar.parameter<"w", "m.bin", offset = 0, length = 240>},
                  %b: tensor<5xf32> {autopar.source = #autopar.parameter<"b", "m.bin", offset = 240, length = 20>},
                  %frozen: tensor<5xf32> {autopar.source = #autopar.parameter<"frozen", "m.bin", offset = 260, length = 20>},
                  %x: tensor<4x5xf32> {autopar.source = #autopar.input<"x">})
      -> (tensor<4x5xf32> {autopar.result = #autopar.output<"y">}) {
    %last = autopar.slice %w starts = [8, 0] steps = [1, 1] : tensor<12x5xf32> -> tensor<4x5xf32>
    %a = autopar.binary mul %last, %x : tensor<4x5xf32>
    %sum = autopar.binary add %b, %frozen : tensor<5xf32>
    %wide = autopar.broadcast %sum dims = [1] : tensor<5xf32> -> tensor<4x5xf32>
    %y = autopar.binary add %a, %wide : tensor<4x5xf32>
    // CHECK: return %{{.*}}, %[[W]], %[[B]]
    return %y : tensor<4x5xf32>
  }
}

// -----

// Without another entry nothing changes.
module {
  // CHECK-LABEL: @step
  // CHECK-SAME: #autopar.parameter<"w", "m.bin", offset = 0, length = 20>
  // CHECK-NOT: autopar.state
  func.func @step(%w: tensor<5xf32> {autopar.source = #autopar.parameter<"w", "m.bin", offset = 0, length = 20>})
      -> (tensor<5xf32> {autopar.result = #autopar.output<"y">}) {
    %y = autopar.binary add %w, %w : tensor<5xf32>
    return %y : tensor<5xf32>
  }
}
