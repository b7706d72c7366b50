//===- KeepDecisions.cpp - What still holds of an old plan ----------------===//

#include "autopar/Planning/Constraints/KeepDecisions.h"
#include "autopar/Planning/Constraints/MicroBatches.h"
#include "autopar/Planning/Model/ChoiceText.h"
#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "autopar/Planning/Plan/MatchPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

namespace {

/// An axis of the old mesh and the new axis of the same name, as lists of
/// sub-axes. A list is empty if the axis has one device or does not exist.
struct AxisPair {
  std::string name;
  SmallVector<unsigned> before, now;
  bool sameSize;

  std::string notInParts() const {
    return now.empty()
               ? "axis '" + name + "' is gone"
               : "axis '" + name + "' has another size and was used in parts";
  }
};

constexpr StringLiteral kDemanded = "the constraints say otherwise";

/// Visits ops and values and narrows their limits.
class Keeper {
public:
  Keeper(const PlanRequest &request, const ModelGraph &graph, const Mesh &mesh,
         int64_t stages, Limits &limits)
      : old(request.from->plan), graph(graph), mesh(mesh), stages(stages),
        limits(limits), place(request.constraints.list.size() - 1),
        match(matchPlan(old, graph)), keptOps(graph.ops.size()) {}
  KeptDecisions run();

private:
  void pairAxes();
  void keepOp(unsigned index, const PlannedOp &planned);
  std::optional<std::string> choicesOver(const AxisPair &axis,
                                         const PlannedOp &planned,
                                         SmallVector<Choice> &choices) const;
  std::optional<std::string> whyNot(unsigned index,
                                    Assignment assignment) const;
  std::optional<std::string> addAxis(const AxisPair &axis, unsigned index,
                                     const PlannedOp &planned,
                                     Assignment &assignment) const;
  void keepValue(unsigned index, const PlannedValue &planned);
  bool isUsedAsBefore(const GraphValue &value) const;
  std::optional<std::string> translate(ArrayRef<unsigned> before,
                                       SmallVectorImpl<unsigned> &now) const;
  std::optional<std::string> translate(const GraphValue &value,
                                       const Sharding &before,
                                       Sharding &now) const;
  bool isTooSmall(int64_t size, ArrayRef<unsigned> subAxes) const {
    return !sameSizes && mesh.product(subAxes) > size;
  }
  std::string tooSmall(int64_t size, ArrayRef<unsigned> subAxes) const {
    return ("axis " + join(mesh.spell(subAxes), ", ") + " cannot split " +
            Twine(size) + " elements into " + Twine(mesh.product(subAxes)))
        .str();
  }
  template <typename Item>
  void dropAbsent(const std::vector<Item> &items, ArrayRef<const Item *> found,
                  DecisionKind kind);
  void keepStages();
  void drop(DecisionKind kind, StringRef reason, StringRef name,
            const Twine &why);

  const Plan &old;
  const ModelGraph &graph;
  const Mesh &mesh;
  int64_t stages;
  Limits &limits;
  unsigned place; // the index of the constraint Kept
  PlanMatch match;
  bool sameSizes = false; // of the model and of all axes
  SmallVector<AxisPair> axes;
  bool hasNewAxis = false;      // with several devices
  std::vector<AxisDemand> time; // what ops do along the time axis
  std::vector<bool> keptOps;    // over all axes that are there
  /// Indices of KeptDecisions::dropped.
  std::map<std::pair<DecisionKind, std::string>, size_t> groups;
  KeptDecisions kept;
};

} // namespace

void Keeper::drop(DecisionKind kind, StringRef reason, StringRef name,
                  const Twine &why) {
  constexpr size_t kNames = 3;
  auto [it, inserted] =
      groups.try_emplace(std::pair(kind, reason.str()), kept.dropped.size());
  if (inserted)
    kept.dropped.push_back({kind, why.str(), 0, {}});
  DroppedDecisions &group = kept.dropped[it->second];
  ++group.count;
  if (group.names.size() < kNames)
    group.names.push_back(name.str());
}

