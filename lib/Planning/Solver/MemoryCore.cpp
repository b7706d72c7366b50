//===- MemoryCore.cpp - Problem without nodes that hold no memory ---------===//

#include "MemoryCore.h"
#include "BoundedSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

MemoryCore::MemoryCore(const Problem &problem, CostGraph seconds,
                       const MemoryTerms &row)
    : problem(problem), graph(std::move(seconds)), domains(allChoices(graph)),
      chains(graph, domains), positionOf(problem.nodes.size(), 0) {
  for (const MemoryTerm &term : problem.persistent)
    chains.keep(term.index);
  for (const MemoryTerm &term : row.nodes)
    chains.keep(term.index);
  for (const MemoryTerm &term : row.edges) {
    chains.keep(problem.edges[term.index].a);
    chains.keep(problem.edges[term.index].b);
  }
  chains.eliminateChains(size_t(kSmallTable));
  rest = chains.rest(nodes);
  for (const auto &[position, node] : enumerate(nodes))
    positionOf[node] = position;
  for (const auto &[index, edge] : enumerate(rest.edges))
    edgeAt[{edge.a, edge.b}] = index;
}

bool MemoryCore::mayFix(const std::map<unsigned, unsigned> &fixed) const {
  return all_of(fixed, [&](const auto &choice) {
    return std::binary_search(nodes.begin(), nodes.end(), choice.first);
  });
}

size_t MemoryCore::cells() const {
  size_t sum = 0;
  for (const CostGraph::Edge &edge : rest.edges)
    sum += edge.cells.size();
  return sum;
}

/// Adds the bytes of a node, at `weight` seconds each, to its costs.
void MemoryCore::addNode(unsigned node, double weight,
                         CostGraph &weighed) const {
  ArrayRef<int64_t> bytes = problem.nodes[node].bytes;
  if (!bytes.empty())
    for (auto [cost, choice] :
         zip_equal(weighed.nodes[positionOf[node]], domains[node]))
      cost += weight * double(bytes[choice]);
}

/// Returns the costs of an edge. If one node has a single choice, these are the
/// costs of the other node.
std::vector<double> &MemoryCore::costsBetween(unsigned first, unsigned second,
                                              CostGraph &weighed) const {
  unsigned a = positionOf[first], b = positionOf[second];
  if (domains[second].size() == 1)
    return weighed.nodes[a];
  if (domains[first].size() == 1)
    return weighed.nodes[b];
  return weighed.edges[edgeAt.at({a, b})].cells;
}

void MemoryCore::addEdge(const ProblemEdge &edge, double weight,
                         CostGraph &weighed) const {
  if (edge.bytes.empty())
    return;
  size_t columns = problem.nodes[edge.b].choices();
  auto bytesOf = [&](unsigned a, unsigned b) {
    return weight * double(edge.bytes[a * columns + b]);
  };
  if (edge.a == edge.b) {
    for (auto [cost, choice] :
         zip_equal(weighed.nodes[positionOf[edge.a]], domains[edge.a]))
      cost += bytesOf(choice, choice);
    return;
  }
  auto [first, second] = std::minmax(edge.a, edge.b);
  bool isTurned = first != edge.a;
  std::vector<double> &cells = costsBetween(first, second, weighed);
  size_t cell = 0;
  for (unsigned i : domains[first])
    for (unsigned j : domains[second])
      cells[cell++] += isTurned ? bytesOf(j, i) : bytesOf(i, j);
}

EliminationResult
MemoryCore::minimise(double multiplier, const MemoryTerms &terms,
                     const std::map<unsigned, unsigned> &fixed,
                     size_t cellLimit, double cutoff) {
  CostGraph weighed = rest;
  for (const MemoryTerm &term : problem.persistent)
    addNode(term.index, multiplier * double(term.count), weighed);
  for (const MemoryTerm &term : terms.nodes)
    addNode(term.index, multiplier * double(term.count), weighed);
  for (const MemoryTerm &term : terms.edges)
    addEdge(problem.edges[term.index], multiplier * double(term.count),
            weighed);
  for (auto [node, choice] : fixed)
    for (auto [cost, other] :
         zip_equal(weighed.nodes[positionOf[node]], domains[node]))
      if (other != choice)
        cost = kIllegal;
  EliminationResult result =
      eliminate(weighed, cellLimit, cutoff - chains.constant, &messages);
  result.cost += chains.constant;
  result.lowerBound += chains.constant;
  if (result.cost < kIllegal)
    result.choice = chains.decode(nodes, result.choice);
  return result;
}

} // namespace autopar
