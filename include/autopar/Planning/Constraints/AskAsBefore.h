//===- AskAsBefore.h - A request that follows an old plan -----------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_ASKASBEFORE_H
#define AUTOPAR_PLANNING_CONSTRAINTS_ASKASBEFORE_H

#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Constraints/PlanRequest.h"

namespace autopar {

/// Completes a request. Devices and mesh that it leaves open are those of the
/// entries before this one. What is still open is taken from the old plan:
/// strategy, micro-batches, and the mesh or, for another number of devices, the
/// names of its axes. Returns an error if the old plan is of a model that has
/// little in common with this one.
llvm::Expected<PlanRequest> askAsBefore(const PlanRequest &request,
                                        const ModelGraph &graph);

/// Returns the limits that a request of askAsBefore demands: its constraints,
/// and the tensors that entries before this one store.
llvm::Expected<Limits> demandedLimits(const PlanRequest &request,
                                      const ModelGraph &graph, const Mesh &mesh,
                                      int64_t stages);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_ASKASBEFORE_H
