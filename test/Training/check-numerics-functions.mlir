// RUN: autopar-opt %s --split-input-file --autopar-check-numerics --autopar-drop-functions --canonicalize --cse | FileCheck %s

// Of a function the result is looked at, and not what it is made of: the logarithm of 0 that no select takes.
// CHECK: places = [
// CHECK-SAME: "Inf in node 'before' (unary)", "NaN in node 'before' (unary)",
// CHECK-SAME: "Inf in tensor 'y' of node 'f' (select)", "NaN in tensor 'y' of node 'f' (select)"]
// CHECK-NOT: autopar.function
module attributes {autopar.check_numerics} {
  func.func @step(%w: tensor<2xf32> {autopar.source = #autopar.parameter<"w", "m", offset = 0, length = 8>})
      -> (tensor<2xf32> {autopar.result = #autopar.output<"y">}) {
    %x = autopar.unary sin %w : tensor<2xf32> -> tensor<2xf32> loc("before")
    %zero = autopar.constant dense<0.0> : tensor<2xf32>
    %moved = autopar.reshape %x : tensor<2xf32> -> tensor<2xf32> loc("f")
    %log = autopar.unary log %moved : tensor<2xf32> -> tensor<2xf32> loc("f")
    %above = autopar.compare gt %x, %zero : tensor<2xf32> -> tensor<2xi1> loc("f")
    %v = autopar.select %above, %log, %zero : tensor<2xi1>, tensor<2xf32> loc("f")
    %y = autopar.function %v of (%x) {autopar.names = ["y"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("f")
    return %y : tensor<2xf32>
  }
}

// -----

// What the model's own select does not take does not matter: the logarithm counts as the select's result does.
// CHECK: %[[LOG:.*]] = autopar.unary log
// CHECK: %[[Y:.*]] = autopar.select %{{.*}}, %[[LOG]]
// CHECK-DAG: %[[NAN_LOG:.*]] = autopar.unary is_nan %[[LOG]]
// CHECK-DAG: %[[NAN_Y:.*]] = autopar.unary is_nan %[[Y]]
// CHECK: autopar.binary min
module attributes {autopar.check_numerics} {
  func.func @step(%x: tensor<2xf32> {autopar.source = #autopar.input<"x">}) -> (tensor<2xf32> {autopar.result = #autopar.output<"y">}) {
    %zero = autopar.constant dense<0.0> : tensor<2xf32>
    %log = autopar.unary log %x : tensor<2xf32> -> tensor<2xf32> loc("log")
    %above = autopar.compare gt %x, %zero : tensor<2xf32> -> tensor<2xi1> loc("above")
    %y = autopar.select %above, %log, %zero : tensor<2xi1>, tensor<2xf32> loc("where")
    return %y : tensor<2xf32>
  }
}
