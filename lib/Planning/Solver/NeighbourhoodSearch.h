//===- NeighbourhoodSearch.h - Large-neighbourhood search -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SOLVER_NEIGHBOURHOODSEARCH_H
#define AUTOPAR_LIB_PLANNING_SOLVER_NEIGHBOURHOODSEARCH_H

#include "autopar/Planning/Solver/DeadEnds.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace autopar {

/// Returns the seconds of these choices.
double costOf(const CostGraph &graph, llvm::ArrayRef<unsigned> choice);

/// Per node, the nodes that it shares edges with.
using Neighbours = std::vector<llvm::SmallVector<unsigned, 4>>;
/// Returns the nodes by how many edges they are away from `first`, which is the
/// first of them.
std::vector<unsigned> nearestFirst(const Neighbours &neighbours,
                                   unsigned first);

/// Choices of all nodes and what they cost.
struct CostedChoice {
  double cost = kIllegal;
  std::vector<unsigned> choice;
};

/// Large-neighbourhood search: many nodes at once get the best choices beside
/// the current choices of the others, again and again until nothing improves
/// (Shaw, "Using constraint programming and local search methods to solve
/// vehicle routing problems", CP 1998). Elimination finds the best choices.
class NeighbourhoodSearch {
public:
  /// Tables have `cellLimit` cells at most. Graph and domains must outlive
  /// this; domains may lose choices meanwhile.
  NeighbourhoodSearch(const CostGraph &graph, const Domains &domains,
                      size_t cellLimit);

  /// Returns the best choices within such domains; nullopt if the search is not
  /// affordable or there are none.
  std::optional<CostedChoice> bestOver(const Domains &over);
  /// Improves nodes that form trees at once, which is cheap for any number of
  /// nodes.
  void improveTrees(CostedChoice &known);
  /// Improves regions, as large as is affordable, around nodes that are spread
  /// over the graph. This changes cycles of which no part alone can be
  /// improved. Ends where `lowerBound` is reached.
  void improveRegions(CostedChoice &known, double lowerBound);

  /// The number of table cells computed.
  double work = 0;

private:
  Domains freeDomains(llvm::ArrayRef<unsigned> choice,
                      const std::vector<bool> &isFree) const;
  /// Nodes that get new choices at the same time, and the nodes whose choices
  /// influence them.
  struct Region {
    std::vector<bool> isFree;
    llvm::SmallVector<unsigned, 0> members;
    std::vector<unsigned> best; // choices of the members after the last try
  };

  Region regionAround(unsigned node) const;
  bool isBetter(CostedChoice &known, const std::vector<bool> &isFree);
  bool isBetter(CostedChoice &known, Region &region);

  const CostGraph &graph;
  const Domains &domains;
  size_t cellLimit;
  Neighbours neighbours;
  llvm::DenseMap<unsigned, Region> regions; // by the node at the centre
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SOLVER_NEIGHBOURHOODSEARCH_H
