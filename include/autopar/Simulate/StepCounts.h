//===- StepCounts.h - Counts of a scheduled step ----------------*- C++ -*-===//

#ifndef AUTOPAR_SIMULATE_STEPCOUNTS_H
#define AUTOPAR_SIMULATE_STEPCOUNTS_H

#include "autopar/Planning/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// The counts of one step of a program.
struct StepCounts {
  /// Collectives and messages ("send", without axes) of all stages and
  /// micro-batches.
  std::vector<PlannedCollective> collectives;
  std::vector<StageCounts> stages;
};

/// Returns the counts of a module after assign-streams. It fails with an error
/// if the module has no plan.
mlir::FailureOr<StepCounts> scheduledCounts(mlir::ModuleOp module);

/// Replaces the search's estimates of collectives and memory in a plan by the
/// counts of its program.
void recordProgram(StepCounts counts, Plan &plan);

} // namespace autopar

#endif // AUTOPAR_SIMULATE_STEPCOUNTS_H
