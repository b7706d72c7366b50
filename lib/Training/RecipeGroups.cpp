//===- RecipeGroups.cpp - Reads the groups and the average of a recipe ----===//

#include "Optimizers.h"
#include "RecipeReader.h"

using namespace llvm;

namespace autopar {

/// A frozen group has no hyperparameter, a learning rate no two sources.
Error RecipeReader::checkGroup(const json::Object &in,
                               const ParameterGroup &group,
                               const Twine &where) const {
  if (group.parameters.empty())
    return fail(where + R"(: 'parameters' must be names or globs, as )"
                        R"(["*.bias", "*norm*"])");
  for (const auto &[key, value] : in)
    if (group.frozen && StringRef(key) != "parameters" &&
        StringRef(key) != "frozen")
      return fail(where + ": '" + StringRef(key) +
                  "' means nothing to parameters that are frozen");
  if (given(in, "lr") && given(in, "lr_scale"))
    return fail(where + ": 'lr' and 'lr_scale' exclude each other");
  if (given(in, "lr") && !recipe.schedule.perStep.empty())
    return fail(where + ": 'lr' means nothing beside the schedule's "
                        "'lr_per_step'; give 'lr_scale'");
  if (given(in, "weight_decay") && recipe.optimizer.weightDecayParameters)
    return fail(where + ": 'weight_decay' and the optimizer's "
                        "'weight_decay_parameters' exclude each other");
  return Error::success();
}

Error RecipeReader::readGroup(const json::Object &in, const Twine &where) {
  ParameterGroup group;
  group.optimizer = recipe.optimizer;
  SmallVector<StringRef> known = {"parameters", "lr_scale", "frozen"};
  for (const Hyperparameter &what :
       findOptimizer(recipe.optimizer.kind)->hyperparameters)
    known.push_back(what.name);
  if (std::string unknown = unknownKey(in, known); !unknown.empty())
    return fail(where + ": " + unknown);
  std::optional<std::vector<std::string>> names;
  if (Error error = readNames(in, "parameters", names))
    return error;
  group.parameters = names.value_or(std::vector<std::string>());
  if (const json::Value *frozen = given(in, "frozen")) {
    if (!frozen->getAsBoolean())
      return fail(where + ": 'frozen' must be true or false");
    group.frozen = *frozen->getAsBoolean();
  }
  if (Error error = checkGroup(in, group, where))
    return error;
  if (Error error = readNumber(in, "lr_scale", 0, group.rateScale))
    return error;
  if (Error error = readHyperparameters(in, where, group.optimizer))
    return error;
  recipe.groups.push_back(std::move(group));
  return Error::success();
}

Error RecipeReader::readGroups() {
  const json::Value *value = given(object, "groups");
  if (!value)
    return Error::success();
  const json::Array *list = value->getAsArray();
  if (!list)
    return fail("'groups' must be a list, as "
                R"([{"parameters": ["*.bias"], "weight_decay": 0}])");
  for (const auto &[number, group] : enumerate(*list)) {
    const json::Object *in = group.getAsObject();
    if (!in)
      return fail("groups[" + Twine(number) + "] must be an object");
    if (Error error = readGroup(*in, "groups[" + Twine(number) + "]"))
      return error;
  }
  return Error::success();
}

Error RecipeReader::readAverage() {
  if (!given(object, "average"))
    return Error::success();
  double decay = 0;
  if (Error error = readNumber(object, "average", 0, decay))
    return error;
  if (decay >= 1)
    return fail("'average' must be below 1: the average of a step is so much "
                "of the one before, the rest of the parameter");
  recipe.average = decay;
  return Error::success();
}

} // namespace autopar
