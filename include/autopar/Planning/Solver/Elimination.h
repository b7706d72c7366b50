//===- Elimination.h - Cheapest choices of a graph of pairwise costs ------===//

#ifndef AUTOPAR_PLANNING_SOLVER_ELIMINATION_H
#define AUTOPAR_PLANNING_SOLVER_ELIMINATION_H

#include "autopar/Planning/Solver/CostGraph.h"
#include <map>

namespace autopar {

/// The messages of an edge: the costs that message passing moved from the edge
/// to the choices of its two nodes, in seconds, with the sign of their addition
/// to the edge. MessageTable has them by the two nodes.
struct EdgeMessages {
  std::vector<double> ofA, ofB; // per choice
};
using MessageTable = std::map<std::pair<unsigned, unsigned>, EdgeMessages>;

struct EliminationResult {
  std::vector<unsigned> choice;
  double cost = 0; // kIllegal if no legal choices are of interest
  double lowerBound = 0;
  double work = 0; // table cells computed
  /// The cells of the largest table that an exact answer would have needed in
  /// the end: cell limits below this give the same answer. 0 if the answer is
  /// exact or of no interest.
  double largestTable = 0;
  bool isRough = false; // a thorough search may find something better
};

/// The effort where message passing leaves a gap. Quick does nothing more;
/// Thorough searches around several solutions of graphs of up to 256 nodes,
/// which may take seconds.
enum class Effort { Quick, Thorough };
/// A thorough search is worth its time where the gap is more than this share of
/// the cost.
inline constexpr double kWorthThorough = 0.01;

/// Finds the cheapest choices. It first removes choices that are never better
/// than another choice of their node (dead-end elimination). It then eliminates
/// the nodes of at most two neighbours, each from the tables of its node and
/// edges, and the other nodes in the same way (bucket elimination). That is
/// exact, and cheap where the graph is nearly a tree.
///
/// If a table would have more than `cellLimit` cells, message passing moves
/// costs until its lower bound and the best solution so far rule out enough
/// choices. If that does not suffice either, the result is the best solution
/// found, with the bound. Solutions of `cutoff` seconds or more are of no
/// interest. `messages` are those at which message passing starts, and is set
/// to those at which it ended: on a graph of the same nodes with similar costs
/// it then ends soon.
EliminationResult eliminate(const CostGraph &graph, size_t cellLimit,
                            double cutoff = kIllegal,
                            MessageTable *messages = nullptr,
                            Effort effort = Effort::Quick);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_ELIMINATION_H
