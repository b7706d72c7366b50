//===- Recipe.cpp - Reads a recipe file -----------------------------------===//

#include "autopar/Training/Recipe.h"
#include "Losses.h"
#include "RecipeReader.h"
#include "autopar/Dialect/Precision.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace autopar {

double OptimizerRecipe::value(StringRef name, unsigned index) const {
  return values.at(name.str()).at(index);
}

/// The most blocks of a step: more would make the program too large.
static constexpr int64_t kMostBlocks = 1024;

namespace {

/// The keys of a recipe, and those that a reference run has beside them. The
/// latter are left out before the recipe is read.
constexpr StringRef kKeys[] = {"loss",
                               "output",
                               "labels",
                               "optimizer",
                               "schedule",
                               "clip_value",
                               "accumulation",
                               "precision",
                               "trainable",
                               "steps",
                               "dropout",
                               "loss_scale",
                               "clip_global_norm",
                               "seed",
                               "groups",
                               "average",
                               "mean_over",
                               "gradient_communication",
                               "at_run_time",
                               "evaluation",
                               "running_variance",
                               "last_batch"};
constexpr StringRef kReferenceKeys[] = {"case",
                                        "batch",
                                        "exporter",
                                        "opset",
                                        "symbolic_batch",
                                        "notes",
                                        "tolerance",
                                        "onnxruntime_loss_step0",
                                        "loss_of_batch0_with_final_parameters",
                                        "final",
                                        "one_big_batch",
                                        "measured_difference",
                                        "loss_difference_per_step"};

json::Object withoutReferenceKeys(const json::Object &object) {
  json::Object own = object;
  for (StringRef key : kReferenceKeys)
    own.erase(key);
  return own;
}

} // namespace

const json::Value *RecipeReader::given(const json::Object &in, StringRef key) {
  const json::Value *value = in.get(key);
  return value && !value->getAsNull() ? value : nullptr;
}

bool RecipeReader::isKey(StringRef key) { return is_contained(kKeys, key); }

Error RecipeReader::checkKeys() {
  for (StringRef key : sortedKeys(object))
    if (StringRef owner = ownerOf(key);
        !is_contained(kKeys, key) && !owner.empty())
      return fail("'" + key + "' belongs into '" + owner + "'");
  std::string unknown = unknownKey(object, kKeys);
  return unknown.empty() ? Error::success() : fail(unknown);
}

Error RecipeReader::readText(StringRef key, std::string &to) const {
  const json::Value *value = given(object, key);
  if (!value)
    return Error::success();
  std::optional<StringRef> text = value->getAsString();
  if (!text || text->empty())
    return fail("'" + key + "' must be a name");
  to = text->str();
  return Error::success();
}

/// Reads one of a few words; `to` keeps its value if the key is absent.
Error RecipeReader::readChoice(StringRef key, ArrayRef<StringRef> known,
                               std::string &to) const {
  std::string given = to;
  if (Error error = readText(key, given))
    return error;
  if (!is_contained(known, StringRef(given)))
    return fail("'" + key + "': '" + given + "' is none of " +
                join(known, ", ") + didYouMean(given, known));
  to = given;
  return Error::success();
}

Error RecipeReader::readNames(
    const json::Object &in, StringRef key,
    std::optional<std::vector<std::string>> &to) const {
  const json::Value *value = given(in, key);
  if (!value)
    return Error::success();
  const json::Array *list = value->getAsArray();
  to.emplace();
  for (const json::Value &name : list ? *list : json::Array{nullptr}) {
    std::optional<StringRef> text = name.getAsString();
    if (!text)
      return fail("'" + key + "' must be a list of names of initializers");
    to->push_back(text->str());
  }
  return Error::success();
}

Error RecipeReader::readNumber(const json::Object &in, StringRef key,
                               double least, double &to) const {
  const json::Value *value = given(in, key);
  if (!value)
    return Error::success();
  std::optional<double> number = value->getAsNumber();
  if (!number || !std::isfinite(*number) || *number < least)
    return fail("'" + key + "' must be a number of " +
                formatv("{0}", least).str() + " or more");
  to = *number;
  return Error::success();
}

Error RecipeReader::readCount(const json::Object &in, StringRef key,
                              int64_t least, int64_t &to) const {
  const json::Value *value = given(in, key);
  if (!value)
    return Error::success();
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < least)
    return fail("'" + key + "' must be an integer of " + Twine(least) +
                " or more");
  to = *number;
  return Error::success();
}

