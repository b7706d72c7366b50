//===- AskAsBefore.h - A request that follows an old plan -----------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_ASKASBEFORE_H
#define AUTOPAR_PLANNING_CONSTRAINTS_ASKASBEFORE_H

#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Constraints/PlanRequest.h"

namespace autopar {

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

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_ASKASBEFORE_H
