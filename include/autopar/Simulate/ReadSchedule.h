//===- ReadSchedule.h - What a scheduled module does and takes ------------===//

#ifndef AUTOPAR_SIMULATE_READSCHEDULE_H
#define AUTOPAR_SIMULATE_READSCHEDULE_H

#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Simulate/Simulate.h"
#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// The steps of all stages of a module that assign-streams has left, with the
/// seconds that the cost model gives each kernel, collective and message on the
/// plan's cluster. Fails with an error where the module has no plan.
mlir::FailureOr<SimulatedProgram> readSchedule(mlir::ModuleOp module);

/// Where the timeline differs from what the plan predicts, part by part, at
/// the stage that is busiest in the timeline.
std::string againstPlanText(const Timeline &timeline, const Plan &plan,
                            const ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_SIMULATE_READSCHEDULE_H
