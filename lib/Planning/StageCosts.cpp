//===- StageCosts.cpp - What a mesh's stages cost at least ----------------===//
//
// An op's seconds and those of the reshards at it depend on its strategy and on
// how its values are sharded. Message passing divides the strategy's seconds
// among the edges to the values; each is then worth what it is under the best
// strategy. Edges weigh as much as ops have them: what one layer costs is
// divided as in the others, so that stages have their share of it.
//
//===----------------------------------------------------------------------===//

#include "DualBound.h"
#include "ProblemBuilder.h"
#include "StageBound.h"
#include "Strategies.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace autopar {

namespace {

/// An edge between an op and a value, whichever comes first.
struct OpEdge {
  const CostGraph::Edge &edge;
  bool opFirst;

  unsigned op() const { return opFirst ? edge.a : edge.b; }
  unsigned value() const { return opFirst ? edge.b : edge.a; }
  ArrayRef<double> ofOp(const EdgeMessages &messages) const {
    return opFirst ? messages.ofA : messages.ofB;
  }
  double cell(const CostGraph &costs, size_t strategy, size_t choice) const {
    size_t columns = costs.nodes[edge.b].size();
    return edge.cells[opFirst ? strategy * columns + choice
                              : choice * columns + strategy];
  }
};

} // namespace

/// Of the ops that stages have; of the others nothing is left.
CostGraph ProblemBuilder::costsInStages() const {
  CostGraph costs = costsOf(problem, std::vector<double>(problem.nodes.size()),
                            std::vector<double>(problem.edges.size()));
  std::vector<bool> isLeftOut(costs.nodes.size(), false);
  for (const auto &[opClass, first] : enumerate(classes.firstOp))
    if (!graph.dependsOnInput(graph.ops[first])) {
      isLeftOut[opNode(opClass)] = true;
      llvm::fill(costs.nodes[opNode(opClass)], 0);
    }
  erase_if(costs.edges, [&](const CostGraph::Edge &edge) {
    return isLeftOut[edge.a] || isLeftOut[edge.b];
  });
  return costs;
}

/// Each op class's parts.
void ProblemBuilder::addParts(double limit, StageCosts &stages) const {
  constexpr unsigned kPasses = 100, kSpread = 20;
  CostGraph costs = costsInStages();
  std::vector<double> count(costs.nodes.size(), 0); // of ops
  for (auto [node, ops] : zip_equal(folded.opNodes, folded.opCounts))
    count[node] = ops;
  std::vector<OpEdge> edges;
  std::vector<double> weights;
  for (const CostGraph::Edge &edge : costs.edges) {
    const OpEdge &item = edges.emplace_back(OpEdge{edge, count[edge.a] > 0});
    weights.push_back(count[item.op()]);
  }
  DualBound bound(costs, allChoices(costs), limit);
  bound.weigh(weights);
  bound.improve(kPasses, kIllegal);
  bound.spread(kSpread);
  stages.seconds = bound.lowerBound();
  MessageTable messages = bound.messages();
  std::vector<std::vector<double>> left = costs.nodes; // for no edge
  std::vector<unsigned> edgeCount(costs.nodes.size(), 0);
  for (const OpEdge &edge : edges) {
    ++edgeCount[edge.op()];
    for (auto [seconds, given] : zip_equal(
             left[edge.op()], edge.ofOp(messages[{edge.edge.a, edge.edge.b}])))
      seconds -= given;
  }
  std::vector<std::vector<StageCosts::Part>> parts(costs.nodes.size());
  for (const OpEdge &edge : edges) {
    ArrayRef<double> given = edge.ofOp(messages[{edge.edge.a, edge.edge.b}]);
    StageCosts::Part part{edge.value(), {}};
    for (size_t choice = 0; choice < costs.nodes[part.decision].size();
         ++choice) {
      double least = limit;
      for (size_t strategy = 0; strategy < given.size(); ++strategy)
        least = std::min(least,
                         edge.cell(costs, strategy, choice) + given[strategy] +
                             left[edge.op()][strategy] / edgeCount[edge.op()]);
      part.seconds.push_back(least / count[edge.op()]);
    }
    parts[edge.op()].push_back(std::move(part));
  }
  for (unsigned node : folded.opNodes)
    stages.opKinds.push_back(std::move(parts[node]));
}

/// In the order of the program.
void ProblemBuilder::addOps(StageCosts &stages) const {
  std::vector<size_t> positionOf(graph.ops.size(), 0);
  for (const auto &[index, op] : enumerate(graph.ops))
    if (graph.dependsOnInput(op)) {
      positionOf[index] = stages.ops.size();
      stages.ops.push_back(classes.ofOp[index]);
    }
  for (const auto &[index, value] : enumerate(graph.values)) {
    if (value.source != ValueSource::Op || !value.fromInput)
      continue;
    StageCosts::Sent sent{
        valueNode(classes.ofValue[index]), positionOf[value.producer], {}};
    for (const GraphUse &use : value.uses)
      sent.read.push_back(positionOf[use.op]);
    llvm::sort(sent.read);
    sent.read.erase(llvm::unique(sent.read), sent.read.end());
    stages.sent.push_back(std::move(sent));
  }
}

namespace {

/// To or from other stages, any of them.
using LinksToStages = std::set<CommunicationModel::StageLinks>;

} // namespace

/// Each value takes the links that are best for it.
void ProblemBuilder::addMessages(StageCosts &stages) const {
  CommunicationModel communication(cluster, mesh);
  std::map<std::pair<LinksToStages, LinksToStages>, unsigned> kinds;
  int64_t count = places.pipeline.stages;
  for (int64_t stage = 0; stage < count; ++stage) {
    LinksToStages before, after;
    for (int64_t other = 0; other < stage; ++other)
      before.insert(communication.linksBetween(other, stage));
    for (int64_t other = stage + 1; other < count; ++other)
      after.insert(communication.linksBetween(stage, other));
    stages.stages.push_back(
        kinds.try_emplace({before, after}, kinds.size()).first->second);
  }
  auto price = [&](const LinksToStages &links, int64_t bytes) {
    double least = links.empty() ? 0 : kIllegal;
    for (const CommunicationModel::StageLinks &link : links)
      least = std::min(least, communication.sendSeconds(bytes, link));
    return least * double(mesh.timeCount());
  };
  std::vector<std::vector<double>> none(problem.nodes.size());
  stages.messages.assign(kinds.size(), {none, none});
  for (const auto &[valueClass, node] : enumerate(folded.valueNodes)) {
    const GraphValue &value = firstValue(valueClass);
    if (value.source == ValueSource::Op && value.fromInput)
      for (const Sharding &candidate : candidates[valueClass]) {
        int64_t bytes = localBytes(value, candidate, mesh);
        for (const auto &[links, kind] : kinds) {
          stages.messages[kind].receive[node].push_back(
              price(links.first, bytes));
          stages.messages[kind].send[node].push_back(
              price(links.second, bytes));
        }
      }
  }
}

StageCosts ProblemBuilder::stageCosts(double limit) const {
  StageCosts stages;
  for (const ProblemNode &node : problem.nodes)
    stages.choices.push_back(node.choices());
  addParts(limit, stages);
  addOps(stages);
  addMessages(stages);
  return stages;
}

} // namespace autopar
