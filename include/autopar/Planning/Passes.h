//===- Passes.h - From whole programs to planned ones -----------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PASSES_H
#define AUTOPAR_PLANNING_PASSES_H

#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Search/Search.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include <functional>

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

/// Runs passes on an op within the op of the pass that calls it.
using PassRunner = llvm::function_ref<mlir::LogicalResult(mlir::OpPassManager &,
                                                          mlir::Operation *)>;
/// Makes the program of a planned module and records its counts in the plan.
/// Partition and Schedule make it, which come after Planning.
using CountProgram =
    std::function<mlir::LogicalResult(mlir::ModuleOp, Plan &, PassRunner)>;

#define GEN_PASS_DECL
#include "autopar/Planning/Passes.h.inc"

/// Create passes that also write what they planned to `planned`. `stored`
/// (null: nothing) has the tensors that entries before this one store. `count`
/// (null: nobody) counts the program of the plan.
std::unique_ptr<mlir::Pass> createSearchPlan(SearchPlanOptions options,
                                             PlannedModel *planned,
                                             const StoredTensors *stored,
                                             CountProgram count);
std::unique_ptr<mlir::Pass> createApplyPlan(ApplyPlanOptions options,
                                            PlannedModel *planned,
                                            CountProgram count);

#define GEN_PASS_REGISTRATION
#include "autopar/Planning/Passes.h.inc"

} // namespace autopar

#endif // AUTOPAR_PLANNING_PASSES_H