Error RecipeReader::readClip(StringRef key, std::optional<double> &to) const {
  if (!given(object, key))
    return Error::success();
  double value = 0;
  if (Error error = readNumber(object, key, 0, value))
    return error;
  if (value == 0)
    return fail("'" + key + "' must be above 0; null is no clipping");
  to = value;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

Error RecipeReader::readLoss() {
  if (Error error = readText("loss", recipe.loss))
    return error;
  if (!findLoss(recipe.loss))
    return fail("'loss' " + wrongKind<LossRow>(recipe.loss, losses()));
  if (Error error = readText("output", recipe.output))
    return error;
  return readText("labels", recipe.labels);
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

/// The scale of fp16 is dynamic, others are 1, if the recipe has none.
Error RecipeReader::readPrecision() {
  if (Error error = readText("precision", recipe.precision))
    return error;
  if (!is_contained(kPrecisions, StringRef(recipe.precision)))
    return fail("'precision': '" + recipe.precision + "' is none of " +
                join(ArrayRef(kPrecisions), ", "));
  LossScaleRecipe &scale = recipe.lossScale;
  const json::Value *value = given(object, "loss_scale");
  scale.dynamic = value ? value->getAsString() == StringRef("dynamic")
                        : recipe.precision == "fp16";
  constexpr double kFirst = 65536; // as torch.amp.GradScaler
  if (scale.dynamic || !value) {
    scale.initial = scale.dynamic ? kFirst : 1;
    return Error::success();
  }
  scale.initial = value->getAsNumber().value_or(0);
  float narrow = scale.initial, inverse = 1 / narrow;
  return narrow > 0 && std::isnormal(narrow) && std::isnormal(inverse)
             ? Error::success()
             : fail("'loss_scale' must be \"dynamic\" or a number above 0 that "
                    "fp32 holds, and its inverse");
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

/// Reads what the recipe says of the model's nodes.
Error RecipeReader::readNodes() {
  std::string variance = "population";
  if (Error error =
          readChoice("running_variance", {"population", "unbiased"}, variance))
    return error;
  recipe.unbiasedVariance = variance == "unbiased";
  if (Error error = readCount(object, "seed", 0, recipe.seed))
    return error;
  if (!given(object, "dropout"))
    return Error::success();
  double value = 0;
  if (Error error = readNumber(object, "dropout", 0, value))
    return error;
  if (value >= 1)
    return fail("'dropout' must be below 1, the probability to drop all");
  recipe.dropout = value;
  return Error::success();
}

Error RecipeReader::readAccumulation() {
  if (Error error = readCount(object, "accumulation", 1, recipe.accumulation))
    return error;
  if (recipe.accumulation > kMostBlocks)
    return fail("'accumulation' must be at most " + Twine(kMostBlocks) +
                ": each block is ops of its own");
  std::string over = "step";
  if (Error error = readChoice("mean_over", {"step", "block"}, over))
    return error;
  recipe.meansOverStep = over == "step";
  return Error::success();
}

/// Reads the type in which devices add up their parts of gradients. A type
/// narrower than the precision's is refused, because values would be rounded
/// for that alone.
Error RecipeReader::readCommunication() {
  std::string type = "fp32";
  if (Error error =
          readChoice("gradient_communication", {"fp32", "bf16", "fp16"}, type))
    return error;
  recipe.narrowGradientSums = type != "fp32";
  if (recipe.narrowGradientSums && type != recipe.precision)
    return fail("'gradient_communication': '" + type +
                "' needs 'precision': '" + type + "', which is '" +
                recipe.precision +
                "': gradients are sent as they are computed or in fp32");
  return Error::success();
}

Error RecipeReader::readClips() {
  if (Error error = readClip("clip_global_norm", recipe.clipGlobalNorm))
    return error;
  return readClip("clip_value", recipe.clipValue);
}

Expected<Recipe> RecipeReader::read() {
  for (auto part :
       {&RecipeReader::checkKeys, &RecipeReader::readLoss,
        &RecipeReader::readOptimizer, &RecipeReader::readSchedule,
        &RecipeReader::readGroups, &RecipeReader::readAverage,
        &RecipeReader::readClips, &RecipeReader::readAccumulation,
        &RecipeReader::readPrecision, &RecipeReader::readCommunication,
        &RecipeReader::readNodes, &RecipeReader::readAtRunTime,
        &RecipeReader::readEvaluation})
    if (Error error = (this->*part)())
      return std::move(error);
  if (Error error = readNames(object, "trainable", recipe.trainable))
    return std::move(error);
  return std::move(recipe);
}

Expected<Recipe> recipeFromJSON(const json::Value &value, StringRef file) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return createStringError("recipe " + file +
                             ": it must be a JSON object, as {\"loss\": ...}");
  json::Object own = withoutReferenceKeys(*object);
  Expected<Recipe> recipe = RecipeReader(own, file).read();
  if (recipe)
    recipe->given = std::move(own);
  return recipe;
}

} // namespace autopar
