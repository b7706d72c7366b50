//===- Recipe.cpp - Reads a recipe file -----------------------------------===//

#include "autopar/Training/Recipe.h"
#include "LearningRate.h"
#include "Losses.h"
#include "Optimizers.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Support/Names.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace autopar {

double OptimizerRecipe::value(StringRef name, unsigned index) const {
  return values.at(name.str()).at(index);
}

/// More of them would be too large a program.
static constexpr int64_t kMostBlocks = 1024;

namespace {

/// The keys of a recipe, and those that a reference run has beside them.
constexpr StringRef kKeys[] = {
    "loss",       "output",       "labels",          "optimizer", "schedule",
    "clip_value", "accumulation", "precision",       "trainable", "steps",
    "dropout",    "loss_scale",   "clip_global_norm"};
constexpr StringRef kReferenceKeys[] = {"case",
                                        "batch",
                                        "exporter",
                                        "opset",
                                        "symbolic_batch",
                                        "notes",
                                        "onnxruntime_loss_step0",
                                        "loss_of_batch0_with_final_parameters",
                                        "one_big_batch",
                                        "tolerance",
                                        "measured_difference",
                                        "loss_difference_per_step",
                                        "final"};

class Reader {
public:
  Reader(const json::Object &object, StringRef file)
      : object(object), file(file) {}
  Expected<Recipe> read();

private:
  Error fail(const Twine &what) const {
    return createStringError("recipe " + file + ": " + what);
  }
  /// The value of a key that is there and not null.
  static const json::Value *given(const json::Object &in, StringRef key);
  Error checkKeys() const;
  Error refuse(StringRef key, const json::Value &only) const;
  Error readText(StringRef key, std::string &to) const;
  Error readNames(const json::Object &in, StringRef key,
                  std::optional<std::vector<std::string>> &to) const;
  Error readNumber(const json::Object &in, StringRef key, double least,
                   double &to) const;
  Error readCount(const json::Object &in, StringRef key, int64_t least,
                  int64_t &to) const;
  Error readClip(StringRef key, std::optional<double> &to) const;
  Error readLoss();
  Error readOptimizer();
  Error readHyperparameter(const json::Object &in, const Hyperparameter &what);
  Error checkHyperparameters() const;
  Error readSchedule();
  Error readRates(const json::Object &in);
  Error readPrecision();

  const json::Object &object;
  StringRef file;
  Recipe recipe;
};

} // namespace

const json::Value *Reader::given(const json::Object &in, StringRef key) {
  const json::Value *value = in.get(key);
  return value && !value->getAsNull() ? value : nullptr;
}

/// For a kind that is missing or none of the table's.
template <typename Row>
static std::string wrongKind(std::optional<StringRef> kind,
                             ArrayRef<Row> rows) {
  SmallVector<StringRef> known;
  for (const Row &row : rows)
    known.push_back(row.kind);
  std::string list = join(known, ", ");
  if (!kind || kind->empty())
    return "is missing; known: " + list;
  return "is '" + kind->str() + "', which is none of " + list +
         didYouMean(*kind, known);
}

Error Reader::checkKeys() const {
  json::Object own;
  for (const auto &[key, value] : object)
    if (!is_contained(kReferenceKeys, StringRef(key)))
      own[key] = nullptr;
  std::string unknown = unknownKey(own, kKeys);
  return unknown.empty() ? Error::success() : fail(unknown);
}

Error Reader::readText(StringRef key, std::string &to) const {
  const json::Value *value = given(object, key);
  if (!value)
    return Error::success();
  std::optional<StringRef> text = value->getAsString();
  if (!text || text->empty())
    return fail("'" + key + "' must be a name");
  to = text->str();
  return Error::success();
}

