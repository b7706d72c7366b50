//===- StepCounts.h - Counts of planned and scheduled steps -----*- C++ -*-===//
//
// A plan predicts the collectives, messages, kernels and memory of its program.
// The counts of both have one form, so that they can be compared
// (test/Execution/compare_scheduled.py).
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SIMULATE_STEPCOUNTS_H
#define AUTOPAR_SIMULATE_STEPCOUNTS_H

#include "autopar/Planning/Plan/PredictMemory.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// The counts of a device of one stage: the kernels that it launches in a
/// micro-batch, and the bytes that it holds.
struct StageCounts {
  int64_t kernels = 0; // library calls among them
  StageMemory memory;
  int64_t peakBytes = 0; // in a plan with the bytes of padded operands
};

struct StepCounts {
  /// Collectives and messages ("send", without axes) of all stages and
  /// micro-batches, without seconds.
  std::vector<PlannedCollective> collectives;
  std::vector<StageCounts> stages;
};

/// Returns the counts that a plan predicts.
StepCounts plannedCounts(const ModelGraph &graph, const Plan &plan);
/// Returns the counts of a module after assign-streams. It fails with an error
/// if the module has no plan.
mlir::FailureOr<StepCounts> scheduledCounts(mlir::ModuleOp module);

/// Returns an object {"collectives": [{"kind", "axes", "bytes", "count"}],
/// "stages": [{"kernels", "weight_bytes", "loading_bytes", "arena_bytes",
/// "communication_bytes", "peak_bytes"}]}; `bytes` are those of one collective.
llvm::json::Object toJSON(const StepCounts &counts, const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_SIMULATE_STEPCOUNTS_H
