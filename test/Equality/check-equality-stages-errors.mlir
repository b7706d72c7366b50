// Every row changes one thing between stages of Partition/split-stages.mlir.

// RUN: autopar-opt %S/../Partition/split-stages.mlir --autopar-localize-pipeline -o %t
// RUN: autopar-opt %t --autopar-check-equality -o /dev/null

// RUN: sed 's/recv channel = 0/recv channel = 1/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=CHANNEL
// CHANNEL: error: no earlier stage sends over channel 1

// RUN: sed '/autopar.send/s/to 1/to 0/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: channel 0 goes from stage 0 to stage 0, once; this receives in stage 1 from stage 0
// STAGE: note: it is sent here

// RUN: sed '/autopar.recv/s/from 0/from 1/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: error: channel 0 goes from stage 0 to stage 1, once; this receives in stage 1 from stage 1

// RUN: sed '/autopar.send/p' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: channel 0 is used twice: give each send a channel of its own
// TWICE: note: the first send is here

// RUN: sed '/autopar.send/{p;s/channel = 0/channel = 5/}' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=UNHEARD
// UNHEARD: error: nobody receives channel 5 in stage 1

// RUN: sed '/autopar.recv/i %%90 = autopar.recv channel = 0 from 0 : () -> tensor<3xf32>' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: receives 'tensor<3xf32>', but 'tensor<2x6xf32>' is sent

// RUN: sed '/autopar.recv/i %%90 = autopar.recv channel = 0 from 0 : () -> tensor<2x6xf32>' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: channel 0 goes from stage 0 to stage 1, once

// RUN: sed '/@step_1/s/setup_result<0>/setup_result<7>/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=SETUP
// SETUP: error: argument 0 is #autopar.setup_result<7>, which this stage's setup does not give

// Both setup values have one type: the numbers alone tell them apart.
// RUN: sed '/@step_1/{s/setup_result<0>/setup_result<9>/;s/setup_result<1>/setup_result<0>/;s/setup_result<9>/setup_result<1>/}' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: error: node '': operand 1 holds another value than the global op reads

// RUN: sed '/@setup_1/s/setup_value<"wt">/setup_value<"unused">/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: result 0 is not #autopar.setup_value<"unused">

// RUN: sed '/@step_1/s/output<"y">/output<"z">/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: error: result 0 is no result of the global program

// RUN: sed '/@step_0/s/input<"x">/input<"w">/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: error: argument 0 is no argument of the global program

// RUN: sed '/@step_1/,/^  }/s/{"time", "data"}/{"time"}/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=DECLARED
// DECLARED: error: result 0 is sharded [{"time", "data"}, {}], but is declared to be [{"time"}, {}]: reshard it first
// DECLARED: note: the value is made here, by 'autopar.einsum'

// RUN: sed '/@step_0/,/^  }/s/channel = 0 to 1/channel = 0 to 1 {a}/; s/autopar.kept/autopar.gone/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: error: holds no copy of the global program to compare with: run autopar-keep-global before autopar-partition

// RUN: sed '/@step_1/,/^  }/s/autopar.origin = array<i64: 4>/autopar.origin = array<i64: 77>/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=ORIGIN
// ORIGIN: error: node '' stems from no op of the global program

// RUN: sed '/@step_1/,/^  }/s/\(autopar.origin = array<i64: 4>.*\)"data": split 0/\1"data": split 2/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=CLAIM
// CLAIM: error: node '': operand 0 is sharded [{"time", "data"}, {}], but the op reads it as [{"time"}, {"data"}]

// RUN: sed 's/\(@setup_1.*autopar.stage = \)1/\10/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: is of stage 0: it must be @setup_0

// RUN: sed '/@setup_1/,/return/s/return/autopar.send %%0 channel = 9 to 1 : tensor<6x6xf32>\n    return/' %t | not autopar-opt --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=SENDS
// SENDS: error: setup sends nothing: each stage's setup computes what its own step reads
