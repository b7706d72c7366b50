//===- MemoryRows.cpp - What is in memory at each launch ------------------===//

#include "FoldedGraph.h"
#include "Numbering.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {
/// The steps at which a value's memory is in use: none if it has no own.
struct Lifetime {
  int64_t first = 0, last = -1;
};
} // namespace

/// Of values that @step computes or gets as inputs, by graph.steps. Reshapes
/// name their operand's memory, and a result may be stored over an operand that
/// dies.
static std::vector<Lifetime> lifetimes(const ModelGraph &graph) {
  int64_t end = graph.steps.size();
  std::vector<Lifetime> lives(graph.values.size());
  std::vector<unsigned> storage(graph.values.size());
  for (const auto &[index, value] : enumerate(graph.values)) {
    storage[index] = index;
    if (value.source == ValueSource::Input)
      lives[index].last = 0;
  }
  for (const auto &[time, step] : enumerate(graph.steps))
    for (unsigned index : step.ops) {
      const GraphOp &op = graph.ops[index];
      for (const auto &[position, value] : enumerate(op.operands))
        if (op.reads[position] || step.view)
          lives[storage[value]].last =
              std::max<int64_t>(lives[storage[value]].last, time);
      for (const auto &[position, value] : enumerate(op.results)) {
        if (step.view)
          storage[value] = storage[op.operands.front()];
        else if (op.writes[position] && lives[value].last < 0)
          lives[value] = {int64_t(time), int64_t(time)};
      }
    }
  for (unsigned value : graph.stepResults)
    lives[storage[value]].last = end;
  auto elements = [&](unsigned value) {
    int64_t count = graph.values[value].elementBytes;
    for (int64_t size : graph.values[value].shape)
      count *= size;
    return count;
  };
  for (const auto &[time, step] : enumerate(graph.steps))
    for (auto [out, in] : step.inPlace) {
      Lifetime &under = lives[storage[in]];
      if (under.last == int64_t(time) && under.first < int64_t(time) &&
          elements(out) == elements(storage[in]))
        --under.last;
    }
  return lives;
}

/// One row per launch: what is live while it runs, and the copies that its
/// reshards make. predictMemory says what the chosen plan takes.
void FoldedGraph::addMemory(const ModelGraph &graph) {
  std::map<unsigned, int64_t> held; // all the time, by node
  std::vector<MemoryRow> all(graph.steps.size());
  std::vector<Lifetime> lives = lifetimes(graph);
  for (const auto &[index, value] : enumerate(graph.values)) {
    unsigned node = valueNodes[classes.ofValue[index]];
    if (value.persistent) {
      if (lives[index].last >= 0) // what is not read takes no memory
        ++held[node];
      continue;
    }
    bool used = lives[index].last >= lives[index].first &&
                lives[index].first < int64_t(graph.steps.size());
    if (value.setup || !used || value.isNext) // a next value is the state
      continue;
    all[lives[index].first].begins.push_back({node, 1});
    if (lives[index].last < int64_t(graph.steps.size()))
      all[lives[index].last].ends.push_back({node, 1});
  }
  for (auto [node, count] : held)
    persistent.push_back({node, count});
  for (auto [step, row] : zip_equal(graph.steps, all))
    addCopies(graph, step, row);
  foldRows(std::move(all));
}

void FoldedGraph::addCopies(const ModelGraph &graph, const GraphStep &step,
                            MemoryRow &row) const {
  for (unsigned index : step.ops) {
    const GraphOp &op = graph.ops[index];
    auto add = [&](unsigned value, bool result, unsigned position) {
      EdgeKey key{classes.ofOp[index], classes.ofValue[value], result,
                  position};
      row.edges.push_back({edges.at(key).index, 1});
    };
    for (const auto &[position, value] : enumerate(op.operands))
      if (op.reads[position])
        add(value, false, op.facts->alike[position]);
    for (const auto &[position, value] : enumerate(op.results))
      if (op.writes[position])
        add(value, true, position);
  }
}

/// Their terms count one each.
void FoldedGraph::foldRows(std::vector<MemoryRow> all) {
  Numbering number;
  SmallVector<unsigned, 32> key;
  for (MemoryRow &row : all) {
    key.clear();
    for (const std::vector<MemoryTerm> *terms :
         {&row.begins, &row.edges, &row.ends}) {
      key.push_back(terms->size());
      for (const MemoryTerm &term : *terms)
        key.push_back(term.index);
    }
    rows.push_back(number(key));
    if (rows.back() == rowKinds.size())
      rowKinds.push_back(std::move(row));
  }
}

} // namespace autopar
