//===- RecipeHash.h - Which recipe a step was made by -----------*- C++ -*-===//

#ifndef AUTOPAR_TRAINING_RECIPEHASH_H
#define AUTOPAR_TRAINING_RECIPEHASH_H

#include "autopar/Training/RecipeAttr.h"

namespace autopar {

/// Returns a hash of the recipe's contents, which checkpoints keep. It ignores
/// the layout, keys that are null and the location of the evaluation's data.
uint64_t recipeHash(RecipeAttr recipe);

} // namespace autopar

#endif // AUTOPAR_TRAINING_RECIPEHASH_H
