//===- Passes.h - From whole programs to planned ones -----------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PASSES_H
#define AUTOPAR_PLANNING_PASSES_H

#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Search/Search.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar {

/// A plan and the graph that it is for, so that callers can print or save them.
struct PlannedModel {
  Plan plan;
  ModelGraph graph;
  std::vector<SearchTrial> tried; // empty for a plan that was given
  /// The lines for the table about what was kept of an old plan; "" if there
  /// was no old plan.
  std::string kept;
  /// The reason why no plan was found that stores all tensors as entries before
  /// it do; "" if there is such a plan.
  std::string refusal;
};

#define GEN_PASS_DECL
#include "autopar/Planning/Passes.h.inc"

/// Create passes that also write what they planned to `planned`. `stored`
/// (null: nothing) has the tensors that entries before this one store.
std::unique_ptr<mlir::Pass> createSearchPlan(SearchPlanOptions options,
                                             PlannedModel *planned,
                                             const StoredTensors *stored);
std::unique_ptr<mlir::Pass> createApplyPlan(ApplyPlanOptions options,
                                            PlannedModel *planned);

#define GEN_PASS_REGISTRATION
#include "autopar/Planning/Passes.h.inc"

} // namespace autopar

#endif // AUTOPAR_PLANNING_PASSES_H
