//===- KeepDecisions.h - What still holds of an old plan ------------------===//
//
// `autopar plan --from OLD.json`: decisions of a plan of another size, cluster,
// precision or model. Ops and tensors are found by name, axes too; what fits
// becomes limits of the search (Constraints.h), the rest is searched.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_KEEPDECISIONS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_KEEPDECISIONS_H

#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Constraints/PlanRequest.h"

namespace autopar {

enum class DecisionKind { Op, Tensor, Stage };

/// Decisions of one kind that are not kept, or not over one axis, for one
/// reason.
struct DroppedDecisions {
  DecisionKind kind;
  std::string why; // of the first
  unsigned count = 0;
  llvm::SmallVector<std::string, 3> names; // of the first few
};

struct KeptDecisions {
  unsigned ops = 0, values = 0, stages = 0; // of which nothing was dropped
  unsigned newOps = 0, newValues = 0;       // that the old plan has not
  std::vector<DroppedDecisions> dropped;
};

/// Narrows `limits`, which are demandedLimits, to what fits of the old plan;
/// nothing if there is none. `request` is one of askAsBefore.
KeptDecisions keepDecisions(const PlanRequest &request, const ModelGraph &graph,
                            const Mesh &mesh, int64_t stages, Limits &limits);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_KEEPDECISIONS_H
