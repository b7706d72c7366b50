//===- TrainedStates.h - What an entry trains for another -------*- C++ -*-===//
//
// A program that trains may have an entry that evaluates: what the one trains
// is the other's, too. So the evaluation has as states, which nothing changes
// there, what are states of the training.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRAINING_TRAINEDSTATES_H
#define AUTOPAR_TRAINING_TRAINEDSTATES_H

#include "autopar/Training/Recipe.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>

namespace autopar {

/// Parameters that a training step changes, by name with their types as text,
/// and the precision in which it computes.
struct TrainedStates {
  std::map<std::string, std::string> types;
  std::string precision;
  /// The training's recipe if it says how the training is evaluated.
  std::optional<Recipe> evaluation;
};

/// The parameters of a module's training step; after Phase::Training.
TrainedStates trainedStatesOf(mlir::ModuleOp module);
/// The form that the module's attribute has.
mlir::DictionaryAttr toAttribute(const TrainedStates &trained,
                                 mlir::MLIRContext *context);

} // namespace autopar

#endif // AUTOPAR_TRAINING_TRAINEDSTATES_H
