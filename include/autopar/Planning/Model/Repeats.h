//===- Repeats.h - Ops that run in each stage that reads them ---*- C++ -*-===//
//
// An op of @step is *repeated* if nothing that it depends on differs between
// steps: no input, and no state, whatever the state begins as. Such an op has
// no stage of its own. Each stage that reads its results runs it, with the
// repeated ops that it needs, so that no stage sends its results.
//
//   %m = broadcast %mask       a parameter: repeated
//   %n = neg %m                repeated
//   %a = add %x, %m            %x is an input: in stage 0
//   %b = mul %a, %n            in stage 1
//
// Stage 0 runs %m and %a and sends %a. Stage 1 runs %m, %n and %b. A weight
// that a training step updates is a state: an op that reads it alone is not
// repeated.
//
// Planning, Partition and the checks after both ask here.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_MODEL_REPEATS_H
#define AUTOPAR_PLANNING_MODEL_REPEATS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace autopar {

/// The stages that run an op, in ascending order.
using StageList = llvm::SmallVector<int64_t, 1>;

/// Tells which ops of a program are repeated, and where they run.
class Repeats {
public:
  /// Adds the next op in program order. `makers` are the ops, by number, that
  /// make its operands in the same function. `isFixed` says that the op is not
  /// repeated whatever these are: it reads an argument that differs between
  /// steps, or it is an op of @setup.
  void add(llvm::ArrayRef<unsigned> makers, bool isFixed);

  bool isRepeated(unsigned op) const { return ops[op].repeated; }

  /// Returns the stages that run each op. `planned` has the stage of each op by
  /// the plan, which counts for ops that are not repeated. It also counts for
  /// the ops `returned`, whose results @step returns from that stage. A
  /// repeated op that nobody reads has no stages.
  std::vector<StageList> stagesThatRun(llvm::ArrayRef<int64_t> planned,
                                       llvm::ArrayRef<unsigned> returned) const;

  /// Calls `enter` for `op`, then for the repeated ops that it reads, and so on
  /// from each op for which `enter` returns true. An op that is read several
  /// times is entered several times, so `enter` returns false for ops that it
  /// knows.
  void visitNeeded(unsigned op, llvm::function_ref<bool(unsigned)> enter) const;

  /// Calls `make` for the repeated `op` and all repeated ops that it needs,
  /// each after those that it reads. Ops for which `isThere` returns true are
  /// left out; after `make` it has to return true.
  void makeMissing(unsigned op, llvm::function_ref<bool(unsigned)> isThere,
                   llvm::function_ref<void(unsigned)> make) const;

private:
  struct Op {
    bool repeated = true;
    llvm::SmallVector<unsigned, 2> reads; // repeated ops
  };
  std::vector<Op> ops;
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_REPEATS_H
