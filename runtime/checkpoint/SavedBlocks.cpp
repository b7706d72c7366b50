//===- SavedBlocks.cpp - The states of a program --------------------------===//

#include "SavedBlocks.h"

#include "../session/Board.h"

#include <algorithm>
#include <set>

namespace autopar::runtime {

std::string stateKey(StateRole role, const std::string &name) {
  return std::string(stateRoleNames[int(role)]) + "/" + name;
}

/// The part of the state that the intervals have; what they have beyond its
/// end is padding.
static StateBlock blockOf(const PersistentEntry &entry,
                          const std::vector<Interval> &intervals) {
  StateBlock block;
  block.key = stateKey(entry.role, entry.name);
  block.dtype = entry.dtype;
  block.shape = entry.globalShape;
  for (const Interval &interval : intervals) {
    int64_t begin = std::clamp<int64_t>(interval.start, 0, interval.size);
    int64_t end = std::clamp<int64_t>(interval.start + interval.length, begin,
                                      std::max(begin, interval.size));
    block.view.push_back(interval.size);
    block.starts.push_back(begin);
    block.lengths.push_back(end - begin);
  }
  return block;
}

StateBlock wholeOf(const PersistentEntry &entry) {
  return {stateKey(entry.role, entry.name),
          entry.dtype,
          entry.globalShape,
          entry.globalShape,
          std::vector<int64_t>(entry.globalShape.size(), 0),
          entry.globalShape};
}

std::vector<SavedBlock> blocksOfRank(const Manifest &manifest, int rank) {
  int stage = rank / manifest.devicesPerStage;
  std::vector<SavedBlock> blocks;
  for (const ProgramState &state : programStates(manifest)) {
    auto first = std::find_if(state.indices.begin(), state.indices.end(),
                              [](int index) { return index >= 0; });
    if (first - state.indices.begin() != stage)
      continue;
    auto blockAt = [&](int at) {
      return blockOf(*state.entry, intervalsOf(state.entry->dims,
                                               manifest.coordinates(at, 0)));
    };
    StateBlock mine = blockAt(rank);
    bool isSaved = mine.elements() == 0 && state.entry->globalBytes > 0;
    for (int other = stage * manifest.devicesPerStage; other < rank && !isSaved;
         ++other) {
      StateBlock theirs = blockAt(other);
      isSaved = theirs.starts == mine.starts && theirs.lengths == mine.lengths;
    }
    if (!isSaved)
      blocks.push_back({std::move(mine), *first});
  }
  return blocks;
}

Status leaveOutRole(Checkpoint &checkpoint, const std::string &role) {
  if (!mayBeginAnew(role))
    return Status::error("'" + role +
                         "' is no role of states that may begin anew: it is "
                         "none of optimizer, average, loss_scale");
  checkpoint.leaveOut(role + "/");
  return Status::success();
}

/// Returns the end of the message that only the program or only the checkpoint
/// has a state: why that may be, and what helps.
static std::string hintFor(const std::string &key, bool isOfProgram) {
  std::string role = key.substr(0, key.find('/')),
              name = key.substr(key.find('/') + 1);
  std::string why = ": it is of another model or recipe";
  if (mayBeginAnew(role))
    return why + "; --resume-ignoring " + role + " begins such states anew";
  bool isNumber = role == stateRoleNames[int(StateRole::Hyperparameter)];
  return why + (isNumber && isOfProgram
                    ? "; --set " + name + "=NUMBER gives its value"
                    : "");
}

static std::string describeState(const StateBlock &state) {
  std::string text = std::string(dtypeName(state.dtype)) + "[";
  for (size_t d = 0; d < state.shape.size(); ++d)
    text += (d ? "," : "") + std::to_string(state.shape[d]);
  return text + "]";
}

Status checkStates(const Checkpoint &checkpoint, const Manifest &program) {
  const std::string &folder = checkpoint.path();
  const std::map<std::string, StateBlock> &wholes = checkpoint.states();
  std::set<std::string> wanted;
  for (const ProgramState &state : programStates(program)) {
    StateBlock mine = wholeOf(*state.entry);
    wanted.insert(mine.key);
    if (checkpoint.isLeftOut(mine.key))
      continue;
    auto found = wholes.find(mine.key);
    if (found == wholes.end())
      return Status::error("the checkpoint '" + folder + "' has no state '" +
                           mine.key + "', which this program keeps" +
                           hintFor(mine.key, /*isOfProgram=*/true));
    if (found->second.shape != mine.shape || found->second.dtype != mine.dtype)
      return Status::error("state '" + mine.key + "' is " +
                           describeState(found->second) +
                           " in the checkpoint '" + folder + "' but " +
                           describeState(mine) + " in this program");
  }
  for (const auto &[key, state] : wholes)
    if (wanted.count(key) == 0 && !checkpoint.isLeftOut(key))
      return Status::error("the checkpoint '" + folder + "' has the state '" +
                           key + "', which this program does not keep" +
                           hintFor(key, /*isOfProgram=*/false));
  return Status::success();
}

std::string doubtOfHashes(const Checkpoint &checkpoint,
                          const Manifest &program) {
  const ProgramHashes &then = checkpoint.about().hashes, &now = program.hashes;
  auto differs = [](const std::string &a, const std::string &b) {
    return !a.empty() && !b.empty() && a != b;
  };
  std::string optimizer = stateRoleNames[int(StateRole::Optimizer)];
  bool isOtherModel = differs(then.model, now.model);
  bool isOtherRecipe = differs(then.recipe, now.recipe) &&
                       !checkpoint.isLeftOut(optimizer + "/");
  if (!isOtherModel && !isOtherRecipe)
    return "";
  std::string what = isOtherModel && isOtherRecipe ? "model and recipe are"
                     : isOtherModel                ? "the model's graph is"
                                                   : "the recipe is";
  std::string example = isOtherModel ? "another activation"
                                     : "another learning rate or evaluation";
  return what + " not as when the checkpoint '" + checkpoint.path() +
         "' was written (" + example +
         "?), though all its states fit: the training goes on as this program "
         "was compiled";
}

} // namespace autopar::runtime
