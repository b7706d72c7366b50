//===- Elimination.cpp - Cheapest choices of a graph of pairwise costs ----===//

#include "autopar/Planning/Solver/Elimination.h"
#include "BoundedSearch.h"
#include "BucketElimination.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

static bool anyEmpty(const Domains &domains) {
  return any_of(domains, [](const auto &domain) { return domain.empty(); });
}

static EliminationResult illegal() {
  EliminationResult result;
  result.cost = result.lowerBound = kIllegal;
  return result;
}

/// Returns the messages of a graph of some of the nodes, `nodes`, over
/// positions in their domains, from those of the whole graph.
static MessageTable messagesOfPart(const MessageTable &whole,
                                   const CostGraph &part,
                                   ArrayRef<unsigned> nodes,
                                   const Domains &domains) {
  MessageTable result;
  auto pick = [&](unsigned node, ArrayRef<double> messages) {
    std::vector<double> picked;
    for (unsigned choice : domains[nodes[node]])
      picked.push_back(messages[choice]);
    return picked;
  };
  for (const CostGraph::Edge &edge : part.edges) {
    auto found = whole.find({nodes[edge.a], nodes[edge.b]});
    if (found != whole.end())
      result[{edge.a, edge.b}] = {pick(edge.a, found->second.ofA),
                                  pick(edge.b, found->second.ofB)};
  }
  return result;
}

/// Returns the messages of the whole graph from those of the part. Choices
/// outside the domains get no messages.
static MessageTable messagesOfWhole(const MessageTable &part,
                                    const CostGraph &whole,
                                    ArrayRef<unsigned> nodes,
                                    const Domains &domains) {
  MessageTable result;
  auto spread = [&](unsigned node, ArrayRef<double> messages) {
    std::vector<double> all(whole.nodes[node].size(), 0);
    for (auto [choice, message] : zip_equal(domains[node], messages))
      all[choice] = message;
    return all;
  };
  for (const auto &[edge, messages] : part) {
    unsigned a = nodes[edge.first], b = nodes[edge.second];
    result[{a, b}] = {spread(a, messages.ofA), spread(b, messages.ofB)};
  }
  return result;
}

/// Solves the graph that remains once chains of nodes are eliminated: exactly
/// if that is cheap, otherwise by bounds.
static EliminationResult solveRest(const CostGraph &graph, size_t cellLimit,
                                   double cutoff, double elsewhere,
                                   MessageTable &messages, Effort effort) {
  Domains domains = allChoices(graph);
  if (anyEmpty(domains))
    return illegal();
  dropDeadEnds(graph, domains);
  double limit = std::min(cellLimit, kSmallTable);
  if (largestTable(graph, domains, limit) > limit)
    return BoundedSearch(graph, std::move(domains), cellLimit, cutoff,
                         elsewhere, effort, messages)
        .run();
  BucketElimination whole(graph, domains);
  whole.eliminateAll();
  if (whole.constant == kIllegal)
    return illegal();
  EliminationResult result;
  result.choice = whole.decode({}, {});
  result.cost = result.lowerBound = costOf(graph, result.choice);
  result.work = whole.work;
  return result;
}

EliminationResult eliminate(const CostGraph &graph, size_t cellLimit,
                            double cutoff, MessageTable *messages,
                            Effort effort) {
  Domains domains = allChoices(graph);
  if (anyEmpty(domains))
    return illegal();
  dropDeadEnds(graph, domains);
  BucketElimination chains(graph, domains);
  chains.eliminateChains(std::min(cellLimit, kSmallTable));
  std::vector<unsigned> nodes;
  CostGraph rest = chains.rest(nodes);
  MessageTable ofRest;
  if (messages)
    ofRest = messagesOfPart(*messages, rest, nodes, domains);
  EliminationResult result =
      solveRest(rest, cellLimit, cutoff - chains.constant, chains.constant,
                ofRest, effort);
  if (messages)
    *messages = messagesOfWhole(ofRest, graph, nodes, domains);
  result.work += chains.work;
  result.lowerBound += chains.constant;
  if (result.cost == kIllegal || chains.constant == kIllegal) {
    result.cost = kIllegal;
    return result;
  }
  bool exact = result.cost + chains.constant <= result.lowerBound;
  // The choices of the remaining graph are positions in the domains.
  result.choice = chains.decode(nodes, result.choice);
  result.cost = costOf(graph, result.choice);
  result.lowerBound =
      exact ? result.cost : std::min(result.lowerBound, result.cost);
  return result;
}

} // namespace autopar
