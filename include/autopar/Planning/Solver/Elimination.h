//===- Elimination.h - Cheapest choices of a graph of pairwise costs ------===//

#ifndef AUTOPAR_PLANNING_SOLVER_ELIMINATION_H
#define AUTOPAR_PLANNING_SOLVER_ELIMINATION_H

#include "autopar/Planning/Solver/CostGraph.h"
#include <map>

namespace autopar {

/// By two nodes that an edge joins: what message passing moved from the edge to
/// their choices, in seconds, with the sign of what the edge was given.
struct EdgeMessages {
  std::vector<double> ofA, ofB; // per choice
};
using MessageTable = std::map<std::pair<unsigned, unsigned>, EdgeMessages>;

struct EliminationResult {
  std::vector<unsigned> choice;
  double cost = 0; // kIllegal: no choices are legal, or of interest
  double lowerBound = 0;
  double work = 0; // table cells computed
  /// Cells of the table that an exact answer would have taken in the end: below
  /// so many, another limit changes nothing. 0: it is exact, or of no interest.
  double largestTable = 0;
  bool isRough = false; // a thorough search may find something better
};

/// What is done where message passing leaves a gap: nothing more, or, of up to
/// 256 nodes, a search around several solutions, which may take seconds.
enum class Effort { Quick, Thorough };
/// A thorough search is worth it where more than this share of the cost is
/// open.
inline constexpr double kWorthThorough = 0.01;

/// Removes choices that another choice of the node is never worse than
/// (dead-end elimination); eliminates the nodes of at most two neighbours, each
/// from the tables of all that touches it; then the others in the same way
/// (bucket elimination): exact, and cheap where the graph is nearly a tree.
///
/// Where a table would have more than `cellLimit` cells, message passing moves
/// costs until its lower bound and the best solution so far rule out enough
/// choices. If that does not suffice either, the best solution found is given
/// with the bound. From `cutoff` on nothing is of interest. `messages`: where
/// message passing starts, and gets where it ended: on a graph of the same
/// nodes with costs alike it is soon done.
EliminationResult eliminate(const CostGraph &graph, size_t cellLimit,
                            double cutoff = kIllegal,
                            MessageTable *messages = nullptr,
                            Effort effort = Effort::Quick);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_ELIMINATION_H
