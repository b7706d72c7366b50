//===- ParameterGroups.cpp - Which parameters a group has -----------------===//

#include "ParameterGroups.h"
#include "TrainedParameters.h"
#include "autopar/Support/Names.h"
#include "files/MadeUpNames.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::StringRef;

namespace autopar {

/// The advice of a message if no name matches a pattern.
static std::string adviceOn(ArrayRef<StringRef> names) {
  const auto *madeUp = llvm::find_if(names, [](StringRef name) {
    return runtime::isMadeUpName(std::string_view(name));
  });
  if (madeUp == names.end())
    return "; they are listed when the model is compiled without 'groups'";
  return ("; an exporter made up names as '" + *madeUp +
          "': autopar.export_for_training keeps those of the module")
      .str();
}

/// Numbers of `names`, in the order of the patterns.
static FailureOr<llvm::SetVector<size_t>>
membersOf(const ParameterGroup &group, ArrayRef<StringRef> names,
          llvm::function_ref<InFlightDiagnostic()> fail) {
  llvm::SetVector<size_t> members;
  for (StringRef pattern : group.parameters) {
    StringRef glob = pattern;
    bool leavesOut = glob.consume_front("!");
    bool matches = false;
    for (auto [number, name] : llvm::enumerate(names)) {
      if (!matchesName(glob, name) || (leavesOut && !members.contains(number)))
        continue;
      matches = true;
      if (leavesOut)
        members.remove(number);
      else
        members.insert(number);
    }
    if (matches)
      continue;
    if (leavesOut)
      return fail() << "'" << pattern
                    << "' leaves out none of what stands before it";
    std::string near =
        nearestNames(glob, names.size(), [&](size_t i) { return names[i]; });
    return fail() << "'" << pattern << "' matches no parameter that is trained"
                  << (near.empty() ? adviceOn(names) : near);
  }
  return members;
}

FailureOr<llvm::StringMap<const ParameterGroup *>>
findGroups(const Recipe &recipe, bool frozen, ArrayRef<StringRef> names,
           Operation *at) {
  llvm::StringMap<const ParameterGroup *> groupOf;
  for (auto [number, group] : llvm::enumerate(recipe.groups)) {
    if (group.frozen != frozen)
      continue;
    auto fail = [&, number = number] {
      return at->emitError() << "recipe: groups[" << number << "]: ";
    };
    FailureOr<llvm::SetVector<size_t>> members = membersOf(group, names, fail);
    if (failed(members))
      return failure();
    for (size_t member : *members) {
      auto [known, isNew] = groupOf.try_emplace(names[member], &group);
      if (!isNew && !frozen)
        return fail() << "'" << names[member] << "' is in groups["
                      << known->second - recipe.groups.data()
                      << "], too; leave it out of one of them, as by \"!"
                      << names[member] << "\" at its end";
    }
  }
  return groupOf;
}

FailureOr<SmallVector<BlockArgument>> findUnfrozen(StepFunction &step,
                                                   const Recipe &recipe) {
  auto trained = findTrained(step, recipe);
  if (failed(trained))
    return failure();
  SmallVector<StringRef> names;
  for (BlockArgument parameter : *trained)
    names.push_back(cast<ParameterAttr>(step.source(parameter)).getName());
  auto frozen = findGroups(recipe, /*frozen=*/true, names, step.function);
  if (failed(frozen))
    return failure();
  SmallVector<BlockArgument> left;
  for (auto [parameter, name] : llvm::zip_equal(*trained, names))
    if (!frozen->contains(name))
      left.push_back(parameter);
  if (left.empty())
    return step.function.emitError()
           << "recipe: groups: all parameters are frozen; leave one that is "
              "trained";
  return left;
}

} // namespace autopar
