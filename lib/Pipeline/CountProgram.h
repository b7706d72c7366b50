//===- CountProgram.h - The counts of a plan's program ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PIPELINE_COUNTPROGRAM_H
#define AUTOPAR_LIB_PIPELINE_COUNTPROGRAM_H

#include "autopar/Planning/Passes.h"

namespace autopar {

/// Makes the program of a planned module up to its schedule, in a copy that is
/// within the module meanwhile, and records its counts in the plan. Errors are
/// those of the phases; warnings and remarks are left to the phases themselves.
mlir::LogicalResult countProgram(mlir::ModuleOp module, Plan &plan,
                                 PassRunner run);

} // namespace autopar

#endif // AUTOPAR_LIB_PIPELINE_COUNTPROGRAM_H
