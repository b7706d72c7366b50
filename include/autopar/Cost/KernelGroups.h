//===- KernelGroups.h - Which ops become one launch -------------*- C++ -*-===//
//
// One analysis groups the ops of a function into launches and library calls.
// Cost prices the groups, Schedule makes them kernels, Lowering emits each.
//
// Forms of a group
//   library call  one op that the target's library computes (LibraryKinds.def),
//                 and epilogue
//   loops         a connected set of ops that share one space of iterations:
//     - without reductions (rowRank < 0): every result has as many elements as
//       the others; each is computed from its operands by index alone;
//     - with row reductions: the space is [rows..., columns...], rowRank
//     leading
//       dimensions of the group's widest value being rows. A value is full, or
//       one element per row; reductions run over the columns of one row;
//     - one op with a loop nest of its own (pool, scan, transpose of the
//       innermost dimension, reduction over other dimensions), followed by
//       pointwise ops on its result; before such a reduction one pointwise op
//       that it alone reads.
//   Spreads, constants, iotas and arithmetic on scalars are copied into each
//   group that reads them. Reshapes inside a group keep the innermost
//   dimension; all others are between groups and are names of a buffer.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_KERNELGROUPS_H
#define AUTOPAR_COST_KERNELGROUPS_H

#include "autopar/Cost/TargetTable.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include <vector>

namespace autopar {

/// The library call that a group is, as LibraryCallAttr has it.
struct GroupCall {
  CallKind kind;
  /// For each role of the kind the group's input that has it, or -1.
  llvm::SmallVector<int64_t, 4> operands;
  Activation activation = Activation::None;
};

struct KernelGroup {
  std::optional<GroupCall> call; // none: loops
  /// The ops in program order: those that only this group computes, and the
  /// cheap ops and reshapes that it repeats.
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<mlir::Value> inputs;  // in order of first use
  llvm::SmallVector<mlir::Value> outputs; // in program order
  int64_t rowRank = -1;                   // loops with row reductions only
  /// The op that gives the group its name: the library op, the op with a loop
  /// nest of its own, the first reduction, or the last op.
  mlir::Operation *root = nullptr;
  /// Pairs (output, input): the output may be written over the input, because
  /// each element is read before it is written and by nothing else.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> inPlace;
};

/// One step of work: a group, or an op that is no kernel (communication, a
/// reshape that names a buffer anew, return).
struct WorkStep {
  int64_t group = -1;
  mlir::Operation *op = nullptr;
};

struct KernelGroups {
  std::vector<KernelGroup> groups;
  /// The steps in an order that respects every dependence and stays close to
  /// the program's.
  std::vector<WorkStep> steps;
};

/// The call by which the target's library computes `op`, whatever its sizes;
/// nothing if it is loops.
std::optional<CallKind> callOf(mlir::Operation *op, const TargetTable &table);

/// Groups the ops of `body` as the module's target fuses them, in time near to
/// linear. Ops whose results nobody needs are in no group. Only reads the IR
/// and makes no attributes: it may run beside others that read.
KernelGroups groupKernels(mlir::Block &body);

} // namespace autopar

#endif // AUTOPAR_COST_KERNELGROUPS_H
