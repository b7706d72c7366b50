//===- DeadEnds.cpp - Choices that no best solution needs -----------------===//

#include "DeadEnds.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// An edge as one of its nodes sees it.
struct Side {
  const CostGraph::Edge *edge;
  unsigned other;
  size_t stride, otherStride;
  double at(unsigned choice, unsigned otherChoice) const {
    return edge->cells[choice * stride + otherChoice * otherStride];
  }
};

using Adjacency = std::vector<SmallVector<Side, 4>>;

} // namespace

static Adjacency adjacencyOf(const CostGraph &graph) {
  Adjacency sides(graph.nodes.size());
  for (const CostGraph::Edge &edge : graph.edges) {
    size_t columns = graph.nodes[edge.b].size();
    sides[edge.a].push_back({&edge, edge.b, columns, 1});
    sides[edge.b].push_back({&edge, edge.a, 1, columns});
  }
  return sides;
}

Domains allChoices(const CostGraph &graph) {
  Domains domains(graph.nodes.size());
  for (const auto &[node, domain] : zip_equal(graph.nodes, domains))
    for (unsigned choice = 0; choice < node.size(); ++choice)
      if (node[choice] < kIllegal)
        domain.push_back(choice);
  return domains;
}

/// How much more `better` may cost on this edge than `worse`; kIllegal where
/// only `better` can be illegal, -kIllegal where `worse` always is.
static double worstLoss(const Side &side, ArrayRef<unsigned> others,
                        unsigned better, unsigned worse) {
  double loss = -kIllegal;
  for (unsigned other : others) {
    double worseCost = side.at(worse, other);
    if (worseCost == kIllegal)
      continue;
    loss = std::max(loss, side.at(better, other) - worseCost);
  }
  return loss;
}

/// What `better` costs more than `worse` at the neighbours' choices that are
/// best for `worse`: with every choice of theirs the loss is no less.
static double leastLoss(const CostGraph &graph, ArrayRef<Side> sides,
                        ArrayRef<SmallVector<unsigned, 0>> bestOthers,
                        unsigned node, unsigned better, unsigned worse) {
  double loss = graph.nodes[node][better] - graph.nodes[node][worse];
  for (const auto &[side, best] : zip_equal(sides, bestOthers)) {
    double worseCost = side.at(worse, best[worse]);
    if (worseCost == kIllegal)
      return -kIllegal;
    loss += side.at(better, best[worse]) - worseCost;
  }
  return loss;
}

static bool dominates(const CostGraph &graph, const Domains &domains,
                      ArrayRef<Side> sides, unsigned node, unsigned better,
                      unsigned worse) {
  double loss = graph.nodes[node][better] - graph.nodes[node][worse];
  for (const Side &side : sides) {
    double edgeLoss = worstLoss(side, domains[side.other], better, worse);
    if (edgeLoss == -kIllegal)
      return true;
    loss += edgeLoss;
    if (loss == kIllegal)
      return false;
  }
  return loss < 0 || (loss == 0 && better < worse);
}

/// Per choice of a node the choice of the neighbour that costs least beside it.
static SmallVector<unsigned, 0> bestBeside(const Side &side, size_t choices,
                                           ArrayRef<unsigned> own,
                                           ArrayRef<unsigned> others) {
  SmallVector<unsigned, 0> best(choices, others.front());
  for (unsigned choice : own)
    for (unsigned other : others)
      if (side.at(choice, other) < side.at(choice, best[choice]))
        best[choice] = other;
  return best;
}

static bool dropOfNode(const CostGraph &graph, Domains &domains,
                       ArrayRef<Side> sides, unsigned node) {
  std::vector<unsigned> kept = domains[node];
  SmallVector<SmallVector<unsigned, 0>, 4> bestOthers;
  for (const Side &side : sides)
    bestOthers.push_back(
        bestBeside(side, graph.nodes[node].size(), kept, domains[side.other]));
  for (size_t i = 0; i < kept.size();) {
    bool dead = any_of(kept, [&](unsigned better) {
      return better != kept[i] &&
             leastLoss(graph, sides, bestOthers, node, better, kept[i]) <= 0 &&
             dominates(graph, domains, sides, node, better, kept[i]);
    });
    if (dead)
      kept.erase(kept.begin() + i);
    else
      ++i;
  }
  bool changed = kept.size() != domains[node].size();
  domains[node] = std::move(kept);
  return changed;
}

void dropDeadEnds(const CostGraph &graph, Domains &domains) {
  Adjacency sides = adjacencyOf(graph);
  constexpr unsigned kSweeps = 8;
  for (unsigned sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    for (unsigned node = 0; node < graph.nodes.size(); ++node)
      changed |= dropOfNode(graph, domains, sides[node], node);
    if (!changed)
      return;
  }
}

} // namespace autopar
