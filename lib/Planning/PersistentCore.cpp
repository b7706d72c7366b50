//===- PersistentCore.cpp - What is left beside persistent memory ---------===//

#include "PersistentCore.h"
#include "BoundedSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

PersistentCore::PersistentCore(const Problem &problem, CostGraph seconds)
    : problem(problem), graph(std::move(seconds)), domains(allChoices(graph)),
      chains(graph, domains) {
  for (const MemoryTerm &term : problem.persistent)
    chains.keep(term.index);
  chains.eliminateChains(size_t(kSmallTable));
  rest = chains.rest(nodes);
}

bool PersistentCore::mayFix(const std::map<unsigned, unsigned> &fixed) const {
  return all_of(fixed, [&](const auto &choice) {
    return std::binary_search(nodes.begin(), nodes.end(), choice.first);
  });
}

size_t PersistentCore::cells() const {
  size_t sum = 0;
  for (const CostGraph::Edge &edge : rest.edges)
    sum += edge.cells.size();
  return sum;
}

EliminationResult
PersistentCore::minimise(double multiplier,
                         const std::map<unsigned, unsigned> &fixed,
                         size_t cellLimit, double cutoff) {
  std::vector<double> weights(problem.nodes.size(), 0);
  for (const MemoryTerm &term : problem.persistent)
    weights[term.index] += multiplier * term.count;
  CostGraph weighed = rest;
  for (auto [costs, node] : zip_equal(weighed.nodes, nodes)) {
    ArrayRef<int64_t> bytes = problem.nodes[node].bytes;
    auto choice = fixed.find(node);
    for (auto [cost, other] : zip_equal(costs, domains[node])) {
      if (!bytes.empty())
        cost += weights[node] * double(bytes[other]);
      if (choice != fixed.end() && choice->second != other)
        cost = kIllegal;
    }
  }
  EliminationResult result =
      eliminate(weighed, cellLimit, cutoff - chains.constant, &messages);
  result.cost += chains.constant;
  result.lowerBound += chains.constant;
  if (result.cost < kIllegal)
    result.choice = chains.decode(nodes, result.choice);
  return result;
}

} // namespace autopar
