//===- Plan.cpp - Whether a plan holds ------------------------------------===//

#include "autopar/Planning/Plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace autopar {

Sharding endPartial(Sharding sharding) {
  sharding.partial.clear();
  return sharding;
}

template <typename Item, typename Node>
static Error alignItems(std::vector<Item> &items,
                        const std::vector<Node> &nodes, StringRef what) {
  StringMap<size_t> index;
  for (const auto &[position, item] : enumerate(items))
    index[item.name] = position;
  std::vector<Item> ordered;
  for (const Node &node : nodes) {
    auto it = index.find(node.name);
    if (it == index.end())
      return createStringError("the plan says nothing about " + what + " " +
                               node.name);
    ordered.push_back(std::move(items[it->second]));
    index.erase(it);
  }
  if (!index.empty())
    return createStringError("the plan names " + what + " " +
                             index.begin()->first() +
                             ", which the model has not");
  items = std::move(ordered);
  return Error::success();
}

Error alignWith(Plan &plan, const ModelGraph &graph) {
  if (plan.modelHash != graph.hash)
    return createStringError("the plan was made for another model (" +
                             plan.model + "): make it anew");
  if (Error error = alignItems(plan.ops, graph.ops, "op"))
    return error;
  return alignItems(plan.values, graph.values, "tensor");
}

/// Rank, atoms that exist, each at most once, no interval.
static Error verifyValue(const PlannedValue &planned, const GraphValue &value,
                         const Mesh &mesh) {
  auto fail = [&](const Twine &what) {
    return createStringError("plan: tensor " + value.name + " " + what);
  };
  if (planned.name != value.name)
    return fail("is called " + planned.name);
  if (planned.sharding.dims.size() != value.shape.size())
    return fail("has " + Twine(value.shape.size()) + " dimensions, not " +
                Twine(planned.sharding.dims.size()));
  std::vector<bool> used(mesh.atoms().size(), false);
  auto use = [&](unsigned atom) {
    bool fresh = atom < used.size() && !used[atom];
    if (fresh)
      used[atom] = true;
    return fresh;
  };
  for (const DimSharding &dim : planned.sharding.dims) {
    if (dim.interval)
      return fail("cannot lie in overlapping intervals");
    if (!all_of(dim.atoms, use))
      return fail("uses a mesh axis twice");
  }
  for (const Partial &partial : planned.sharding.partial)
    if (!use(partial.atom))
      return fail("uses a mesh axis twice");
  return Error::success();
}

static Error verifyOp(const Plan &plan, const PlannedOp &planned,
                      const GraphOp &op) {
  if (planned.name != op.name)
    return createStringError("plan: op " + op.name + " is called " +
                             planned.name);
  if (!shardingsOf(op.rule, planned.assignment, plan.mesh))
    return createStringError(
        "plan: op " + op.name +
        " cannot run so: its sharding rule does not allow this strategy");
  if (planned.stage < 0 || planned.stage >= plan.stages)
    return createStringError("plan: op " + op.name + " is in stage " +
                             Twine(planned.stage) + ", but there are " +
                             Twine(plan.stages));
  return Error::success();
}

static Error verifyStageOrder(const Plan &plan, const ModelGraph &graph) {
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    for (unsigned operand : op.operands) {
      const GraphValue &value = graph.values[operand];
      if (value.source == ValueSource::Op && !value.setup &&
          plan.ops[value.producer].stage > plan.ops[index].stage)
        return createStringError("plan: op " + op.name +
                                 " reads from a later stage");
    }
  }
  return Error::success();
}

Error verify(const Plan &plan, const ModelGraph &graph) {
  if (plan.modelHash != graph.hash)
    return createStringError("the plan was made for another model (" +
                             plan.model + "): make it anew");
  if (plan.ops.size() != graph.ops.size() ||
      plan.values.size() != graph.values.size())
    return createStringError("the plan has " + Twine(plan.ops.size()) +
                             " ops, the model " + Twine(graph.ops.size()));
  if (plan.stages < 1 || plan.microBatches < 1 ||
      plan.microBatches != plan.mesh.timeCount())
    return createStringError(
        "plan: micro_batches must be the size of the mesh's time axis");
  for (const auto &[planned, op] : zip_equal(plan.ops, graph.ops))
    if (Error error = verifyOp(plan, planned, op))
      return error;
  for (const auto &[planned, value] : zip_equal(plan.values, graph.values))
    if (Error error = verifyValue(planned, value, plan.mesh))
      return error;
  return verifyStageOrder(plan, graph);
}

} // namespace autopar
