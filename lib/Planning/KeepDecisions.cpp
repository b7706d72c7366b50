//===- KeepDecisions.cpp - What still holds of an old plan ----------------===//

#include "autopar/Planning/KeepDecisions.h"
#include "ChoiceText.h"
#include "Stages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace autopar {

namespace {

/// An axis of the old mesh and the one of its name in the new mesh, by their
/// sub-axes; none: one device, or no such axis.
struct AxisPair {
  std::string name;
  SmallVector<unsigned> before, now;
  bool sameSize;

  std::string notInParts() const {
    return now.empty() ? "axis '" + name + "' is gone"
                       : "axis '" + name +
                             "' has another size and was used in parts";
  }
};

constexpr StringLiteral kDemanded = "the constraints say otherwise";

/// Goes through ops and values and narrows their limits.
class Keeper {
public:
  Keeper(const PlanRequest &request, const ModelGraph &graph, const Mesh &mesh,
         int64_t stages, Limits &limits)
      : old(request.from->plan), graph(graph), mesh(mesh), stages(stages),
        limits(limits), place(request.constraints.list.size() - 1),
        sameSizes(old.modelHash == graph.hash), keptOps(graph.ops.size()) {}
  KeptDecisions run();

private:
  void pairAxes();
  void keepOp(unsigned index, const PlannedOp &planned);
  std::optional<std::string> whyOther(const GraphOp &op,
                                      const PlannedOp &planned) const;
  bool translate(const PlannedOp &planned, Assignment &assignment,
                 SmallVector<unsigned> &pinned);
  bool allows(const OpLimit &limit, const Assignment &assignment,
              ArrayRef<unsigned> pinned) const;
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
  template <typename Item, typename Node>
  void dropAbsent(const std::vector<Item> &items,
                  const std::vector<Node> &nodes, StringRef what);
  void keepStages();
  void drop(StringRef what, StringRef reason, StringRef name, const Twine &why);

  const Plan &old;
  const ModelGraph &graph;
  const Mesh &mesh;
  int64_t stages;
  Limits &limits;
  unsigned place; // of what is kept, among the constraints
  bool sameSizes;
  SmallVector<AxisPair> axes;
  bool hasNewAxis = false; // one of several devices
  std::vector<AxisDemand> time; // what ops do along the time axis
  StringMap<const PlannedOp *> ops;
  std::vector<bool> keptOps;
  StringMap<size_t> groups; // of KeptDecisions::dropped, by kind and reason
  KeptDecisions kept;
};

} // namespace

