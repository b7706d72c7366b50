//===- EnumerateStrategies.cpp - All legal ways to run an op on a mesh ----===//

#include "autopar/Planning/Constraints/EnumerateStrategies.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Adds options for an axis of which two splits are demanded (height, then
/// width): the major sub-axes make one split and the others the other.
static void addSharedOptions(const AxisDemand &demand, size_t subAxes,
                             SmallVector<Assignment> &options) {
  for (const auto &[index, first] : enumerate(demand))
    for (const Choice &second : ArrayRef(demand).drop_front(index + 1))
      for (size_t count = 1; count < subAxes; ++count) {
        Assignment option(subAxes, second);
        std::fill_n(option.begin(), count, first);
        options.push_back(std::move(option));
      }
}

/// Returns what the sub-axes of one axis may do. Each choice is made by as many
/// sub-axes as can make it.
static SmallVector<Assignment> axisOptions(const ShardingRule &rule,
                                           ArrayRef<SubAxis> subAxes,
                                           const AxisDemand &demand) {
  SmallVector<Assignment> options{Assignment(subAxes.size())};
  bool time = !subAxes.empty() && subAxes.front().time;
  for (const auto &[index, factor] : enumerate(rule.factors)) {
    if (factor.size < 2 || (time && factor.kind != FactorKind::Parallel))
      continue;
    for (size_t count = subAxes.size(); count > 0; --count) {
      int64_t parts = 1;
      for (const SubAxis &subAxis : subAxes.take_front(count))
        parts *= subAxis.size;
      if (!canSplit(rule, index, parts))
        continue;
      Assignment option(subAxes.size());
      for (size_t i = 0; i < count; ++i)
        option[i] = {Choice::Split, unsigned(index)};
      options.push_back(std::move(option));
      break;
    }
  }
  if (!time && !subAxes.empty())
    for (unsigned pass = 0; pass < rule.passes.size(); ++pass) {
      Assignment option(subAxes.size());
      llvm::fill(option, Choice{Choice::Pass, pass});
      options.push_back(std::move(option));
    }
  addSharedOptions(demand, subAxes.size(), options);
  return options;
}

/// Returns the choices of the limited sub-axes of an axis; the other sub-axes
/// do nothing yet. Limited sub-axes with several choices change their choice at
/// most once along the axis.
static SmallVector<Assignment> limitedOptions(ArrayRef<SubAxisLimit> limits) {
  struct Option {
    Assignment choices;
    std::optional<Choice> last;
    bool changed = false;
  };
  SmallVector<Option> options{{}};
  for (const SubAxisLimit &limit : limits) {
    SmallVector<Option> longer;
    for (const Option &option : options) {
      if (!limit.only) {
        longer.push_back(option);
        longer.back().choices.push_back(Choice());
        continue;
      }
      for (const Choice &choice : *limit.only) {
        bool changes =
            limit.only->size() > 1 && option.last && !(*option.last == choice);
        if (changes && option.changed)
          continue;
        longer.push_back(option);
        longer.back().choices.push_back(choice);
        longer.back().last = choice;
        longer.back().changed |= changes;
      }
    }
    options = std::move(longer);
  }
  SmallVector<Assignment> result;
  for (Option &option : options)
    result.push_back(std::move(option.choices));
  return result;
}

/// Returns the options of an axis some of whose sub-axes are limited. The other
/// sub-axes choose together.
static SmallVector<Assignment> axisOptions(const ShardingRule &rule,
                                           ArrayRef<SubAxis> subAxes,
                                           const AxisDemand &demand,
                                           ArrayRef<SubAxisLimit> limits) {
  if (limits.empty() && demand.size() == 1 && demand.front() == Choice())
    return {Assignment(subAxes.size())}; // every op can do nothing
  SmallVector<SubAxis> free;
  SmallVector<size_t> places;
  for (const auto &[place, limit] : enumerate(limits))
    if (!limit.only) {
      free.push_back(subAxes[place]);
      places.push_back(place);
    }
  if (limits.empty() || free.size() == subAxes.size())
    return axisOptions(rule, subAxes, demand);
  SmallVector<Assignment> options;
  for (const Assignment &limited : limitedOptions(limits))
    for (const Assignment &other : axisOptions(rule, free, demand)) {
      options.push_back(limited);
      for (const auto &[place, choice] : zip_equal(places, other))
        options.back()[place] = choice;
    }
  return options;
}

/// Returns how many sub-axes do what is demanded of their axis.
static unsigned scoreOf(const Assignment &assignment, const Mesh &mesh,
                        const OpDemand &demand) {
  unsigned score = 0;
  for (const auto &[choice, subAxis] : zip_equal(assignment, mesh.subAxes()))
    if (subAxis.axis < demand.size() &&
        is_contained(demand[subAxis.axis], choice))
      ++score;
  return score;
}

std::vector<OpStrategy> enumerateStrategies(const ShardingRule &rule,
                                            const Mesh &mesh,
                                            const OpDemand &demand,
                                            const OpLimit &limit) {
  std::vector<Assignment> combinations{{}};
  for (unsigned axis = 0; axis < mesh.axes().size(); ++axis) {
    SmallVector<SubAxis> subAxes;
    SmallVector<SubAxisLimit> limits;
    for (const auto &[index, subAxis] : enumerate(mesh.subAxes())) {
      if (subAxis.axis != axis)
        continue;
      subAxes.push_back(subAxis);
      if (!limit.subAxes.empty())
        limits.push_back(limit.subAxes[index]);
    }
    SmallVector<Assignment> options =
        axisOptions(rule, subAxes,
                    axis < demand.size() ? demand[axis] : AxisDemand(), limits);
    std::vector<Assignment> longer;
    for (const Assignment &prefix : combinations)
      for (const Assignment &option : options) {
        longer.push_back(prefix);
        append_range(longer.back(), option);
      }
    combinations = std::move(longer);
  }
  std::vector<OpStrategy> strategies;
  unsigned best = 0;
  for (Assignment &assignment : combinations) {
    std::optional<OpShardings> shardings = shardingsOf(rule, assignment, mesh);
    if (!shardings || !limit.allows(assignment))
      continue;
    unsigned score = scoreOf(assignment, mesh, demand);
    if (score < best)
      continue;
    if (score > best)
      strategies.clear();
    best = score;
    strategies.push_back({std::move(assignment), std::move(*shardings)});
  }
  return strategies;
}

} // namespace autopar
