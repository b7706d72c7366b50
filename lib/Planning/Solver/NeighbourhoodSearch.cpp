//===- NeighbourhoodSearch.cpp - Large-neighbourhood search ---------------===//

#include "NeighbourhoodSearch.h"
#include "BucketElimination.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

double costOf(const CostGraph &graph, ArrayRef<unsigned> choice) {
  double cost = 0;
  for (const auto &[node, c] : zip_equal(graph.nodes, choice))
    cost += node[c];
  for (const CostGraph::Edge &edge : graph.edges)
    cost += edge.cells[choice[edge.a] * graph.nodes[edge.b].size() +
                       choice[edge.b]];
  return cost;
}

NeighbourhoodSearch::NeighbourhoodSearch(const CostGraph &graph,
                                         const Domains &domains,
                                         size_t cellLimit)
    : graph(graph), domains(domains), cellLimit(cellLimit),
      neighbours(graph.nodes.size()) {
  for (const CostGraph::Edge &edge : graph.edges) {
    neighbours[edge.a].push_back(edge.b);
    neighbours[edge.b].push_back(edge.a);
  }
}

/// Returns domains in which nodes that are not free keep only their choice. So
/// do nodes whose domains have lost the choice that they have.
Domains
NeighbourhoodSearch::freeDomains(ArrayRef<unsigned> choice,
                                 const std::vector<bool> &isFree) const {
  Domains over(domains.size());
  for (unsigned node = 0; node < domains.size(); ++node) {
    bool isWhole = isFree[node] && is_contained(domains[node], choice[node]);
    over[node] = isWhole ? domains[node] : std::vector<unsigned>{choice[node]};
  }
  return over;
}

std::optional<CostedChoice> NeighbourhoodSearch::bestOver(const Domains &over) {
  if (largestTable(graph, over, double(cellLimit)) > double(cellLimit))
    return std::nullopt;
  BucketElimination elimination(graph, over);
  elimination.eliminateAll();
  work += elimination.work;
  if (elimination.constant == kIllegal)
    return std::nullopt;
  std::vector<unsigned> choice = elimination.decode({}, {});
  double cost = costOf(graph, choice);
  return CostedChoice{cost, std::move(choice)};
}

/// Finds the best choices of the free nodes beside the others. Returns whether
/// they cost less than `known`, which they then replace.
bool NeighbourhoodSearch::isBetter(CostedChoice &known,
                                   const std::vector<bool> &isFree) {
  std::optional<CostedChoice> found =
      bestOver(freeDomains(known.choice, isFree));
  if (!found || found->cost >= known.cost)
    return false;
  known = std::move(*found);
  return true;
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// Returns nodes that form a forest with their edges: they are added one after
/// the other, from `first` on and around, if they close no cycle with those
/// before.
static std::vector<bool> forestFrom(const Neighbours &neighbours,
                                    unsigned first, bool backwards) {
  size_t count = neighbours.size();
  std::vector<bool> isMember(count, false);
  EquivalenceClasses<unsigned> trees;
  for (size_t i = 0; i < count; ++i) {
    unsigned place = (first + i) % count;
    unsigned node = backwards ? count - 1 - place : place;
    SmallVector<unsigned, 4> touched;
    bool closes = any_of(neighbours[node], [&](unsigned other) {
      if (!isMember[other])
        return false;
      unsigned tree = trees.getLeaderValue(other);
      bool isKnown = is_contained(touched, tree);
      touched.push_back(tree);
      return isKnown;
    });
    if (closes)
      continue;
    isMember[node] = true;
    trees.insert(node);
    for (unsigned tree : touched)
      trees.unionSets(node, tree);
  }
  return isMember;
}

void NeighbourhoodSearch::improveTrees(CostedChoice &known) {
  constexpr unsigned kMost = 16, kInVain = 4, kStarts = 7;
  size_t count = graph.nodes.size();
  unsigned inVain = 0;
  for (unsigned turn = 0; turn < kMost && inVain < kInVain; ++turn) {
    unsigned first = turn * count / kStarts % count;
    bool better = isBetter(known, forestFrom(neighbours, first, turn % 2 == 1));
    inVain = better ? 0 : inVain + 1;
  }
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

std::vector<unsigned> nearestFirst(const Neighbours &neighbours,
                                   unsigned first) {
  std::vector<unsigned> order{first};
  std::vector<bool> isKnown(neighbours.size(), false);
  isKnown[first] = true;
  for (size_t i = 0; i < order.size(); ++i)
    for (unsigned other : neighbours[order[i]])
      if (!isKnown[other]) {
        isKnown[other] = true;
        order.push_back(other);
      }
  return order;
}

/// Returns the region around a node: adds the nearest nodes block by block, and
/// smaller blocks where one is too expensive.
NeighbourhoodSearch::Region
NeighbourhoodSearch::regionAround(unsigned node) const {
  constexpr size_t kBlock = 8, kRefused = 8;
  std::vector<unsigned> order = nearestFirst(neighbours, node);
  Region region{std::vector<bool>(graph.nodes.size(), false), {}, {}};
  Domains over(domains.size(), {0}); // one choice per node that is not free
  size_t block = kBlock, refused = 0;
  for (size_t at = 0; at < order.size() && refused < kRefused;) {
    auto next = ArrayRef(order).slice(at, std::min(block, order.size() - at));
    for (unsigned other : next)
      over[other] = domains[other];
    if (largestTable(graph, over, double(cellLimit)) <= double(cellLimit)) {
      for (unsigned other : next)
        region.isFree[other] = true;
      at += next.size();
      continue;
    }
    for (unsigned other : next)
      over[other] = {0};
    if (block > 1) {
      block /= 2;
      continue;
    }
    ++at;
    ++refused;
  }
  for (unsigned member = 0; member < graph.nodes.size(); ++member)
    if (region.isFree[member] ||
        any_of(neighbours[member],
               [&](unsigned other) { return region.isFree[other]; }))
      region.members.push_back(member);
  return region;
}

/// Does the same for a region, which is skipped if its choices have not changed
/// since they were found to be the best.
bool NeighbourhoodSearch::isBetter(CostedChoice &known, Region &region) {
  auto choices = map_range(
      region.members, [&](unsigned member) { return known.choice[member]; });
  if (llvm::equal(region.best, choices))
    return false;
  bool better = isBetter(known, region.isFree);
  region.best.assign(choices.begin(), choices.end());
  return better;
}

void NeighbourhoodSearch::improveRegions(CostedChoice &known,
                                         double lowerBound) {
  constexpr size_t kFewest = 16, kMost = 48, kNodesEach = 4;
  size_t count = graph.nodes.size();
  size_t most = std::min(count, std::clamp(count / kNodesEach, kFewest, kMost));
  size_t inVain = 0;
  for (size_t turn = 0; inVain < most && known.cost > lowerBound; ++turn) {
    unsigned node = turn % most * count / most;
    auto [region, isNew] = regions.try_emplace(node);
    if (isNew)
      region->second = regionAround(node);
    inVain = isBetter(known, region->second) ? 0 : inVain + 1;
  }
}

} // namespace autopar
