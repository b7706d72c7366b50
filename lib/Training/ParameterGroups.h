//===- ParameterGroups.h - Which parameters a group has ---------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_PARAMETERGROUPS_H
#define AUTOPAR_LIB_TRAINING_PARAMETERGROUPS_H

#include "StepFunction.h"
#include "autopar/Training/Recipe.h"
#include "llvm/ADT/StringMap.h"

namespace autopar {

/// The group of each parameter that is in one, by its name. Of the frozen
/// groups, or of the others: `names` are then those that are trained. An error
/// if a glob matches none of `names`, or two groups have one of them.
mlir::FailureOr<llvm::StringMap<const ParameterGroup *>>
findGroups(const Recipe &recipe, bool frozen,
           llvm::ArrayRef<llvm::StringRef> names, mlir::Operation *at);

/// The parameters that are trained: findTrained without the frozen ones.
mlir::FailureOr<mlir::SmallVector<mlir::BlockArgument>>
findUnfrozen(StepFunction &step, const Recipe &recipe);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_PARAMETERGROUPS_H
