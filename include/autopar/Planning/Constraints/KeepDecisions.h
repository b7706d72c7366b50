//===- KeepDecisions.h - What still holds of an old plan ------------------===//
//
// `autopar plan --from OLD.json` keeps decisions of a plan for another size,
// cluster, precision or model. Ops, tensors and axes are matched by name.
// Decisions that fit become limits of the search (Constraints.h); the search
// makes the others.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_KEEPDECISIONS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_KEEPDECISIONS_H

#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Constraints/PlanRequest.h"

namespace autopar {

enum class DecisionKind { Op, Tensor, Stage };

/// Decisions of one kind that were dropped, or dropped for one axis, for the
/// same reason.
struct DroppedDecisions {
  DecisionKind kind;
  std::string why; // for the first one
  unsigned count = 0;
  llvm::SmallVector<std::string, 3> names; // the first few
};

struct KeptDecisions {
  /// The numbers of ops, values and stages of which nothing was dropped.
  unsigned ops = 0, values = 0, stages = 0;
  /// The numbers of ops and values that the old plan does not have.
  unsigned newOps = 0, newValues = 0;
  std::vector<DroppedDecisions> dropped;
};

/// Narrows `limits`, which demandedLimits returned, to the decisions of the old
/// plan that fit. Does nothing if there is no old plan. `request` is one of
/// askAsBefore.
KeptDecisions keepDecisions(const PlanRequest &request, const ModelGraph &graph,
                            const Mesh &mesh, int64_t stages, Limits &limits);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_KEEPDECISIONS_H
