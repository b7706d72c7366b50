// Every row changes one op of the local program; the checker names it.

// RUN: autopar-opt %s --autopar-localize-pipeline -o %t
// RUN: autopar-opt %t --autopar-check-equality --autopar-interpret='against=%s' -o /dev/null

// RUN: sed '0,/autopar.all_reduce/s/autopar.all_reduce \(.*\)"a"\(.*\){kind.*}/autopar.slice_block \1\2{dim = 0 : i64}/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=DROPPED
// DROPPED: error: node '': operand 0 is partial by sum over axis "a", which the op does not let pass there: end it first with autopar.all_reduce or autopar.reduce_scatter
// DROPPED: note: the operand is made here, by 'autopar.slice_block'
// DROPPED: note: from what is made here, by 'autopar.slice_block'
// DROPPED: note: from what is made here, by 'autopar.einsum'

// RUN: sed '0,/autopar.all_reduce/s/\(autopar.all_reduce.*\)"a"/\1"b"/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: node '': the operand is not partial over axis "b": reducing would count it 2 times

// RUN: sed '0,/autopar.all_reduce/s/\(autopar.all_reduce.*\)"a"/\1"a", "b"/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=AXES
// AXES: error: node '': the operand is not partial over axis "b"

// RUN: sed '0,/autopar.all_reduce/s/\(autopar.all_reduce.*\)kind sum/\1kind max/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: node '': reduces by max what is partial by sum over axis "a": reduce by sum

// RUN: sed 's/\(autopar.reduce_scatter.*\)"a"/\1"b"/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=SCATTER
// SCATTER: error: node '': the operand is not partial over axis "b"

// RUN: sed 's/\(autopar.all_to_all.*\)"a"/\1"b"/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=EXCHANGE
// EXCHANGE: error: node '': dimension 1 is not split over these axes as its minor ones

// RUN: sed 's/\(autopar.all_gather.*\)"b", "a"/\1"a", "b"/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=GATHER
// GATHER: error: node '': dimension 0 is not split over these axes as its minor ones: it is sharded [{"b", "a"}, {}]

// RUN: sed '0,/autopar.slice_block/s/\(autopar.slice_block.*\)"b"/\1"a"/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: error: node '': operand 0 is sharded [{"a"}, {}], but the op reads it as [{"b"}, {}]: reshard it first
// SLICE: note: the operand is made here, by 'autopar.slice_block'

// RUN: sed 's/\(autopar.mask %%arg1 .*\)value = 0.0/\1value = 1.0/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=MASK
// MASK: error: node '': operand 1 has bytes past the 5 elements of dimension 0 that enter the result: insert autopar.mask with value 0.0

// RUN: sed 's/\(autopar.mask %%arg1 .*\)size = 5/\1size = 6/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: node '': masks from position 6, but dimension 0 has 5 elements

// RUN: sed 's/\(autopar.mask %%arg1 .*\)"a"/\1"b"/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=POSITION
// POSITION: error: node '': its positions are along axes "b", but dimension 0 is sharded over "a"

// RUN: sed 's/\(autopar.halo.*\)offset = -1/\1offset = 0/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=OFFSET
// OFFSET: error: node '': operand 0 is sharded [{}, {}, {"a", step = 2, offset = 0, length = 4}], but the op reads it as [{}, {}, {"a", step = 2, offset = -1, length = 4}]

// RUN: sed 's/\(autopar.halo.*\)step = 2/\1step = 3/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: node '': operand 0 is sharded [{}, {}, {"a", step = 3,

// RUN: sed 's/\(autopar.halo.*\)fill = 0xFFF0000000000000/\1fill = 0.0/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=FILL
// FILL: error: node '': operand 0 is filled with 0.000000e+00 outside dimension 2: the op wants -INF

// RUN: sed 's/\(autopar.keep_first.*\)"a"/\1"b"/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: error: node '': operand 1 is partial by sum over axis "b", which the op does not let pass there

// RUN: sed 's/\(autopar.keep_first.*\)kind sum/\1kind max/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=FIRSTKIND
// FIRSTKIND: error: node '': operand 1 is partial by max over axis "a"

