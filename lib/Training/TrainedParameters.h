//===- TrainedParameters.h - Which parameters are trained -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_TRAINEDPARAMETERS_H
#define AUTOPAR_LIB_TRAINING_TRAINEDPARAMETERS_H

#include "StepFunction.h"
#include "autopar/Training/Recipe.h"

namespace autopar {

/// The arguments that the recipe names; where it names none, initializers of
/// floats of rank 1 and above that meet, perhaps after arithmetic with each
/// other and with scalars, something that depends on an input. An error if
/// there are none.
mlir::FailureOr<mlir::SmallVector<mlir::BlockArgument>>
findTrained(StepFunction &step, const Recipe &recipe);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_TRAINEDPARAMETERS_H
