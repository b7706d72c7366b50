// RUN: autopar-opt %s --split-input-file --autopar-stack-parameters | FileCheck %s
// RUN: autopar-opt %s --split-input-file --autopar-stack-parameters --autopar-differentiate | FileCheck %s --check-prefix=GRADIENT

// Rows of a matrix, by themselves and converted; a bias with it.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  // CHECK-LABEL: @step
  // CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x4x5xf32> {autopar.source = #autopar.parameter<"w" [12, 5], "m.bin", offset = 0, length = 240>}
  // CHECK-SAME: tensor<2x6xf32> {autopar.source = #autopar.parameter<"b" [12], "m.bin", offset = 240, length = 48, constant = true>}
  // GRADIENT: -> (tensor<f32> {{.*}}, tensor<3x4x5xf32> {autopar.result = #autopar.gradient<"w" [12, 5]>}
  func.func @step(%w: tensor<12x5xf32> {autopar.source = #autopar.parameter<"w", "m.bin", offset = 0, length = 240>},
                  %b: tensor<12xf32> {autopar.source = #autopar.parameter<"b", "m.bin", offset = 240, length = 48, constant = true>},
                  %x: tensor<4x5xf32> {autopar.source = #autopar.input<"x">})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    // CHECK: %[[LAST:.*]] = autopar.slice %[[W]] starts = [2, 0, 0] steps = [1, 1, 1] : tensor<3x4x5xf32> -> tensor<1x4x5xf32>
    // CHECK: autopar.reshape %[[LAST]] : tensor<1x4x5xf32> -> tensor<4x5xf32>
    %last = autopar.slice %w starts = [8, 0] steps = [1, 1] : tensor<12x5xf32> -> tensor<4x5xf32>
    // CHECK: %[[HALF:.*]] = autopar.convert %[[W]] : tensor<3x4x5xf32> -> tensor<3x4x5xf16>
    // CHECK: autopar.slice %[[HALF]] starts = [0, 0, 0]
    %half = autopar.convert %w : tensor<12x5xf32> -> tensor<12x5xf16>
    %first16 = autopar.slice %half starts = [0, 0] steps = [1, 1] : tensor<12x5xf16> -> tensor<4x5xf16>
    %first = autopar.convert %first16 : tensor<4x5xf16> -> tensor<4x5xf32>
    // CHECK: autopar.slice {{.*}} starts = [1, 0] steps = [1, 1] : tensor<2x6xf32> -> tensor<1x6xf32>
    %bias = autopar.slice %b starts = [6] steps = [1] : tensor<12xf32> -> tensor<6xf32>
    %a = autopar.binary mul %last, %x : tensor<4x5xf32>
    %c = autopar.binary mul %a, %first : tensor<4x5xf32>
    %s = autopar.reduce sum %c dims = [0, 1] : tensor<4x5xf32> -> tensor<f32>
    %t = autopar.reduce sum %bias dims = [0] : tensor<6xf32> -> tensor<f32>
    %loss = autopar.binary add %s, %t : tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Columns.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["w"]}>} {
  // CHECK-LABEL: @step
  // CHECK-SAME: tensor<5x2x6xf32> {autopar.source = #autopar.parameter<"w" [5, 12],
  func.func @step(%w: tensor<5x12xf32> {autopar.source = #autopar.parameter<"w", "m.bin", offset = 0, length = 240>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    // CHECK: autopar.slice %{{.*}} starts = [0, 1, 0] steps = [1, 1, 1] : tensor<5x2x6xf32> -> tensor<5x1x6xf32>
    %a = autopar.slice %w starts = [0, 6] steps = [1, 1] : tensor<5x12xf32> -> tensor<5x6xf32>
    %loss = autopar.reduce sum %a dims = [0, 1] : tensor<5x6xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Pieces that are no equal ones, or begin between them, single rows, and steps.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}, trainable = ["unequal"]}>} {
  // CHECK-LABEL: @step
  // CHECK-SAME: tensor<12xf32> {autopar.source = #autopar.parameter<"unequal", "m.bin"
  // CHECK-SAME: tensor<12xf32> {autopar.source = #autopar.parameter<"between", "m.bin"
  // CHECK-SAME: tensor<12xf32> {autopar.source = #autopar.parameter<"single", "m.bin"
  // CHECK-SAME: tensor<12xf32> {autopar.source = #autopar.parameter<"steps", "m.bin"
  func.func @step(%unequal: tensor<12xf32> {autopar.source = #autopar.parameter<"unequal", "m.bin", offset = 0, length = 48>},
                  %between: tensor<12xf32> {autopar.source = #autopar.parameter<"between", "m.bin", offset = 48, length = 48>},
                  %single: tensor<12xf32> {autopar.source = #autopar.parameter<"single", "m.bin", offset = 96, length = 48>},
                  %steps: tensor<12xf32> {autopar.source = #autopar.parameter<"steps", "m.bin", offset = 144, length = 48>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %a = autopar.slice %unequal starts = [0] steps = [1] : tensor<12xf32> -> tensor<6xf32>
    %b = autopar.slice %unequal starts = [6] steps = [1] : tensor<12xf32> -> tensor<3xf32>
    %c = autopar.slice %between starts = [3] steps = [1] : tensor<12xf32> -> tensor<6xf32>
    %d = autopar.slice %single starts = [3] steps = [1] : tensor<12xf32> -> tensor<1xf32>
    %e = autopar.slice %steps starts = [0] steps = [2] : tensor<12xf32> -> tensor<6xf32>
    %ac = autopar.binary add %a, %c : tensor<6xf32>
    %ace = autopar.binary add %ac, %e : tensor<6xf32>
    %p = autopar.reduce sum %ace dims = [0] : tensor<6xf32> -> tensor<f32>
    %q = autopar.reduce sum %b dims = [0] : tensor<3xf32> -> tensor<f32>
    %r = autopar.reduce sum %d dims = [0] : tensor<1xf32> -> tensor<f32>
    %pq = autopar.binary add %p, %q : tensor<f32>
    %loss = autopar.binary add %pq, %r : tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Another reader wants the whole; input and state are none of a file's.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "sgd"}}>} {
  // CHECK-LABEL: @step
  // CHECK-SAME: tensor<12xf32> {autopar.source = #autopar.parameter<"w", "m.bin"
  // CHECK-SAME: tensor<12xf32> {autopar.source = #autopar.input<"x">}
  func.func @step(%w: tensor<12xf32> {autopar.source = #autopar.parameter<"w", "m.bin", offset = 0, length = 48>},
                  %x: tensor<12xf32> {autopar.source = #autopar.input<"x">})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %a = autopar.slice %w starts = [0] steps = [1] : tensor<12xf32> -> tensor<6xf32>
    %b = autopar.slice %x starts = [0] steps = [1] : tensor<12xf32> -> tensor<6xf32>
    %c = autopar.binary add %a, %b : tensor<6xf32>
    %s = autopar.reduce sum %c dims = [0] : tensor<6xf32> -> tensor<f32>
    %t = autopar.reduce sum %w dims = [0] : tensor<12xf32> -> tensor<f32>
    %loss = autopar.binary add %s, %t : tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Adafactor tells rows from columns.
module attributes {autopar.recipe = #training.recipe<{loss = "mse_mean", optimizer = {kind = "adafactor"}, trainable = ["w"]}>} {
  // CHECK-LABEL: @step
  // CHECK-SAME: tensor<12x5xf32> {autopar.source = #autopar.parameter<"w", "m.bin"
  func.func @step(%w: tensor<12x5xf32> {autopar.source = #autopar.parameter<"w", "m.bin", offset = 0, length = 240>})
      -> (tensor<f32> {autopar.result = #autopar.output<"loss", role = loss>}) {
    %a = autopar.slice %w starts = [6, 0] steps = [1, 1] : tensor<12x5xf32> -> tensor<6x5xf32>
    %loss = autopar.reduce sum %a dims = [0, 1] : tensor<6x5xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Without a recipe nothing is trained.
module {
  // CHECK-LABEL: @step
  // CHECK-SAME: tensor<12xf32>
  func.func @step(%w: tensor<12xf32> {autopar.source = #autopar.parameter<"w", "m.bin", offset = 0, length = 48>}) -> tensor<6xf32> {
    %a = autopar.slice %w starts = [0] steps = [1] : tensor<12xf32> -> tensor<6xf32>
    return %a : tensor<6xf32>
  }
}
