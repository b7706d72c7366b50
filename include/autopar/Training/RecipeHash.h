//===- RecipeHash.h - Which recipe a step was made by -----------*- C++ -*-===//

#ifndef AUTOPAR_TRAINING_RECIPEHASH_H
#define AUTOPAR_TRAINING_RECIPEHASH_H

#include "llvm/Support/JSON.h"

namespace autopar {

/// Returns a hash of the recipe's contents. It ignores the layout, keys that
/// are null or belong to a reference run, and the location of the evaluation's
/// data.
uint64_t recipeHash(const llvm::json::Object &recipe);

} // namespace autopar

#endif // AUTOPAR_TRAINING_RECIPEHASH_H
