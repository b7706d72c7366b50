//===- CountedPlan.h - A plan with the counts of its program ----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_COUNTEDPLAN_H
#define AUTOPAR_LIB_PLANNING_COUNTEDPLAN_H

#include "autopar/Planning/Passes.h"

namespace autopar {

/// The bytes by which a program exceeds the limit of the fullest device, and a
/// sentence that says so; 0 if it fits.
struct Excess {
  int64_t bytes = 0;
  /// The bytes of the limit that the estimate of the plan left. A search that
  /// leaves more than these free does not find the same plan again.
  int64_t estimatedRoom = 0;
  std::string text;
};

/// Counts the program of a planned module, writes the counts into its
/// `autopar.plan`, and compares the memory with the limit that was asked for,
/// or else with the devices'. Does nothing if `count` is null.
mlir::FailureOr<Excess> countPlanned(mlir::ModuleOp module, Plan &plan,
                                     const CountProgram &count, PassRunner run);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_COUNTEDPLAN_H
