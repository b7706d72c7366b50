// Every row changes one part of a decomposed composite, before values get their
// local types: the checker makes the parts anew and names the part.

// RUN: autopar-opt %S/../Partition/decompose-composites.mlir --autopar-keep-global --autopar-decompose-composites -o %t

// RUN: sed '/func @step(/,/^  }/s/unary *exp/unary tanh/' %t | not autopar-opt --autopar-insert-reshards --autopar-split-stages --autopar-partition --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: node '': is not what the global op becomes on one device; its attributes must be {kind = #autopar<unary_kind exp>}
// KIND: note: the global op is here
// KIND: note: it is part 3 of what 'autopar.softmax' decomposes into where its reduced dimension is split

// RUN: sed '/func @step(/,/^  }/s/binary *sub \(%%[a-z0-9]*\), \(%%[a-z0-9]*\)/binary sub \2, \1/' %t | not autopar-opt --autopar-insert-reshards --autopar-split-stages --autopar-partition --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=OPERANDS
// OPERANDS: error: node '': operand 0 holds another value than the global op reads
// OPERANDS: note: it is part 2 of what 'autopar.softmax' decomposes into

// RUN: sed '/func @step(/,/^  }/s/dense<9.99999974E-6>/dense<1.0E-3>/' %t | not autopar-opt --autopar-insert-reshards --autopar-split-stages --autopar-partition --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=EPSILON
// EPSILON: error: node '': is not what the global op becomes on one device; its attributes must be {value = dense<9.99999974E-6> : tensor<2xf32>}
// EPSILON: note: it is part {{[0-9]+}} of what 'autopar.normalize' decomposes into

// A part that users read in place of the whole.
// RUN: sed '/func @step(/,/^  }/s/return \(%%[a-z0-9]*\), \(%%[a-z0-9]*\)/return \2, \1/' %t | not autopar-opt --autopar-insert-reshards --autopar-split-stages --autopar-partition --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=RETURNED
// RETURNED: error: result 0 is not #autopar.output<"p">

// No composite has that many parts.
// RUN: sed '/func @step(/,/^  }/s/array<i64: 0, 3>/array<i64: 0, 99>/' %t | not autopar-opt --autopar-insert-reshards --autopar-split-stages --autopar-partition --autopar-check-equality 2>&1 | FileCheck %s --check-prefix=PART
// PART: error: node '' stems from no op of the global program
