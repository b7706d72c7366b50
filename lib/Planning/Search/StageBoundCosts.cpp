//===- StageBoundCosts.cpp - What a mesh's stages cost at least -----------===//
//
// The seconds of an op and its reshards depend on its strategy and on how its
// values are sharded. Message passing divides the seconds of each strategy
// among the op's edges to values; a choice at an edge then costs what it does
// under the best strategy. An edge weighs as much as it stands for ops, so that
// equal layers get equal shares and each stage gets the costs of its layers.
//
//===----------------------------------------------------------------------===//

#include "ProblemBuilder.h"
#include "StageBound.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Solver/DualBound.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace autopar {

namespace {

/// An edge between an op and a value, in either order.
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

/// Returns the costs of ops that belong to stages. All other costs are 0.
CostGraph ProblemBuilder::costsInStages() const {
  CostGraph costs = costsOf(problem, std::vector<double>(problem.nodes.size()),
                            std::vector<double>(problem.edges.size()));
  std::vector<bool> isLeftOut(costs.nodes.size(), false);
  for (const auto &[opClass, first] : enumerate(classes.firstOp))
    if (!graph.hasOwnStage(first)) {
      isLeftOut[opNode(opClass)] = true;
      llvm::fill(costs.nodes[opNode(opClass)], 0);
    }
  erase_if(costs.edges, [&](const CostGraph::Edge &edge) {
    return isLeftOut[edge.a] || isLeftOut[edge.b];
  });
  return costs;
}

namespace {

/// The parts of the seconds of its strategies that an op gives to its edges.
struct DividedCosts {
  std::vector<OpEdge> edges;
  MessageTable given;
  std::vector<std::vector<double>> left; // per op and strategy, not given
  std::vector<unsigned> edgeCounts;      // per op
  double seconds;                        // a bound for all ops

  ArrayRef<double> givenTo(const OpEdge &edge) const {
    return edge.ofOp(given.at({edge.edge.a, edge.edge.b}));
  }
};

} // namespace

/// Divides costs. `count` has how many ops a node stands for; 0: it is a value.
static DividedCosts divide(const CostGraph &costs, ArrayRef<double> count,
                           double limit) {
  constexpr unsigned kPasses = 100, kSpread = 20;
  DividedCosts divided;
  std::vector<double> weights;
  for (const CostGraph::Edge &edge : costs.edges) {
    divided.edges.push_back({edge, count[edge.a] > 0});
    weights.push_back(count[divided.edges.back().op()]);
  }
  DualBound bound(costs, allChoices(costs), limit);
  bound.weigh(weights);
  bound.improve(kPasses, kIllegal);
  bound.spread(kSpread);
  divided.seconds = bound.lowerBound();
  divided.given = bound.messages();
  divided.left = costs.nodes;
  divided.edgeCounts.assign(costs.nodes.size(), 0);
  for (const OpEdge &edge : divided.edges) {
    ++divided.edgeCounts[edge.op()];
    for (auto [seconds, given] :
         zip_equal(divided.left[edge.op()], divided.givenTo(edge)))
      seconds -= given;
  }
  return divided;
}

/// Adds the parts of each op class: the seconds given to its edges, and equal
/// shares of the rest.
void ProblemBuilder::addParts(double limit, StageBoundCosts &stages) const {
  CostGraph costs = costsInStages();
  std::vector<double> count(costs.nodes.size(), 0);
  for (auto [node, ops] : zip_equal(folded.opNodes, folded.opCounts))
    count[node] = ops;
  DividedCosts divided = divide(costs, count, limit);
  stages.seconds = divided.seconds;
  std::vector<std::vector<StageBoundCosts::Part>> parts(costs.nodes.size());
  for (const OpEdge &edge : divided.edges) {
    ArrayRef<double> given = divided.givenTo(edge);
    unsigned op = edge.op();
    StageBoundCosts::Part part{edge.value(), {}};
    size_t choices = costs.nodes[edge.value()].size();
    for (size_t choice = 0; choice < choices; ++choice) {
      double least = limit;
      for (size_t strategy = 0; strategy < given.size(); ++strategy)
        least = std::min(
            least, edge.cell(costs, strategy, choice) + given[strategy] +
                       divided.left[op][strategy] / divided.edgeCounts[op]);
      part.seconds.push_back(least / count[op]);
    }
    parts[op].push_back(std::move(part));
  }
  for (unsigned node : folded.opNodes)
    stages.opKinds.push_back(std::move(parts[node]));
}

/// Adds the ops in program order.
void ProblemBuilder::addOps(StageBoundCosts &stages) const {
  std::vector<size_t> positionOf(graph.ops.size(), 0);
  for (const auto &[index, op] : enumerate(graph.ops))
    if (graph.hasOwnStage(index)) {
      positionOf[index] = stages.ops.size();
      stages.ops.push_back(classes.ofOp[index]);
    }
  for (const auto &[index, value] : enumerate(graph.values)) {
    if (!graph.isMadeInOneStage(value))
      continue;
    StageBoundCosts::Sent sent{
        valueNode(classes.ofValue[index]), positionOf[value.producer], {}};
    for (const GraphUse &use : value.uses)
      sent.read.push_back(positionOf[use.op]);
    llvm::sort(sent.read);
    sent.read.erase(llvm::unique(sent.read), sent.read.end());
    stages.sent.push_back(std::move(sent));
  }
}

namespace {

/// The links to or from any other stages.
using LinksToStages = std::set<CommunicationModel::StageLinks>;

} // namespace

/// Adds messages. Each value takes the links that are best for it.
void ProblemBuilder::addMessages(StageBoundCosts &stages) const {
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
    if (value.source == ValueSource::Op)
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

StageBoundCosts ProblemBuilder::stageBoundCosts(double limit) const {
  StageBoundCosts stages;
  for (const ProblemNode &node : problem.nodes)
    stages.choices.push_back(node.choices());
  addParts(limit, stages);
  addOps(stages);
  addMessages(stages);
  return stages;
}

} // namespace autopar
