//===- NeighbourhoodSearch.h - Many choices made anew at once ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_NEIGHBOURHOODSEARCH_H
#define AUTOPAR_LIB_PLANNING_SOLVER_NEIGHBOURHOODSEARCH_H

#include "autopar/Planning/Solver/DeadEnds.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace autopar {

/// Seconds of these choices.
double costOf(const CostGraph &graph, llvm::ArrayRef<unsigned> choice);

/// Per node those that it shares edges with.
using Neighbours = std::vector<llvm::SmallVector<unsigned, 4>>;
/// Nodes by how many edges they are away from `first`, which is one of them.
std::vector<unsigned> nearestFirst(const Neighbours &neighbours,
                                   unsigned first);

/// Choices of all nodes and what they cost.
struct CostedChoice {
  double cost = kIllegal;
  std::vector<unsigned> choice;
};

/// Large-neighbourhood search: of what is known many nodes at once get the best
/// choices beside the others as they are, again and again until none is better
/// (Shaw, "Using constraint programming and local search methods to solve
/// vehicle routing problems", CP 1998). The best is found by elimination.
class NeighbourhoodSearch {
public:
  /// Tables have `cellLimit` cells at most. Graph and domains must outlive
  /// this; domains may lose choices meanwhile.
  NeighbourhoodSearch(const CostGraph &graph, const Domains &domains,
                      size_t cellLimit);

  /// The best choices within such domains; nullopt: they are not affordable, or
  /// there are none.
  std::optional<CostedChoice> bestOver(const Domains &over);
  /// Nodes that make trees: cheap, however many they are.
  void improveTrees(CostedChoice &known);
  /// Nodes around some that are spread over the graph, as many as are
  /// affordable each time: cycles of which no part alone is better otherwise.
  /// Ends where `lowerBound` is met.
  void improveRegions(CostedChoice &known, double lowerBound);

  /// Table cells computed.
  double work = 0;

private:
  Domains freeDomains(llvm::ArrayRef<unsigned> choice,
                      const std::vector<bool> &isFree) const;
  /// Nodes that get choices at once, and those whose choices count for them.
  struct Region {
    std::vector<bool> isFree;
    llvm::SmallVector<unsigned, 0> members;
    std::vector<unsigned> best; // of the members, as they were left
  };

  Region regionAround(unsigned node) const;
  bool isBetter(CostedChoice &known, const std::vector<bool> &isFree);
  bool isBetter(CostedChoice &known, Region &region);

  const CostGraph &graph;
  const Domains &domains;
  size_t cellLimit;
  Neighbours neighbours;
  llvm::DenseMap<unsigned, Region> regions; // by the node that they are around
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_NEIGHBOURHOODSEARCH_H
