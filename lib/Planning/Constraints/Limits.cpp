//===- Limits.cpp - What constraints leave possible -----------------------===//

#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Model/ChoiceText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

bool OpLimit::allows(const Assignment &assignment) const {
  return all_of(zip(subAxes, assignment), [](auto pair) {
    const auto &[limit, choice] = pair;
    return limit.allows(choice);
  });
}

/// Returns the sub-axes of a dimension that stand for devices.
static SmallVector<unsigned, 2> deviceSubAxes(ArrayRef<unsigned> subAxes,
                                              const Mesh &mesh) {
  SmallVector<unsigned, 2> list;
  copy_if(subAxes, std::back_inserter(list),
          [&](unsigned subAxis) { return !mesh.subAxes()[subAxis].time; });
  return list;
}

bool ShardingLimit::matches(const Sharding &sharding, const Mesh &mesh) const {
  return sharding.partial == partial &&
         all_of(zip_equal(dims, sharding.dims), [&](auto pair) {
           const auto &[wanted, dim] = pair;
           return !wanted || *wanted == deviceSubAxes(dim.subAxes, mesh);
         });
}

bool ValueLimit::allows(const Sharding &sharding, const Mesh &mesh) const {
  auto matches = [&](const ShardingLimit &limit) {
    return limit.matches(sharding, mesh);
  };
  return all_of(pins, matches) && none_of(forbids, matches);
}

/// Removes a sub-axis from all dimensions and partial sums of `sharding`.
static void release(Sharding &sharding, unsigned subAxis) {
  for (DimSharding &dim : sharding.dims)
    erase(dim.subAxes, subAxis);
  erase_if(sharding.partial,
           [&](const Partial &p) { return p.subAxis == subAxis; });
}

Sharding ValueLimit::fit(Sharding sharding, const Mesh &mesh) const {
  for (const ShardingLimit &pin : pins) {
    sharding.partial.clear();
    for (const auto &[wanted, dim] : zip_equal(pin.dims, sharding.dims)) {
      if (!wanted)
        continue;
      erase_if(dim.subAxes,
               [&](unsigned subAxis) { return !mesh.subAxes()[subAxis].time; });
      for (unsigned subAxis : *wanted)
        release(sharding, subAxis);
      append_range(dim.subAxes, *wanted);
    }
    for (const Partial &partial : pin.partial)
      release(sharding, partial.subAxis);
    sharding.partial = pin.partial;
  }
  return sharding;
}

static std::string keyOf(const OpLimit &limit) {
  std::string key;
  for (const SubAxisLimit &subAxis : limit.subAxes) {
    key += subAxis.only ? "o" : "a";
    if (subAxis.only)
      for (const Choice &choice : *subAxis.only)
        key += toString(choice) + ",";
    key += "n";
    for (const Choice &choice : subAxis.never)
      key += toString(choice) + ",";
  }
  return key;
}

static std::string keyOf(const ShardingLimit &limit) {
  std::string key;
  for (const auto &dim : limit.dims) {
    key += dim ? "[" : "*";
    if (dim)
      for (unsigned subAxis : *dim)
        key += std::to_string(subAxis) + ",";
  }
  for (const Partial &partial : limit.partial)
    key += "p" + std::to_string(partial.subAxis) +
           stringifyReduceKind(partial.kind).str();
  return key;
}

static std::string keyOf(const ValueLimit &limit) {
  std::string key;
  for (const ShardingLimit &pin : limit.pins)
    key += "o" + keyOf(pin);
  for (const ShardingLimit &forbid : limit.forbids)
    key += "n" + keyOf(forbid);
  return key;
}

std::string Limits::markOf(const ModelGraph &graph, unsigned op) const {
  if (!constraints)
    return "";
  std::string mark = keyOf(ops[op]) + "|";
  for (unsigned value : graph.ops[op].operands)
    mark += keyOf(values[value]) + ";";
  for (unsigned value : graph.ops[op].results)
    mark += keyOf(values[value]) + ";";
  return mark;
}

//===----------------------------------------------------------------------===//
// Errors if no choice is left
//===----------------------------------------------------------------------===//

Error cannotMeet(const Limits &limits, const ModelGraph &graph, unsigned op,
                 const Mesh &mesh) {
  const OpLimit &limit = limits.ops[op];
  const GraphOp &item = graph.ops[op];
  // The assignment for which the pins ask, if they ask for exactly one. If it
  // is legal, the constraints forbid all assignments.
  Assignment asked(mesh.subAxes().size());
  for (const auto &[choice, subAxis] : zip_equal(asked, limit.subAxes))
    if (subAxis.only && subAxis.only->size() == 1)
      choice = subAxis.only->front();
  std::string why = shardingsOf(item.facts->rule, asked, mesh)
                        ? "the constraints leave it nothing to do"
                        : whyIllegal(graph, item, asked, mesh);
  std::string possible;
  for (unsigned axis = 0; axis < mesh.axes().size(); ++axis) {
    SmallVector<unsigned> subAxes;
    for (const auto &[index, subAxis] : enumerate(mesh.subAxes()))
      if (subAxis.axis == axis && !subAxis.time)
        subAxes.push_back(index);
    if (!subAxes.empty())
      possible += "; " + possibleChoices(graph, item, subAxes, mesh);
  }
  return limits.constraints->fail(
      limits.constraints->list[limit.from.back()],
      "op " + item.name + " cannot meet " +
          (limit.from.size() > 1 ? "this and other constraints" : "this") +
          ": " + why + possible);
}

Error cannotShard(const Limits &limits, const GraphValue &value,
                  const ValueLimit &limit, const Mesh &mesh,
                  ArrayRef<Sharding> known) {
  const Constraints &constraints = *limits.constraints;
  Sharding fitted = limit.fit(Sharding::replicated(value.shape.size()), mesh);
  for (const ShardingLimit &pin : limit.pins)
    if (!pin.matches(fitted, mesh))
      return constraints.fail(
          constraints.list[pin.from],
          "tensor " + value.name + " cannot be sharded so and as constraint " +
              Twine(constraints.list[limit.pins.back().from].number) +
              " says: " + toString(fitted, mesh));
  std::string tried;
  for (const Sharding &sharding : known.take_front(8))
    tried += (tried.empty() ? "" : ", ") + toString(sharding, mesh);
  return constraints.fail(
      constraints.list[limit.forbids.back().from],
      "tensor " + value.name +
          " can be sharded in no way that is allowed; its ops "
          "give and want " +
          tried);
}

} // namespace autopar
