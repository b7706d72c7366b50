//===- ReadSchedule.h - What a scheduled module does and takes ------------===//

#ifndef AUTOPAR_SIMULATE_READSCHEDULE_H
#define AUTOPAR_SIMULATE_READSCHEDULE_H

#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Simulate/Simulate.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Reads the steps of all stages from a module after assign-streams, with the
/// seconds that the cost model gives to each kernel, collective and message on
/// the plan's cluster. It fails with an error if the module has no plan.
mlir::FailureOr<SimulatedProgram> readSchedule(mlir::ModuleOp module);

/// A table of the timeline beside the plan's predictions, part by part, for the
/// stage that is busiest in the timeline.
std::string againstPlanText(const Timeline &timeline, const Plan &plan,
                            const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_SIMULATE_READSCHEDULE_H
