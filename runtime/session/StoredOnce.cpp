//===- StoredOnce.cpp - Tensors that entries store alike ------------------===//

#include "StoredOnce.h"

#include <map>
#include <string>
#include <utility>

namespace autopar::runtime {

using StateName = std::pair<StateRole, std::string>;

/// Returns a text that is equal for tensors that a rank stores alike.
static std::string textOf(const Manifest &manifest,
                          const PersistentEntry &tensor, int rank) {
  std::string text = tensor.name;
  auto add = [&](int64_t number) {
    text += '\0';
    text += std::to_string(number);
  };
  add(tensor.dtype);
  add(tensor.bytes);
  for (const Interval &part :
       intervalsOf(tensor.dims, manifest.coordinates(rank, 0)))
    for (int64_t number : {part.size, part.start, part.length})
      add(number);
  add(tensor.isParameter);
  if (!tensor.isParameter)
    return text + tensor.fill;
  add(tensor.offset);
  return text + manifest.weightFiles[size_t(tensor.file)].name;
}

static const std::vector<PersistentEntry> &tensorsOf(const Manifest &manifest,
                                                     int rank) {
  return manifest.persistent[size_t(rank / manifest.devicesPerStage)];
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The layouts of each state on each rank, by name.
using StoredStates = std::map<StateName, std::map<int, std::string>>;

static StoredStates statesOf(const Manifest &manifest) {
  StoredStates states;
  for (int rank = 0; rank < manifest.worldSize(); ++rank)
    for (const PersistentEntry &tensor : tensorsOf(manifest, rank))
      if (tensor.isState)
        states[{tensor.role, tensor.name}][rank] =
            textOf(manifest, tensor, rank);
  return states;
}

/// Returns whether the two have a common state and store all common states
/// alike.
static bool areAlike(const StoredStates &group, const StoredStates &states) {
  bool isAny = false;
  for (const auto &[name, stored] : states)
    if (auto found = group.find(name); found != group.end()) {
      if (found->second != stored)
        return false;
      isAny = true;
    }
  return isAny;
}

std::vector<int> groupsOfStates(const std::vector<const Manifest *> &entries) {
  std::vector<StoredStates> groups;
  std::vector<int> result;
  for (const Manifest *manifest : entries) {
    StoredStates states = statesOf(*manifest);
    size_t group = 0;
    while (group < groups.size() && !areAlike(groups[group], states))
      ++group;
    if (group == groups.size())
      groups.emplace_back();
    groups[group].insert(states.begin(), states.end());
    result.push_back(int(group));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// All tensors
//===----------------------------------------------------------------------===//

std::vector<std::vector<int>>
numbersOfTensors(const std::vector<const Manifest *> &entries, int rank) {
  std::vector<int> groups = groupsOfStates(entries);
  std::map<std::string, int> numbers;
  std::vector<std::vector<int>> result;
  for (size_t entry = 0; entry < entries.size(); ++entry) {
    const Manifest &manifest = *entries[entry];
    result.emplace_back();
    for (const PersistentEntry &tensor : tensorsOf(manifest, rank)) {
      result.back().push_back(-1);
      if (!tensor.isParameter && !tensor.isState)
        continue;
      std::string key = tensor.isState
                            ? "state " + std::to_string(groups[entry]) + " " +
                                  std::to_string(int(tensor.role)) + " "
                            : "parameter ";
      key += textOf(manifest, tensor, rank);
      result.back().back() =
          numbers.emplace(key, int(numbers.size())).first->second;
    }
  }
  return result;
}

} // namespace autopar::runtime