void Keeper::pairAxes() {
  for (const MeshAxis &axis : old.mesh.axes()) {
    if (axis.name == kTimeAxis || axis.size == 1)
      continue;
    SmallVector<unsigned> now =
        mesh.lookup(axis.name).value_or(SmallVector<unsigned>());
    axes.push_back({axis.name, *old.mesh.lookup(axis.name), now,
                    mesh.product(now) == axis.size});
  }
  sameSizes = old.modelHash == graph.hash &&
              all_of(axes, [](const AxisPair &axis) { return axis.sameSize; });
  hasNewAxis = any_of(mesh.axes(), [&](const MeshAxis &axis) {
    return axis.name != kTimeAxis && axis.size > 1 &&
           none_of(axes,
                   [&](const AxisPair &p) { return p.name == axis.name; });
  });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Finds the op's old choices for an axis. An axis of another size makes the
/// old choice with all its devices. Returns the reason if it cannot.
std::optional<std::string>
Keeper::choicesOver(const AxisPair &axis, const PlannedOp &planned,
                    SmallVector<Choice> &choices) const {
  for (unsigned subAxis : axis.before)
    choices.push_back(planned.assignment[subAxis]);
  if (axis.sameSize)
    return std::nullopt;
  bool isOne = all_equal(choices);
  Choice first = choices.front();
  choices.assign(axis.now.size(), first);
  bool isLost = axis.now.empty() && first.kind != Choice::None;
  return isOne && !isLost ? std::nullopt : std::optional(axis.notInParts());
}

/// Returns why an assignment is illegal beside the choice for the time axis.
std::optional<std::string> Keeper::whyNot(unsigned index,
                                          Assignment assignment) const {
  const GraphOp &op = graph.ops[index];
  for (const auto &[choice, subAxis] : zip_equal(assignment, mesh.subAxes()))
    if (subAxis.time && !time.empty() && !time[index].empty())
      choice = time[index].front();
  if (!shardingsOf(op.facts->rule, assignment, mesh))
    return whyIllegal(graph, op, assignment, mesh);
  for (const auto &[factor, item] : enumerate(op.facts->rule.factors))
    if (SmallVector<unsigned, 2> subAxes = subAxesOf(assignment, factor);
        isTooSmall(item.size, subAxes))
      return tooSmall(item.size, subAxes);
  return std::nullopt;
}

/// Adds the op's old choices for one axis, or returns why it cannot.
std::optional<std::string> Keeper::addAxis(const AxisPair &axis, unsigned index,
                                           const PlannedOp &planned,
                                           Assignment &assignment) const {
  SmallVector<Choice> choices;
  if (std::optional<std::string> why = choicesOver(axis, planned, choices))
    return why;
  Assignment longer = assignment;
  for (const auto &[subAxis, choice] : zip_equal(axis.now, choices)) {
    longer[subAxis] = choice;
    if (!limits.ops[index].subAxes.empty() &&
        !limits.ops[index].subAxes[subAxis].allows(choice))
      return kDemanded.str();
  }
  if (std::optional<std::string> why = whyNot(index, longer))
    return why;
  assignment = std::move(longer);
  return std::nullopt;
}

void Keeper::keepOp(unsigned index, const PlannedOp &planned) {
  const GraphOp &op = graph.ops[index];
  std::string rule = ruleWithoutSizes(op);
  if (!planned.rule.empty() && planned.rule != rule)
    return drop(DecisionKind::Op, "rule", op.name,
                "was " + planned.rule + ", is " + rule);
  Assignment assignment(mesh.subAxes().size());
  SmallVector<unsigned> pinned;
  bool whole = true;
  keptOps[index] = true;
  for (const AxisPair &axis : axes) {
    if (std::optional<std::string> why =
            addAxis(axis, index, planned, assignment)) {
      drop(DecisionKind::Op, axis.name, op.name, *why);
      whole = false;
      keptOps[index] = keptOps[index] && axis.now.empty();
    } else {
      append_range(pinned, axis.now);
    }
  }
  kept.ops += whole;
  if (pinned.empty())
    return;
  OpLimit &limit = limits.ops[index];
  limit.subAxes.resize(mesh.subAxes().size());
  for (unsigned subAxis : pinned)
    limit.subAxes[subAxis].only = SmallVector<Choice, 2>{assignment[subAxis]};
  limit.from.push_back(place);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Translates old sub-axes to those of the axes with the same names, without
/// axes that are gone, or returns why it cannot.
std::optional<std::string>
Keeper::translate(ArrayRef<unsigned> before,
                  SmallVectorImpl<unsigned> &now) const {
  while (!before.empty()) {
    if (old.mesh.subAxes()[before.front()].time) {
      before = before.drop_front();
      continue;
    }
    const AxisPair *axis = find_if(axes, [&](const AxisPair &p) {
      return is_contained(p.before, before.front());
    });
    size_t part = find(axis->before, before.front()) - axis->before.begin();
    if (axis->sameSize || axis->now.empty()) {
      if (axis->sameSize)
        now.push_back(axis->now[part]);
      before = before.drop_front();
      continue;
    }
    if (before.take_front(axis->before.size()) != ArrayRef(axis->before))
      return axis->notInParts();
    append_range(now, axis->now);
    before = before.drop_front(axis->before.size());
  }
  return std::nullopt;
}

/// Returns whether the ops around a value are kept; else it is searched, too.
bool Keeper::isUsedAsBefore(const GraphValue &value) const {
  if (value.source == ValueSource::Op)
    return keptOps[value.producer];
  return value.uses.empty() || any_of(value.uses, [&](const GraphUse &use) {
           return keptOps[use.op];
         });
}

/// Translates a sharding to the axes of the same names; or returns why not.
std::optional<std::string> Keeper::translate(const GraphValue &value,
                                             const Sharding &before,
                                             Sharding &now) const {
  now = Sharding::replicated(value.shape.size());
  for (const auto &[dim, size, was] :
       zip_equal(now.dims, value.shape, before.dims)) {
    if (std::optional<std::string> why = translate(was.subAxes, dim.subAxes))
      return why;
    if (isTooSmall(size, dim.subAxes))
      return tooSmall(size, dim.subAxes);
  }
  if (before.partial.empty())
    return std::nullopt;
  if (value.source != ValueSource::Op || value.persistent || value.isNext)
    return "it is read in blocks and cannot be partial";
  SmallVector<unsigned> was, is;
  for (const Partial &partial : before.partial)
    was.push_back(partial.subAxis);
  if (std::optional<std::string> why = translate(was, is))
    return why;
  llvm::sort(is);
  for (unsigned subAxis : is)
    now.partial.push_back({subAxis, before.partial.front().kind});
  return std::nullopt;
}

void Keeper::keepValue(unsigned index, const PlannedValue &planned) {
  const GraphValue &value = graph.values[index];
  size_t rank = planned.sharding.dims.size();
  if (rank != value.shape.size())
    return drop(DecisionKind::Tensor, "rank", value.name,
                "had " + Twine(rank) + " dimensions, has " +
                    Twine(value.shape.size()));
  if (axes.empty())
    return;
  if (hasNewAxis)
    return drop(DecisionKind::Tensor, "axis", value.name,
                "the mesh has an axis that the old one has not");
  if (!isUsedAsBefore(value))
    return drop(DecisionKind::Tensor, "ops", value.name,
                "so is what the ops do that make or read it");
  Sharding sharding;
  if (std::optional<std::string> why =
          translate(value, planned.sharding, sharding))
    return drop(DecisionKind::Tensor, "sharding", value.name, *why);
  if (!limits.values[index].allows(sharding, mesh))
    return drop(DecisionKind::Tensor, "demand", value.name, kDemanded);
  ShardingLimit pin;
  for (const DimSharding &dim : sharding.dims)
    pin.dims.push_back(dim.subAxes);
  pin.partial = sharding.partial;
  pin.from = place;
  limits.values[index].pins.push_back(std::move(pin));
  const AxisPair *gone = find_if(axes, [&](const AxisPair &axis) {
    return axis.now.empty() && any_of(axis.before, [&](unsigned subAxis) {
             return planned.sharding.usesSubAxis(subAxis);
           });
  });
  if (gone != axes.end())
    return drop(DecisionKind::Tensor, gone->name, value.name,
                gone->notInParts());
  ++kept.values;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Keeps stages. Values flow only to later stages, also through new ops.
void Keeper::keepStages() {
  if (old.stages == 1)
    return;
  std::vector<int64_t> earliest(graph.ops.size(), 0);
  for (const auto &[index, op] : enumerate(graph.ops)) {
    const PlannedOp *planned = match.ops[index];
    if (!graph.hasOwnStage(index))
      continue;
    earliest[index] = graph.earliestStage(op, earliest);
    if (!planned)
      continue;
    StageLimit &limit = limits.stages[index];
    int64_t stage = planned->stage;
    if (old.stages != stages)
      drop(DecisionKind::Stage, "count", op.name,
           "there were " + Twine(old.stages) + " stages, there are " +
               Twine(stages));
    else if (stage < earliest[index])
      drop(DecisionKind::Stage, "order", op.name,
           "it reads from a later stage");
    else if (!limit.allows(stage))
      drop(DecisionKind::Stage, "demand", op.name, kDemanded);
    else {
      limit.only = earliest[index] = stage;
      limit.from = place;
      ++kept.stages;
    }
  }
}

template <typename Item>
void Keeper::dropAbsent(const std::vector<Item> &items,
                        ArrayRef<const Item *> found, DecisionKind kind) {
  std::vector<bool> isFound(items.size(), false);
  for (const Item *item : found)
    if (item)
      isFound[item - items.data()] = true;
  for (const auto &[item, there] : zip_equal(items, isFound))
    if (!there)
      drop(kind, "absent", item.name, "the model has it no more");
}

KeptDecisions Keeper::run() {
  pairAxes();
  if (mesh.timeCount() > 1) {
    // If this is an error, the trial fails with it, too.
    Expected<std::vector<AxisDemand>> demands =
        microBatchDemands(graph, mesh.timeCount());
    if (demands)
      time = std::move(*demands);
    else
      consumeError(demands.takeError());
  }
  for (const auto &[index, planned] : enumerate(match.ops))
    planned ? keepOp(index, *planned) : void(++kept.newOps);
  for (const auto &[index, planned] : enumerate(match.values))
    planned ? keepValue(index, *planned) : void(++kept.newValues);
  keepStages();
  dropAbsent(old.ops, ArrayRef(match.ops), DecisionKind::Op);
  dropAbsent(old.values, ArrayRef(match.values), DecisionKind::Tensor);
  return std::move(kept);
}

KeptDecisions keepDecisions(const PlanRequest &request, const ModelGraph &graph,
                            const Mesh &mesh, int64_t stages, Limits &limits) {
  if (!request.from)
    return {};
  return Keeper(request, graph, mesh, stages, limits).run();
}

} // namespace autopar
