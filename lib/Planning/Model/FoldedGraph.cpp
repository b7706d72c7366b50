//===- FoldedGraph.cpp - A graph by its classes ---------------------------===//

#include "autopar/Planning/Model/FoldedGraph.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace autopar {

/// Two layers are alike if their ops look alike up to a distance of `most`
/// steps; of fewer steps, down to `least`, if there are more than `mostClasses`
/// classes otherwise. The ops that join the first and last layers to the others
/// then get less precise classes, which costs little; more decisions than the
/// search can weigh would cost more.
static constexpr ClassRounds kClassRounds = {2, 6, 500};
/// Layers are folded if that divides the number of ops at least by the first of
/// these, or if a graph has more ops than the second. Folding closes cycles,
/// which make elimination more expensive.
static constexpr unsigned kWorthFolding = 2;
static constexpr size_t kMaxUnfolded = 3000;

static GraphClasses classesOf(const ModelGraph &graph,
                              ArrayRef<unsigned> marks) {
  GraphClasses near = classify(graph, marks, kClassRounds);
  bool folds = near.firstOp.size() * kWorthFolding <= graph.ops.size();
  return folds || graph.ops.size() > kMaxUnfolded
             ? near
             : classify(graph, marks, {unsigned(graph.ops.size())});
}

FoldedGraph::FoldedGraph(const ModelGraph &graph, ArrayRef<unsigned> marks)
    : classes(classesOf(graph, marks)) {
  count(graph);
  findStateSets(graph);
  numberNodes(graph);
  addEdges(graph);
  addMemory(graph);
}

void FoldedGraph::count(const ModelGraph &graph) {
  opCounts.assign(classes.firstOp.size(), 0);
  for (unsigned opClass : classes.ofOp)
    ++opCounts[opClass];
  outputCounts.assign(classes.firstValue.size(), 0);
  for (const auto &[index, value] : enumerate(graph.values))
    outputCounts[classes.ofValue[index]] += value.output;
}

void FoldedGraph::findStateSets(const ModelGraph &graph) {
  EquivalenceClasses<unsigned> sets;
  for (const GraphState &state : graph.states)
    sets.unionSets(classes.ofValue[state.argument],
                   classes.ofValue[state.next]);
  for (const auto *set : sets)
    if (set->isLeader()) {
      auto members = sets.members(*set);
      stateSets.emplace_back(members.begin(), members.end());
      llvm::sort(stateSets.back());
    }
  llvm::sort(stateSets);
}

/// Numbers nodes in the order of the program, so that near ones have near
/// numbers.
void FoldedGraph::numberNodes(const ModelGraph &graph) {
  constexpr unsigned kNone = ~0u;
  opNodes.assign(classes.firstOp.size(), kNone);
  valueNodes.assign(classes.firstValue.size(), kNone);
  auto number = [&](unsigned &node) { node = node == kNone ? nodes++ : node; };
  std::vector<unsigned> decided(valueNodes.size()); // class whose node it has
  std::iota(decided.begin(), decided.end(), 0);
  for (const std::vector<unsigned> &members : stateSets)
    for (unsigned member : members)
      decided[member] = members.front();
  auto numberValue = [&](unsigned valueClass) {
    number(valueNodes[decided[valueClass]]);
    valueNodes[valueClass] = valueNodes[decided[valueClass]];
  };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    for (unsigned value : op.operands)
      numberValue(classes.ofValue[value]);
    number(opNodes[classes.ofOp[index]]);
    for (unsigned value : op.results)
      numberValue(classes.ofValue[value]);
  }
  for (unsigned valueClass = 0; valueClass < valueNodes.size(); ++valueClass)
    numberValue(valueClass); // arguments without a reader
}

void FoldedGraph::addEdges(const ModelGraph &graph) {
  keysOfValue.resize(classes.firstValue.size());
  auto note = [&](unsigned op, unsigned value, bool result, unsigned position) {
    EdgeKey key{classes.ofOp[op], classes.ofValue[value], result, position};
    auto [it, isNew] = edges.try_emplace(key);
    ++it->second.count;
    if (isNew)
      keysOfValue[key.value].push_back(key);
  };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    for (const auto &[position, value] : enumerate(op.results))
      note(index, value, true, position);
    for (const auto &[position, value] : enumerate(op.operands))
      note(index, value, false, op.facts->alike[position]);
  }
  for (auto [index, edge] : enumerate(edges))
    edge.second.index = index;
}

} // namespace autopar
