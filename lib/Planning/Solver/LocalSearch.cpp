//===- LocalSearch.cpp - Local search over a few nodes --------------------===//

#include "LocalSearch.h"
#include "NeighbourhoodSearch.h"
#include "SolverTuning.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace autopar {

using Group = std::set<unsigned>; // of nodes

/// Returns groups of nodes that are chosen anew at once: two nodes that share
/// an edge, or one node and the nearest ones, as long as the group has few
/// combinations of choices.
static std::vector<Group> groupsOf(const Problem &problem) {
  std::vector<Group> result;
  Neighbours neighbours(problem.nodes.size());
  for (const ProblemEdge &edge : problem.edges) {
    neighbours[edge.a].push_back(edge.b);
    neighbours[edge.b].push_back(edge.a);
    result.push_back({edge.a, edge.b});
  }
  for (unsigned node = 0; node < problem.nodes.size(); ++node) {
    Group &group = result.emplace_back();
    size_t choices = 1;
    for (unsigned near : nearestFirst(neighbours, node)) {
      choices *= problem.nodes[near].choices();
      if (choices > kTuning.groupChoices)
        break;
      group.insert(near);
    }
  }
  return result;
}

/// Offers all combinations of choices of a group, beside the best choices of
/// the other nodes.
static void chooseAnew(Incumbent &incumbent, const Group &group) {
  const Problem &problem = incumbent.question.problem;
  std::vector<unsigned> choice = incumbent.best()->choice;
  for (unsigned node : group)
    choice[node] = 0;
  double each = double(problem.nodes.size() + problem.edges.size());
  for (auto node = group.begin();
       node != group.end() && incumbent.work.isLeft();) {
    incumbent.work.done += each;
    incumbent.offer(choice);
    for (node = group.begin();
         node != group.end() &&
         ++choice[*node] == problem.nodes[*node].choices();
         ++node)
      choice[*node] = 0;
  }
}

void searchAround(Incumbent &incumbent) {
  std::vector<Group> groups = groupsOf(incumbent.question.problem);
  double before = kIllegal;
  while (incumbent.best()->seconds < before && incumbent.work.isLeft()) {
    before = incumbent.best()->seconds;
    for (const Group &group : groups)
      chooseAnew(incumbent, group);
  }
}

} // namespace autopar