// RUN: sed '/@step_0/,/^  }/s/binary  *add \(%%[0-9]*\), %%[0-9]*/binary add \1, \1/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=OPERAND
// OPERAND: error: node '': operand 1 holds another value than the global op reads

// RUN: sed '/@step_0/,/^  }/s/unary  *relu/unary tanh/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: node '': is not what the global op becomes on one device; its attributes must be {kind = #autopar<unary_kind relu>}

#whole = #autopar.sharding<@mesh, [{}, {}]>
#w = #autopar.sharding<@mesh, [{"a"}, {}]>
#image = #autopar.sharding<@mesh, [{}, {}, {"a"}]>
#bothRows = #autopar.sharding<@mesh, [{"b", "a"}, {}]>
#sum = #autopar.reshard_step<all_reduce ["a"]>
#contracted = #autopar.strategy<@mesh, {"a": split 2}>

autopar.mesh @mesh #autopar.mesh<["a"=2, "b"=2]>

func.func @step(
    %x: tensor<4x5xf32> {autopar.source = #autopar.input<"x">, autopar.sharding = #autopar.sharding<@mesh, [{}, {"a"}]>},
    %w: tensor<5x8xf32> {autopar.source = #autopar.parameter<"w", "m", offset = -1, length = 160>, autopar.sharding = #w},
    %v: tensor<8x8xf32> {autopar.source = #autopar.parameter<"v", "m", offset = -1, length = 256>, autopar.sharding = #w},
    %i: tensor<1x1x4xf32> {autopar.source = #autopar.input<"i">, autopar.sharding = #image})
    -> (tensor<4x8xf32> {autopar.result = #autopar.output<"y">, autopar.sharding = #whole, autopar.steps = [#autopar.reshard_step<all_gather ["b", "a"] dim = 0>]},
        tensor<4x8xf32> {autopar.result = #autopar.output<"z">, autopar.sharding = #whole},
        tensor<1x1x4xf32> {autopar.result = #autopar.output<"p">, autopar.sharding = #image}) {
  %0 = autopar.einsum "mk,kn->mn" %x, %w {autopar.strategy = #contracted, autopar.shardings = [#whole], autopar.result_steps = [[#sum]]}
    : (tensor<4x5xf32>, tensor<5x8xf32>) -> tensor<4x8xf32>
  %1 = autopar.unary relu %0 {autopar.strategy = #autopar.strategy<@mesh, {"b": split 0}>, autopar.operand_steps = [[#autopar.reshard_step<slice_block ["b"] dim = 0>]]}
    : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = autopar.einsum "mk,kn->mn" %1, %v {autopar.strategy = #autopar.strategy<@mesh, {"a": split 2, "b": split 0}>,
    autopar.operand_steps = [[#autopar.reshard_step<slice_block ["a"] dim = 1>], []],
    autopar.shardings = [#autopar.sharding<@mesh, [{"b"}, {"a"}]>], autopar.result_steps = [[#autopar.reshard_step<reduce_scatter ["a"] dim = 1>]]}
    : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = autopar.unary tanh %2 {autopar.strategy = #autopar.strategy<@mesh, {"b": split 0, "a": split 1}>, autopar.shardings = [#bothRows],
    autopar.result_steps = [[#autopar.reshard_step<all_to_all ["a"] dim = 0 concat_dim = 1>]]}
    : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = autopar.einsum "mk,kn->mn" %x, %w {autopar.strategy = #contracted}
    : (tensor<4x5xf32>, tensor<5x8xf32>) -> tensor<4x8xf32>
  %5 = autopar.binary add %4, %0 {autopar.strategy = #autopar.strategy<@mesh, {"a": pass 0}>, autopar.shardings = [#whole],
    autopar.operand_steps = [[], [#autopar.reshard_step<keep_first ["a"]>]], autopar.result_steps = [[#sum]]} : tensor<4x8xf32>
  %6 = autopar.pool max %i window = [3] strides = [1] dilations = [1] low = [1] high = [1]
    {autopar.strategy = #autopar.strategy<@mesh, {"a": split 2}>, autopar.operand_steps = [[#autopar.reshard_step<halo ["a"] dim = 2>]]} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  return %3, %5, %6 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x1x4xf32>
}
