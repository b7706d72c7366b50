//===- RecipeAtRunTime.cpp - Hyperparameters that are set between steps ---===//
//
// The recipe's `at_run_time` names numbers of the recipe by their keys, those
// of a group as `groups[0].lr`. `optimizer.` and `schedule.` may stand before a
// key.
//
//===----------------------------------------------------------------------===//

#include "LearningRate.h"
#include "Optimizers.h"
#include "RecipeReader.h"

using namespace llvm;

namespace autopar {

std::string elementName(StringRef name, size_t index, size_t count) {
  return count == 1 ? name.str() : (name + "[" + Twine(index) + "]").str();
}

std::string groupName(size_t group, StringRef name) {
  return ("groups[" + Twine(group) + "]." + name).str();
}

const RunTimeNumber *Recipe::findAtRunTime(StringRef name) const {
  for (const RunTimeNumber &number : atRunTime)
    if (number.name == name)
      return &number;
  return nullptr;
}

namespace {

/// A number outside of the optimizer.
struct NumberRow {
  StringLiteral key;
  NumberRange range;
  bool ofSchedule; // its key is in that object
  /// The number in the recipe; nothing if the recipe has none.
  std::optional<double> (*value)(const Recipe &recipe);
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr NumberRange kAboveZero{0, kInfinity, /*isAboveLeast=*/true},
    kCount{0, kInfinity, false, /*isInteger=*/true},
    kCountFromOne{1, kInfinity, false, /*isInteger=*/true};
/// Normal numbers of f32 whose inverses are such.
constexpr NumberRange kLossScales{0x1p-126, 0x1p126};

constexpr NumberRow kNumbers[] = {
    {"clip_global_norm", kAboveZero, false,
     [](const Recipe &r) { return r.clipGlobalNorm; }},
    {"clip_value", kAboveZero, false,
     [](const Recipe &r) { return r.clipValue; }},
    {"average", {0, 1}, false, [](const Recipe &r) { return r.average; }},
    {"loss_scale", kLossScales, false,
     [](const Recipe &r) { return std::optional(r.lossScale.initial); }},
    {"steps", kCountFromOne, false,
     [](const Recipe &r) { return std::optional<double>(r.steps); }},
    {"warmup_steps", kCount, true,
     [](const Recipe &r) {
       return std::optional<double>(r.schedule.warmupSteps);
     }},
    {"min_lr",
     {},
     true,
     [](const Recipe &r) { return std::optional(r.schedule.minimum); }},
    {"step_size", kCountFromOne, true,
     [](const Recipe &r) {
       return std::optional<double>(r.schedule.stepSize);
     }},
    {"gamma",
     {},
     true,
     [](const Recipe &r) { return std::optional(r.schedule.gamma); }},
    {"power",
     {},
     true,
     [](const Recipe &r) { return std::optional(r.schedule.power); }},
};

/// Why keys that are numbers, or that one might take for such, stay as they
/// are; other keys decide which ops the step has.
constexpr std::pair<StringLiteral, StringLiteral> kReasons[] = {
    {"lr_per_step", "is a table of the program; a schedule without it takes "
                    "'lr' at run time"},
    {"dropout", "is part of the model's ops, and stays as it is compiled"},
    {"seed", "is part of the ops of random numbers, and stays as it is "
             "compiled"},
    {"groups", "has a number of hyperparameters: name one, as "
               "'groups[0].lr'"},
    {"frozen", "decides which gradients there are, and stays as it is "
               "compiled"},
};

constexpr StringLiteral kDecidesOps =
    "decides which ops the step has, and stays as it is compiled";

const NumberRow *findNumber(StringRef key) {
  const auto *row =
      find_if(kNumbers, [&](const NumberRow &row) { return row.key == key; });
  return row == std::end(kNumbers) ? nullptr : row;
}

const Hyperparameter *findHyperparameter(StringRef kind, StringRef key) {
  for (const Hyperparameter &what : findOptimizer(kind)->hyperparameters)
    if (what.name == key)
      return &what;
  return nullptr;
}

} // namespace

Error RecipeReader::failAtRunTime(StringRef name, const Twine &what) const {
  return fail("'at_run_time': '" + name + "' " + what);
}

Error RecipeReader::addNumber(const Twine &name, double initial,
                              const NumberRange &range) {
  std::string text = name.str();
  if (recipe.findAtRunTime(text))
    return failAtRunTime(text, "is there twice");
  recipe.atRunTime.push_back({text, initial, range});
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Hyperparameters of the optimizer and of groups
//===----------------------------------------------------------------------===//

Error RecipeReader::addHyperparameter(OptimizerRecipe &optimizer,
                                      const Hyperparameter &what,
                                      const Twine &prefix) {
  std::string name = (prefix + what.name).str();
  if (what.isFlag)
    return failAtRunTime(name, kDecidesOps);
  if (what.beginsState)
    return failAtRunTime(name, "is what a state begins as, and later steps do "
                               "not depend on it; write that state");
  if (what.name == "lr" && !recipe.schedule.perStep.empty())
    return failAtRunTime(name,
                         "means nothing beside the schedule's 'lr_per_step'");
  if (what.name == "dampening" && optimizer.flag("nesterov"))
    return failAtRunTime(name, "must stay 0: 'nesterov' needs no dampening");
  const std::vector<double> &values = optimizer.values.at(what.name.str());
  for (auto [index, value] : enumerate(values)) {
    std::string element = elementName(what.name, index, values.size());
    std::string own = (prefix + element).str();
    if (Error error = addNumber(own, value, what.range))
      return error;
    optimizer.atRunTime[element] = own;
  }
  return Error::success();
}

Error RecipeReader::addOfOptimizer(StringRef name, StringRef key) {
  const Hyperparameter *what = findHyperparameter(recipe.optimizer.kind, key);
  return what ? addHyperparameter(recipe.optimizer, *what, "")
              : refuse(name, key);
}

const json::Object &RecipeReader::groupObject(size_t number) const {
  return *(*object.getArray("groups"))[number].getAsObject();
}

/// Numbers exclude each other as where groups are read.
Error RecipeReader::checkOfGroup(size_t number, StringRef key,
                                 const Twine &where) const {
  const json::Object &in = groupObject(number);
  auto has = [&](StringRef other) {
    return given(in, other) || recipe.findAtRunTime(groupName(number, other));
  };
  if (recipe.groups[number].frozen)
    return fail(where + "means nothing to parameters that are frozen");
  if ((key == "lr" && has("lr_scale")) || (key == "lr_scale" && has("lr")))
    return fail(where + "is of a group that has '" +
                (key == "lr" ? "lr_scale" : "lr") +
                "', and both exclude each other");
  if (key == "weight_decay" && recipe.optimizer.weightDecayParameters)
    return fail(where + "and the optimizer's 'weight_decay_parameters' "
                        "exclude each other");
  return Error::success();
}

/// `groups[0].lr`
Error RecipeReader::addOfGroup(StringRef name) {
  StringRef text = name;
  size_t number = 0;
  text.consume_front("groups[");
  if (text.consumeInteger(10, number) || !text.consume_front("]."))
    return failAtRunTime(name, "must be as 'groups[0].lr'");
  if (number >= recipe.groups.size())
    return failAtRunTime(name, "is of a group that the recipe has not: there "
                               "are " +
                                   Twine(recipe.groups.size()));
  ParameterGroup &group = recipe.groups[number];
  std::string where = ("'at_run_time': '" + name + "' ").str();
  if (Error error = checkOfGroup(number, text, where))
    return error;
  if (text == "lr_scale")
    return addNumber(name, group.rateScale, {});
  const Hyperparameter *what = findHyperparameter(group.optimizer.kind, text);
  if (!what)
    return refuse(name, text);
  return addHyperparameter(group.optimizer, *what, groupName(number, ""));
}

/// True if a group says a number of the optimizer anew.
static bool saysElement(const json::Value *value, StringRef element) {
  if (!value || value->getAsNull())
    return false;
  const json::Array *list = value->getAsArray();
  size_t at = element.find('['), index = 0;
  if (!list || at == StringRef::npos)
    return true;
  StringRef text = element.drop_front(at + 1);
  return text.consumeInteger(10, index) || !(*list)[index].getAsNull();
}

/// A group follows the optimizer in each number that it does not say itself,
/// also at run time.
void RecipeReader::inheritAtRunTime() {
  for (auto [number, group] : enumerate(recipe.groups))
    for (const auto &[element, name] : recipe.optimizer.atRunTime) {
      StringRef key =
          StringRef(element).take_until([](char each) { return each == '['; });
      if (!saysElement(groupObject(number).get(key), element))
        group.optimizer.atRunTime.try_emplace(element, name);
    }
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Error RecipeReader::addOther(StringRef name, StringRef key) {
  const NumberRow &row = *findNumber(key);
  const ScheduleRecipe &schedule = recipe.schedule;
  bool isScheduled = row.ofSchedule || key == "steps";
  if (isScheduled && !readsNumber(schedule, key))
    return failAtRunTime(
        name, schedule.perStep.empty()
                  ? "means nothing to the schedule '" + schedule.kind + "'"
                  : "means nothing beside the schedule's 'lr_per_step'");
  if (key == "loss_scale" && recipe.lossScale.dynamic)
    return failAtRunTime(name, "adapts by itself, for it is \"dynamic\"");
  std::optional<double> value = row.value(recipe);
  if (!value || (!row.ofSchedule && !given(object, key)))
    return failAtRunTime(name, "is not in the recipe: give it a number there, "
                               "with which the program begins");
  recipe.lossScale.atRunTime |= key == "loss_scale";
  return addNumber(key, *value, row.range);
}

/// A key that stays as it is, or that none knows.
Error RecipeReader::refuse(StringRef name, StringRef key) const {
  for (const auto &[fixed, reason] : kReasons)
    if (fixed == key)
      return failAtRunTime(name, reason);
  bool isOfKind = findHyperparameter(recipe.optimizer.kind, key);
  if (isKey(key) || isOfKind || ownerOf(key) == "schedule" || key == "kind" ||
      key == "weight_decay_parameters" || key == "parameters")
    return failAtRunTime(name, kDecidesOps);
  SmallVector<StringRef> known;
  for (const Hyperparameter &what :
       findOptimizer(recipe.optimizer.kind)->hyperparameters)
    if (!what.isFlag && !what.beginsState)
      known.push_back(what.name);
  for (const NumberRow &row : kNumbers)
    known.push_back(row.key);
  return failAtRunTime(
      name, "is no hyperparameter of " + recipe.optimizer.kind +
                "; known: " + join(known, ", ") +
                ", and of a group as 'groups[0].lr'" + didYouMean(key, known));
}

Error RecipeReader::addAtRunTime(StringRef name) {
  if (name.starts_with("groups["))
    return addOfGroup(name);
  StringRef key = name;
  if (key.consume_front("optimizer."))
    return addOfOptimizer(name, key);
  bool ofSchedule = key.consume_front("schedule.");
  const NumberRow *row = findNumber(key);
  if (row && (row->ofSchedule || !ofSchedule))
    return addOther(name, key);
  return ofSchedule ? refuse(name, key) : addOfOptimizer(name, key);
}

Error RecipeReader::readAtRunTime() {
  const json::Value *value = given(object, "at_run_time");
  if (!value)
    return Error::success();
  const json::Array *list = value->getAsArray();
  for (const json::Value &name : list ? *list : json::Array{nullptr}) {
    std::optional<StringRef> text = name.getAsString();
    if (!text)
      return fail("'at_run_time' must be a list of names of hyperparameters, "
                  R"(as ["lr", "weight_decay"])");
    if (Error error = addAtRunTime(*text))
      return error;
  }
  inheritAtRunTime();
  return Error::success();
}

} // namespace autopar