Error Reader::readNames(const json::Object &in, StringRef key,
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

Error Reader::readNumber(const json::Object &in, StringRef key, double least,
                         double &to) const {
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

Error Reader::readCount(const json::Object &in, StringRef key, int64_t least,
                        int64_t &to) const {
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

Error Reader::readClip(StringRef key, std::optional<double> &to) const {
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

Error Reader::readLoss() {
  if (Error error = readText("loss", recipe.loss))
    return error;
  const LossRow *loss = findLoss(recipe.loss);
  if (!loss)
    return fail("'loss' " + wrongKind<LossRow>(recipe.loss, losses()));
  if (!loss->labelsAreTokens)
    recipe.labels = "labels";
  if (Error error = readText("output", recipe.output))
    return error;
  return readText("labels", recipe.labels);
}

//===----------------------------------------------------------------------===//
// Optimizer
//===----------------------------------------------------------------------===//

/// A number, a flag, or a list with a null for each default.
Error Reader::readHyperparameter(const json::Object &in,
                                 const Hyperparameter &what) {
  std::vector<double> &values = recipe.optimizer.values[what.name.str()];
  values = what.byDefault;
  const json::Value *value = given(in, what.name);
  if (!value)
    return Error::success();
  auto wrong = [&] {
    return fail("optimizer: '" + what.name + "' must be " +
                (what.isFlag ? "true or false"
                 : values.size() == 1
                     ? "a number"
                     : "a list of " + Twine(values.size()) + " numbers"));
  };
  if (what.isFlag) {
    std::optional<bool> flag = value->getAsBoolean();
    values = {double(flag.value_or(false))};
    return flag ? Error::success() : wrong();
  }
  json::Array list;
  if (values.size() == 1)
    list.push_back(*value);
  else if (const json::Array *array = value->getAsArray())
    list = *array;
  if (list.size() != values.size())
    return wrong();
  for (auto [element, number] : zip_equal(list, values)) {
    if (element.getAsNull())
      continue;
    std::optional<double> read = element.getAsNumber();
    if (!read || !std::isfinite(*read))
      return wrong();
    number = *read;
  }
  return Error::success();
}

/// What torch.optim refuses.
Error Reader::checkHyperparameters() const {
  const OptimizerRecipe &optimizer = recipe.optimizer;
  for (const Hyperparameter &what :
       findOptimizer(optimizer.kind)->hyperparameters)
    for (double value : optimizer.values.at(what.name.str()))
      if (value < what.least || value >= what.below)
        return fail("optimizer: '" + what.name + "' is " +
                    formatv("{0}", value).str() + ", too " +
                    (value < what.least ? "small" : "large"));
  if (optimizer.kind == "sgd" && optimizer.flag("nesterov") &&
      (optimizer.value("momentum") == 0 || optimizer.value("dampening") != 0))
    return fail("optimizer: 'nesterov' needs a momentum and no dampening");
  return Error::success();
}

Error Reader::readOptimizer() {
  const json::Value *value = given(object, "optimizer");
  const json::Object *in = value ? value->getAsObject() : nullptr;
  if (!in)
    return fail(R"('optimizer' must be an object, as {"kind": "adamw"})");
  std::optional<StringRef> kind = in->getString("kind");
  const OptimizerRow *row = findOptimizer(kind.value_or(""));
  if (!row)
    return fail("optimizer: 'kind' " + wrongKind(kind, optimizers()));
  recipe.optimizer.kind = kind->str();
  SmallVector<StringRef> known = {"kind", "weight_decay_parameters"};
  for (const Hyperparameter &what : row->hyperparameters) {
    known.push_back(what.name);
    if (Error error = readHyperparameter(*in, what))
      return error;
  }
  if (std::string unknown = unknownKey(*in, known); !unknown.empty())
    return fail("optimizer " + *kind + ": " + unknown);
  if (Error error = readNames(*in, "weight_decay_parameters",
                              recipe.optimizer.weightDecayParameters))
    return error;
  return checkHyperparameters();
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

Error Reader::readRates(const json::Object &in) {
  const json::Value *value = given(in, "lr_per_step");
  if (!value)
    return Error::success();
  const json::Array *list = value->getAsArray();
  for (const json::Value &rate : list ? *list : json::Array{nullptr}) {
    std::optional<double> number = rate.getAsNumber();
    if (!number || !std::isfinite(*number) || *number < 0)
      return fail("schedule: 'lr_per_step' must be a list of numbers of 0 or "
                  "more");
    recipe.schedule.perStep.push_back(*number);
  }
  return list->empty() ? fail("schedule: 'lr_per_step' is empty")
                       : Error::success();
}

Error Reader::readSchedule() {
  const json::Value *value = given(object, "schedule");
  if (!value)
    return Error::success();
  const json::Object *in = value->getAsObject();
  if (!in)
    return fail(R"('schedule' must be an object, as {"kind": "cosine"})");
  ScheduleRecipe &schedule = recipe.schedule;
  if (std::string unknown =
          unknownKey(*in, {"kind", "warmup_steps", "min_lr", "step_size",
                           "gamma", "power", "lr_per_step"});
      !unknown.empty())
    return fail("schedule: " + unknown);
  if (given(*in, "kind")) {
    schedule.kind = in->getString("kind").value_or("").str();
    if (!isSchedule(schedule.kind))
      return fail("schedule: 'kind': '" + schedule.kind + "' is none of " +
                  scheduleKinds());
  }
  if (Error error = readCount(*in, "warmup_steps", 0, schedule.warmupSteps))
    return error;
  if (Error error = readCount(*in, "step_size", 1, schedule.stepSize))
    return error;
  for (auto [key, to] : {std::pair("min_lr", &schedule.minimum),
                         {"gamma", &schedule.gamma},
                         {"power", &schedule.power}})
    if (Error error = readNumber(*in, key, 0, *to))
      return error;
  if (schedule.kind == "step" && !given(*in, "step_size") &&
      !given(*in, "lr_per_step"))
    return fail("schedule: 'step' needs 'step_size'");
  if (Error error = readRates(*in))
    return error;
  if (needsSteps(schedule.kind) && schedule.perStep.empty() &&
      recipe.steps == 0)
    return fail("schedule: '" + schedule.kind +
                "' needs the recipe's 'steps', the number of all steps");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

/// The scale of fp16 is dynamic, others are 1, if the recipe has none.
Error Reader::readPrecision() {
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

/// What only one value is supported of.
Error Reader::refuse(StringRef key, const json::Value &only) const {
  const json::Value *value = given(object, key);
  if (!value || *value == only)
    return Error::success();
  return fail("'" + key + "': " + formatv("{0}", *value).str() +
              " is not supported; leave it out");
}

Expected<Recipe> Reader::read() {
  if (Error error = checkKeys())
    return std::move(error);
  if (Error error = readLoss())
    return std::move(error);
  if (Error error = readCount(object, "steps", 1, recipe.steps))
    return std::move(error);
  if (Error error = readOptimizer())
    return std::move(error);
  if (Error error = readSchedule())
    return std::move(error);
  if (Error error = readNames(object, "trainable", recipe.trainable))
    return std::move(error);
  if (Error error = readClip("clip_global_norm", recipe.clipGlobalNorm))
    return std::move(error);
  if (Error error = readClip("clip_value", recipe.clipValue))
    return std::move(error);
  if (Error error = readCount(object, "accumulation", 1, recipe.accumulation))
    return std::move(error);
  if (recipe.accumulation > kMostBlocks)
    return fail("'accumulation' must be at most " + Twine(kMostBlocks) +
                ": each block is ops of its own");
  if (Error error = readPrecision())
    return std::move(error);
  if (Error error = refuse("dropout", 0))
    return std::move(error);
  return std::move(recipe);
}

Expected<Recipe> recipeFromJSON(const json::Value &value, StringRef file) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return createStringError("recipe " + file +
                             ": it must be a JSON object, as {\"loss\": ...}");
  return Reader(*object, file).read();
}

} // namespace autopar
