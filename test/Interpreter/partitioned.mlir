// RUN: autopar-opt %s --split-input-file --autopar-interpret -o /dev/null | FileCheck %s

// Local programs at all points of a mesh: blocks in, collectives, blocks out.

#whole = #autopar.sharding<@mesh, [{}]>
#split = #autopar.sharding<@mesh, [{"x"}]>

autopar.mesh @mesh #autopar.mesh<["x"=3]>

// Four elements over three devices: blocks [1 2] [3 4] [].
// CHECK: sum = dense<10> : tensor<i64>
// CHECK: all = dense<[1, 2, 3, 4]> : tensor<4xi64>
// CHECK: scattered = dense<[3, 6, 9, 12]> : tensor<4xi64>
// CHECK: halo = dense<[-7, 1, 2, 3, 4, -7]> : tensor<6xi64>
// CHECK: first = dense<[1, 2, 3, 4]> : tensor<4xi64>
// CHECK: second = dense<[3, 4]> : tensor<2xi64>
func.func @step_0(
    %a: tensor<2xi64> {autopar.source = #autopar.input<"a">, autopar.sharding = #split, autopar.global_type = tensor<4xi64>,
                       autopar.given = dense<[1, 2, 3, 4]> : tensor<4xi64>})
    -> (tensor<i64> {autopar.result = #autopar.output<"sum">, autopar.sharding = #autopar.sharding<@mesh, []>, autopar.global_type = tensor<i64>},
        tensor<4xi64> {autopar.result = #autopar.output<"all">, autopar.sharding = #whole, autopar.global_type = tensor<4xi64>},
        tensor<2xi64> {autopar.result = #autopar.output<"scattered">, autopar.sharding = #split, autopar.global_type = tensor<4xi64>},
        tensor<2xi64> {autopar.result = #autopar.output<"halo">, autopar.sharding = #split, autopar.global_type = tensor<6xi64>},
        tensor<4xi64> {autopar.result = #autopar.output<"first">, autopar.sharding = #whole, autopar.global_type = tensor<4xi64>},
        tensor<2xi64> {autopar.result = #autopar.output<"second">, autopar.sharding = #whole, autopar.global_type = tensor<2xi64>})
    attributes {autopar.stage = 0 : i64} {
  %masked = autopar.mask %a mesh = @mesh axes = ["x"] {dim = 0 : i64, size = 4 : i64, value = 0.0 : f64} : (tensor<2xi64>) -> tensor<2xi64>
  %part = autopar.reduce sum %masked dims = [0] : tensor<2xi64> -> tensor<i64>
  %sum = autopar.all_reduce %part mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind sum>} : (tensor<i64>) -> tensor<i64>
  %all = autopar.all_gather %a mesh = @mesh axes = ["x"] {dim = 0 : i64} : (tensor<2xi64>) -> tensor<4xi64>
  %scattered = autopar.reduce_scatter %all mesh = @mesh axes = ["x"] {dim = 0 : i64, kind = #autopar<reduce_kind sum>} : (tensor<4xi64>) -> tensor<2xi64>
  %halo = autopar.halo %a mesh = @mesh axes = ["x"] {dim = 0 : i64, size = 4 : i64, step = 2 : i64, offset = -1 : i64, fill = -7.0 : f64} : (tensor<2xi64>) -> tensor<2xi64>
  %kept = autopar.keep_first %all mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind max>} : (tensor<4xi64>) -> tensor<4xi64>
  %first = autopar.all_reduce %kept mesh = @mesh axes = ["x"] {kind = #autopar<reduce_kind max>} : (tensor<4xi64>) -> tensor<4xi64>
  %second = autopar.collective_broadcast %a mesh = @mesh axes = ["x"] {root = 1 : i64} : (tensor<2xi64>) -> tensor<2xi64>
  return %sum, %all, %scattered, %halo, %first, %second
    : tensor<i64>, tensor<4xi64>, tensor<2xi64>, tensor<2xi64>, tensor<4xi64>, tensor<2xi64>
}

// -----

#rows = #autopar.sharding<@mesh, [{"x"}, {}]>
#columns = #autopar.sharding<@mesh, [{}, {"x"}]>

autopar.mesh @mesh #autopar.mesh<["time"=2, "x"=2]>

// Two micro-batches, two stages: the blocks of a matrix turn from rows to columns
// on the way.
// CHECK: y = dense<{{\[\[}}[1, 2], [3, 4]], {{\[}}[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
func.func @step_0(
    %a: tensor<1x1x2xi64> {autopar.source = #autopar.input<"a">, autopar.sharding = #autopar.sharding<@mesh, [{"time"}, {"x"}, {}]>,
                         autopar.global_type = tensor<2x2x2xi64>, autopar.given = dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>})
    attributes {autopar.stage = 0 : i64} {
  %0 = autopar.all_to_all %a mesh = @mesh axes = ["x"] {split_dim = 2 : i64, concat_dim = 1 : i64} : (tensor<1x1x2xi64>) -> tensor<1x2x1xi64>
  autopar.send %0 channel = 0 to 1 : tensor<1x2x1xi64>
  return
}
func.func @step_1()
    -> (tensor<1x2x1xi64> {autopar.result = #autopar.output<"y">, autopar.sharding = #autopar.sharding<@mesh, [{"time"}, {}, {"x"}]>,
                           autopar.global_type = tensor<2x2x2xi64>})
    attributes {autopar.stage = 1 : i64} {
  %0 = autopar.recv channel = 0 from 0 : () -> tensor<1x2x1xi64>
  return %0 : tensor<1x2x1xi64>
}
