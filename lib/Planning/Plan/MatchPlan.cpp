//===- MatchPlan.cpp - An old plan's ops and tensors in a graph -----------===//

#include "autopar/Planning/Plan/MatchPlan.h"
#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace autopar {

/// Splits a name into a node's name and a number: `fc1#2` into `fc1` and 2.
static std::pair<StringRef, unsigned> splitName(StringRef name) {
  auto [base, digits] = name.rsplit('#');
  unsigned number = 0;
  if (digits.empty() || digits.getAsInteger(10, number))
    return {name, 0};
  return {base, number};
}

/// Returns the items of each node, in their order.
template <typename Item>
static StringMap<std::vector<const Item *>>
byNode(const std::vector<Item> &items) {
  StringMap<std::vector<const Item *>> groups;
  for (const Item &item : items)
    groups[splitName(item.name).first].push_back(&item);
  for (auto &group : groups)
    llvm::sort(group.second, [](const Item *a, const Item *b) {
      return splitName(a->name).second < splitName(b->name).second;
    });
  return groups;
}

/// Returns, per node, the item that matches it by name; null if there is none.
/// `fits` tells whether an item matches a node if their numbers differ.
template <typename Item, typename Node, typename Fits>
static std::vector<const Item *> match(const std::vector<Item> &items,
                                       const std::vector<Node> &nodes,
                                       Fits fits) {
  StringMap<std::vector<const Item *>> before = byNode(items);
  std::vector<const Item *> found(nodes.size());
  for (const auto &group : byNode(nodes)) {
    auto it = before.find(group.first());
    if (it == before.end())
      continue;
    ArrayRef<const Item *> rest = it->second;
    bool asMany = rest.size() == group.second.size();
    for (const Node *node : group.second) {
      const auto *item = find_if(
          rest, [&](const Item *item) { return asMany || fits(*item, *node); });
      if (item == rest.end())
        continue;
      found[node - nodes.data()] = *item;
      rest = rest.drop_front(item - rest.begin() + 1);
    }
  }
  return found;
}

PlanMatch matchPlan(const Plan &plan, const ModelGraph &graph) {
  return {match(plan.ops, graph.ops,
                [](const PlannedOp &planned, const GraphOp &op) {
                  return planned.rule == ruleWithoutSizes(op);
                }),
          match(plan.values, graph.values,
                [](const PlannedValue &planned, const GraphValue &value) {
                  return planned.sharding.dims.size() == value.shape.size();
                })};
}

} // namespace autopar
