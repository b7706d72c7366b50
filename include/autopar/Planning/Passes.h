//===- Passes.h - From whole programs to planned ones -----------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PASSES_H
#define AUTOPAR_PLANNING_PASSES_H

#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Search/Search.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar {

/// A plan and what it is of, for who prints or saves it.
struct PlannedModel {
  Plan plan;
  ModelGraph graph;
  std::vector<SearchTrial> tried; // none of a plan that was given
  std::string kept; // of an old plan, lines for the table; "": there was none
  /// Why no plan was found that stores all as entries before do; "": one was.
  std::string refusal;
};

#define GEN_PASS_DECL
#include "autopar/Planning/Passes.h.inc"

/// The passes that leave what they planned in `planned`, too. `stored` (null:
/// nothing) is what entries before this one store.
std::unique_ptr<mlir::Pass> createSearchPlan(SearchPlanOptions options,
                                             PlannedModel *planned,
                                             const StoredTensors *stored);
std::unique_ptr<mlir::Pass> createApplyPlan(ApplyPlanOptions options,
                                            PlannedModel *planned);

#define GEN_PASS_REGISTRATION
#include "autopar/Planning/Passes.h.inc"

} // namespace autopar

#endif // AUTOPAR_PLANNING_PASSES_H
