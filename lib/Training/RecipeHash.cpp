//===- RecipeHash.cpp - Which recipe a step was made by -------------------===//

#include "autopar/Training/RecipeHash.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "files/ContentHash.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar {

/// A null is as good as a key that is absent.
static json::Object withoutNulls(const json::Object &object) {
  json::Object kept;
  for (const auto &[key, value] : object)
    if (!value.getAsNull())
      kept[key] = value;
  return kept;
}

uint64_t recipeHash(RecipeAttr recipe) {
  json::Value given = toJSON(recipe.getGiven());
  json::Object kept = withoutNulls(*given.getAsObject());
  if (json::Object *evaluation = kept.getObject("evaluation"))
    evaluation->erase("data"); // its place, which may differ from run to run
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(kept)); // keys are sorted
  runtime::ContentHash hash;
  hash.add(text.data(), text.size());
  return hash.value();
}

} // namespace autopar
