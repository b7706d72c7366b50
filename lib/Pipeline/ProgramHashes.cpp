//===- ProgramHashes.cpp - What a training is made of ---------------------===//

#include "ProgramHashes.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Frontend/ModelHash.h"
#include "autopar/Training/RecipeHash.h"
#include "files/ContentHash.h"

using namespace mlir;

namespace autopar {

Attribute programHashes(const OnnxModel &model, RecipeAttr recipe) {
  return attributeFromJSON(
      recipe.getContext(),
      llvm::json::Object{{"model", runtime::formatHash(graphHash(model))},
                         {"recipe", runtime::formatHash(recipeHash(recipe))}});
}

} // namespace autopar
