//===- ModelGraph.cpp - Names, reachability and hash of a graph -----------===//

#include "autopar/Planning/Model/ModelGraph.h"
#include "autopar/Planning/Model/BatchSize.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace autopar {

/// Appends #1, #2, ... to names that came before.
template <typename Range> static void makeUnique(Range &items) {
  StringMap<unsigned> seen;
  for (auto &item : items) {
    unsigned count = seen[item.name]++;
    while (count > 0) {
      std::string name = item.name + "#" + std::to_string(count);
      if (seen.try_emplace(name, 1).second) {
        item.name = std::move(name);
        break;
      }
      ++count;
    }
  }
}

static void markSources(ModelGraph &graph) {
  for (GraphValue &value : graph.values) {
    value.fromInput = value.source == ValueSource::Input ||
                      (value.source == ValueSource::State && !value.isWeight);
    value.fromParameter = value.isWeight;
  }
  for (const GraphOp &op : graph.ops) {
    bool input = false, parameter = false;
    for (unsigned operand : op.operands) {
      input |= graph.values[operand].fromInput;
      parameter |= graph.values[operand].fromParameter;
    }
    for (unsigned result : op.results) {
      graph.values[result].fromInput = input;
      graph.values[result].fromParameter = parameter && !input;
    }
  }
}

static void findRepeats(ModelGraph &graph) {
  for (const GraphOp &op : graph.ops) {
    SmallVector<unsigned> makers;
    bool isFixed = op.setup;
    for (unsigned operand : op.operands) {
      const GraphValue &value = graph.values[operand];
      if (value.source == ValueSource::Op && value.setup == op.setup)
        makers.push_back(value.producer);
      isFixed |= differsBetweenSteps(value.source);
    }
    graph.repeats.add(makers, isFixed);
  }
}

void ModelGraph::completeStages(MutableArrayRef<int64_t> stages,
                                int64_t count) const {
  for (size_t index = ops.size(); index-- > 0;) {
    if (hasOwnStage(index))
      continue;
    stages[index] = count - 1;
    for (unsigned result : ops[index].results)
      for (const GraphUse &use : values[result].uses)
        stages[index] = std::min(stages[index], stages[use.op]);
  }
}

static uint64_t hashOf(const ModelGraph &graph) {
  std::string text;
  auto number = [&](uint64_t n) { text += std::to_string(n) + ","; };
  for (const GraphValue &value : graph.values) {
    number(unsigned(value.source));
    number(value.elementBytes);
    if (value.isNarrowSum)
      text += 'n';
    for (int64_t size : value.shape)
      number(size);
    text += ';';
  }
  for (const GraphOp &op : graph.ops) {
    text += op.facts->signature;
    for (unsigned operand : op.operands)
      number(operand);
    text += ';';
  }
  for (unsigned result : graph.stepResults)
    number(result);
  for (const GraphState &state : graph.states) {
    number(state.argument);
    number(state.result);
  }
  return xxh3_64bits(text);
}

void finishGraph(ModelGraph &graph) {
  for (const auto &[index, op] : enumerate(graph.ops))
    for (const auto &[operand, value] : enumerate(op.operands))
      graph.values[value].uses.push_back({unsigned(index), unsigned(operand)});
  std::vector<bool> isNext(graph.stepResults.size(), false);
  for (const GraphState &state : graph.states) {
    isNext[state.result] = true;
    graph.values[state.next].isNext = true;
  }
  for (const auto &[result, value] : enumerate(graph.stepResults))
    graph.values[value].output |= !isNext[result];
  makeUnique(graph.ops);
  makeUnique(graph.values);
  markSources(graph);
  findRepeats(graph);
  findBatch(graph);
  graph.hash = hashOf(graph);
}

} // namespace autopar
