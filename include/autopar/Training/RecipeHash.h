//===- RecipeHash.h - Which recipe a step was made by -----------*- C++ -*-===//

#ifndef AUTOPAR_TRAINING_RECIPEHASH_H
#define AUTOPAR_TRAINING_RECIPEHASH_H

#include "llvm/Support/JSON.h"

namespace autopar {

/// The hash of what a recipe says: not of its layout, nor of keys that are null
/// or a reference run's, nor of where the evaluation's data are.
uint64_t recipeHash(const llvm::json::Object &recipe);

} // namespace autopar

#endif // AUTOPAR_TRAINING_RECIPEHASH_H
