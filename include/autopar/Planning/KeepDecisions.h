//===- KeepDecisions.h - What still holds of an old plan ------------------===//
//
// `autopar plan --from OLD.json`: decisions of a plan of another size, cluster,
// precision or model. Ops and tensors are found by name, axes too; what fits
// becomes limits of the search (Constraints.h), the rest is searched.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_KEEPDECISIONS_H
#define AUTOPAR_PLANNING_KEEPDECISIONS_H

#include "autopar/Planning/Search.h"

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

/// The request with what it leaves open as entries before this one have it:
/// devices and mesh; then as the old plan has it: strategy, mesh or, for
/// another number of devices, the names of its axes, micro-batches. An error if
/// the old plan is of quite another model.
llvm::Expected<PlanRequest> askAsBefore(const PlanRequest &request,
                                        const ModelGraph &graph);

/// The limits of what a request of askAsBefore asks for: its constraints, and
/// what entries before this one store.
llvm::Expected<Limits> demandedLimits(const PlanRequest &request,
                                      const ModelGraph &graph, const Mesh &mesh,
                                      int64_t stages);

/// Narrows `limits`, which are demandedLimits, to what fits of the old plan;
/// nothing if there is none. `request` is one of askAsBefore.
KeptDecisions keepDecisions(const PlanRequest &request, const ModelGraph &graph,
                            const Mesh &mesh, int64_t stages, Limits &limits);

/// Where the old plan answers the same request of the same model and decides
/// the same, the new one gets the old one's bound, which is of a search that
/// was free.
void takeBound(Plan &plan, const Plan &old);

/// Lines for the plan's table: what was kept, what was dropped and why.
std::string describeKept(const PlanRequest &request, const ModelGraph &graph,
                         const Plan &plan);

} // namespace autopar

#endif // AUTOPAR_PLANNING_KEEPDECISIONS_H