void Keeper::drop(StringRef what, StringRef reason, StringRef name,
                  const Twine &why) {
  constexpr size_t kNames = 3;
  auto [it, inserted] =
      groups.try_emplace((what + " " + reason).str(), kept.dropped.size());
  if (inserted)
    kept.dropped.push_back({what.str(), why.str(), 0, {}});
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
  hasNewAxis = any_of(mesh.axes(), [&](const MeshAxis &axis) {
    return axis.name != kTimeAxis && axis.size > 1 &&
           none_of(axes,
                   [&](const AxisPair &p) { return p.name == axis.name; });
  });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Why the old strategy does not speak of this op.
std::optional<std::string> Keeper::whyOther(const GraphOp &op,
                                            const PlannedOp &planned) const {
  std::string rule = ruleWithoutSizes(op);
  if (planned.rule.empty() || planned.rule == rule)
    return std::nullopt;
  return "was " + planned.rule + ", is " + rule;
}

/// What the op did over each axis, over the axis of that name. An axis of
/// another size does the same with all its devices.
bool Keeper::translate(const PlannedOp &planned, Assignment &assignment,
                       SmallVector<unsigned> &pinned) {
  for (const AxisPair &axis : axes) {
    SmallVector<Choice> choices;
    for (unsigned subAxis : axis.before)
      choices.push_back(planned.assignment[subAxis]);
    if (axis.now.empty()) {
      if (!all_equal(choices) || choices.front().kind != Choice::None)
        drop("op", axis.name, planned.name, axis.notInParts());
      continue;
    }
    if (!axis.sameSize) {
      if (!all_equal(choices)) {
        drop("op", axis.name, planned.name, axis.notInParts());
        return false;
      }
      choices.assign(axis.now.size(), Choice(choices.front()));
    }
    for (const auto &[subAxis, choice] : zip_equal(axis.now, choices)) {
      assignment[subAxis] = choice;
      pinned.push_back(subAxis);
    }
  }
  return true;
}

bool Keeper::allows(const OpLimit &limit, const Assignment &assignment,
                    ArrayRef<unsigned> pinned) const {
  return limit.subAxes.empty() || all_of(pinned, [&](unsigned subAxis) {
           const SubAxisLimit &of = limit.subAxes[subAxis];
           return (!of.only || is_contained(*of.only, assignment[subAxis])) &&
                  !is_contained(of.never, assignment[subAxis]);
         });
}

void Keeper::keepOp(unsigned index, const PlannedOp &planned) {
  const GraphOp &op = graph.ops[index];
  if (std::optional<std::string> why = whyOther(op, planned))
    return drop("op", "rule", op.name, *why);
  Assignment assignment(mesh.subAxes().size());
  SmallVector<unsigned> pinned;
  if (!translate(planned, assignment, pinned) || pinned.empty())
    return;
  for (const auto &[choice, subAxis] : zip_equal(assignment, mesh.subAxes()))
    if (subAxis.time && !time.empty() && !time[index].empty())
      choice = time[index].front();
  if (!shardingsOf(op.rule, assignment, mesh))
    return drop("op", "illegal", op.name,
                whyIllegal(graph, op, assignment, mesh));
  for (const auto &[factor, item] : enumerate(op.rule.factors))
    if (SmallVector<unsigned, 2> subAxes = subAxesOf(assignment, factor);
        isTooSmall(item.size, subAxes))
      return drop("op", "small", op.name, tooSmall(item.size, subAxes));
  OpLimit &limit = limits.ops[index];
  if (!allows(limit, assignment, pinned))
    return drop("op", "demand", op.name, kDemanded);
  limit.subAxes.resize(mesh.subAxes().size());
  for (unsigned subAxis : pinned)
    limit.subAxes[subAxis].only = SmallVector<Choice, 2>{assignment[subAxis]};
  limit.from.push_back(place);
  keptOps[index] = true;
  ++kept.ops;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The sub-axes of the axes of these names; why they cannot be told.
std::optional<std::string> Keeper::translate(ArrayRef<unsigned> before,
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
    if (axis->sameSize) {
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

/// A tensor that nobody makes or wants as before is searched as its ops are.
bool Keeper::isUsedAsBefore(const GraphValue &value) const {
  if (value.source == ValueSource::Op)
    return keptOps[value.producer];
  return value.uses.empty() || any_of(value.uses, [&](const GraphUse &use) {
           return keptOps[use.op];
         });
}

/// The old sharding over the axes of the same names; why it cannot be so.
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
    return drop("tensor", "rank", value.name,
                "had " + Twine(rank) + " dimensions, has " +
                    Twine(value.shape.size()));
  if (axes.empty())
    return;
  if (hasNewAxis)
    return drop("tensor", "axis", value.name,
                "the mesh has an axis that the old one has not");
  if (!isUsedAsBefore(value))
    return drop("tensor", "ops", value.name,
                value.source == ValueSource::Op ? "so is what makes it"
                                                : "so is what reads it");
  Sharding sharding;
  if (std::optional<std::string> why =
          translate(value, planned.sharding, sharding))
    return drop("tensor", "sharding", value.name, *why);
  if (!limits.values[index].allows(sharding, mesh))
    return drop("tensor", "demand", value.name, kDemanded);
  ShardingLimit pin;
  for (const DimSharding &dim : sharding.dims)
    pin.dims.push_back(dim.subAxes);
  pin.partial = sharding.partial;
  pin.from = place;
  limits.values[index].pins.push_back(std::move(pin));
  ++kept.values;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Values flow to later stages only, also through ops that are new.
void Keeper::keepStages() {
  if (old.stages == 1)
    return;
  std::vector<int64_t> earliest(graph.ops.size(), 0);
  for (const auto &[index, op] : enumerate(graph.ops)) {
    const PlannedOp *planned = ops.lookup(op.name);
    if (!graph.dependsOnInput(op))
      continue;
    for (unsigned operand : op.operands)
      if (const GraphValue &value = graph.values[operand];
          value.source == ValueSource::Op)
        earliest[index] = std::max(earliest[index], earliest[value.producer]);
    if (!planned)
      continue;
    StageLimit &limit = limits.stages[index];
    int64_t stage = planned->stage;
    if (old.stages != stages)
      drop("stage of op", "count", op.name,
           "there were " + Twine(old.stages) + " stages, there are " +
               Twine(stages));
    else if (stage < earliest[index])
      drop("stage of op", "order", op.name, "it reads from a later stage");
    else if (!limit.allows(stage))
      drop("stage of op", "demand", op.name, kDemanded);
    else {
      limit.only = earliest[index] = stage;
      limit.from = place;
      ++kept.stages;
    }
  }
}

template <typename Item, typename Node>
void Keeper::dropAbsent(const std::vector<Item> &items,
                        const std::vector<Node> &nodes, StringRef what) {
  StringSet<> names;
  for (const Node &node : nodes)
    names.insert(node.name);
  for (const Item &item : items)
    if (!names.contains(item.name))
      drop(what, "absent", item.name, "the model has none of this name");
}

KeptDecisions Keeper::run() {
  pairAxes();
  if (mesh.timeCount() > 1) {
    // Where it fails, so does the trial.
    Expected<std::vector<AxisDemand>> demands =
        microBatchDemands(graph, mesh.timeCount());
    if (demands)
      time = std::move(*demands);
    else
      consumeError(demands.takeError());
  }
  for (const PlannedOp &op : old.ops)
    ops[op.name] = &op;
  StringMap<const PlannedValue *> values;
  for (const PlannedValue &value : old.values)
    values[value.name] = &value;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (const PlannedOp *planned = ops.lookup(op.name))
      keepOp(index, *planned);
    else
      ++kept.newOps;
  }
  for (const auto &[index, value] : enumerate(graph.values)) {
    if (const PlannedValue *planned = values.lookup(value.name))
      keepValue(index, *planned);
    else
      ++kept.newValues;
  }
  keepStages();
  dropAbsent(old.ops, graph.ops, "op");
  dropAbsent(old.values, graph.values, "tensor");
  return std::move(kept);
}

KeptDecisions keepDecisions(const PlanRequest &request, const ModelGraph &graph,
                            const Mesh &mesh, int64_t stages, Limits &limits) {
  if (!request.from)
    return {};
  return Keeper(request, graph, mesh, stages, limits).run();
}

} // namespace autopar
