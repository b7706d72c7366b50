//===- ProgramHashes.cpp - What a training is made of ---------------------===//

#include "ProgramHashes.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Frontend/ModelHash.h"
#include "autopar/Training/RecipeHash.h"
#include "files/ContentHash.h"

using namespace mlir;

namespace autopar {

Attribute programHashes(const OnnxModel &model, Attribute recipe) {
  llvm::json::Value value = toJSON(recipe);
  return attributeFromJSON(
      recipe.getContext(),
      llvm::json::Object{
          {"model", runtime::formatHash(graphHash(model))},
          {"recipe", runtime::formatHash(recipeHash(*value.getAsObject()))}});
}

} // namespace autopar
