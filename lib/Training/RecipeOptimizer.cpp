//===- RecipeOptimizer.cpp - Reads optimizer and schedule of a recipe -----===//

#include "LearningRate.h"
#include "Optimizers.h"
#include "RecipeReader.h"
#include <cmath>

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// Optimizer
//===----------------------------------------------------------------------===//

/// A number, a flag, or a list with a null for each that stays. `values` has
/// what holds without the key.
Error RecipeReader::readHyperparameter(const json::Object &in,
                                       const Hyperparameter &what,
                                       const Twine &where,
                                       std::vector<double> &values) const {
  const json::Value *value = given(in, what.name);
  if (!value)
    return Error::success();
  auto wrong = [&] {
    return fail(where + ": '" + what.name + "' must be " +
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

/// Reads the hyperparameters of `to.kind`; `to` already has the defaults of
/// all.
Error RecipeReader::readHyperparameters(const json::Object &in,
                                        const Twine &where,
                                        OptimizerRecipe &to) const {
  for (const Hyperparameter &what : findOptimizer(to.kind)->hyperparameters)
    if (Error error =
            readHyperparameter(in, what, where, to.values.at(what.name.str())))
      return error;
  return checkHyperparameters(to, where);
}

/// Refuses the hyperparameters that torch.optim refuses.
Error RecipeReader::checkHyperparameters(const OptimizerRecipe &optimizer,
                                         const Twine &where) const {
  for (const Hyperparameter &what :
       findOptimizer(optimizer.kind)->hyperparameters)
    for (double value : optimizer.values.at(what.name.str()))
      if (value < what.range.least || value >= what.range.below)
        return fail(where + ": '" + what.name + "' is " +
                    formatv("{0}", value).str() + ", too " +
                    (value < what.range.least ? "small" : "large"));
  if (optimizer.kind == "sgd" && optimizer.flag("nesterov") &&
      (optimizer.value("momentum") == 0 || optimizer.value("dampening") != 0))
    return fail(where + ": 'nesterov' needs a momentum and no dampening");
  return Error::success();
}

Error RecipeReader::readOptimizer() {
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
    recipe.optimizer.values[what.name.str()] = what.byDefault;
  }
  if (std::string unknown = unknownKey(*in, known); !unknown.empty())
    return fail("optimizer " + *kind + ": " + unknown);
  if (Error error = readNames(*in, "weight_decay_parameters",
                              recipe.optimizer.weightDecayParameters))
    return error;
  return readHyperparameters(*in, "optimizer", recipe.optimizer);
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

static constexpr StringRef kScheduleKeys[] = {
    "kind",  "warmup_steps", "min_lr",     "step_size",
    "gamma", "power",        "lr_per_step"};

Error RecipeReader::readRates(const json::Object &in) {
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

StringRef RecipeReader::ownerOf(StringRef key) {
  if (key == "kind")
    return ""; // both have one
  if (is_contained(kScheduleKeys, key))
    return "schedule";
  for (const OptimizerRow &row : optimizers())
    for (const Hyperparameter &hyperparameter : row.hyperparameters)
      if (hyperparameter.name == key)
        return "optimizer";
  return "";
}

Error RecipeReader::readSchedule() {
  if (Error error = readCount(object, "steps", 1, recipe.steps))
    return error;
  const json::Value *value = given(object, "schedule");
  if (!value)
    return Error::success();
  const json::Object *in = value->getAsObject();
  if (!in)
    return fail(R"('schedule' must be an object, as {"kind": "cosine"})");
  ScheduleRecipe &schedule = recipe.schedule;
  if (std::string unknown = unknownKey(*in, kScheduleKeys); !unknown.empty())
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

} // namespace autopar
