// RUN: autopar-opt %s --verify-diagnostics --autopar-stack-parameters --autopar-keep-trained-states

// It is read as a whole here.
module attributes {autopar.trained_states = {w = tensor<3x4x5xf32>}} {
  // expected-error @below {{parameter 'w' is 'tensor<12x5xf32>' here and 'tensor<3x4x5xf32>' where it is trained: the two cannot have it in common; compile the evaluation for itself}}
  func.func @step(%w: tensor<12x5xf32> {autopar.source = #autopar.parameter<"w", "m.bin", offset = 0, length = 240>})
      -> (tensor<12x5xf32> {autopar.result = #autopar.output<"y">}) {
    %y = autopar.binary add %w, %w : tensor<12x5xf32>
    return %y : tensor<12x5xf32>
  }
}
