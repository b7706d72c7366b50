//===- MemoryRows.cpp - The memory in use at each launch ------------------===//

#include "autopar/Cost/WorkList.h"
#include "autopar/Planning/Model/FoldedGraph.h"
#include "autopar/Planning/Model/Numbering.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace autopar {

namespace {
/// The steps at which a value's memory is in use; empty if it has no memory of
/// its own.
struct Lifetime {
  int64_t first = 0, last = -1;
};
} // namespace

static int64_t bytesOf(const GraphValue &value) {
  int64_t bytes = value.elementBytes;
  for (int64_t size : value.shape)
    bytes *= size;
  return bytes;
}

/// Returns, per value, the value whose memory it names, through reshapes.
static std::vector<unsigned> storages(const ModelGraph &graph) {
  std::vector<unsigned> storage(graph.values.size());
  std::iota(storage.begin(), storage.end(), 0);
  for (const GraphStep &step : graph.steps)
    if (step.view)
      for (unsigned op : step.ops)
        for (unsigned value : graph.ops[op].results)
          storage[value] = storage[graph.ops[op].operands.front()];
  return storage;
}

/// Returns the launches as a work list of the whole model; reshapes are left
/// out.
static WorkList workOf(const ModelGraph &graph, ArrayRef<unsigned> storage) {
  WorkList work;
  for (const GraphValue &value : graph.values) {
    WorkBuffer &buffer = work.buffers.emplace_back();
    buffer.bytes = bytesOf(value);
    buffer.persistent = value.persistent || value.isNext;
    buffer.input = value.source == ValueSource::Input;
    buffer.output = value.output && !value.isGradient;
  }
  for (const GraphState &state : graph.states)
    work.states.push_back({state.argument, storage[state.next]});
  BitVector written(graph.values.size());
  for (const GraphStep &step : graph.steps) {
    if (step.view)
      continue;
    WorkItem &item = work.items.emplace_back();
    for (unsigned index : step.ops) {
      const GraphOp &op = graph.ops[index];
      for (const auto &[position, value] : enumerate(op.operands))
        if (op.reads[position])
          item.reads.push_back(storage[value]);
      for (const auto &[position, value] : enumerate(op.results))
        if (op.writes[position] && !written.test(value)) {
          written.set(value);
          item.writes.push_back(value);
        }
    }
  }
  return work;
}

/// Returns the steps in the order in which they will run. A reshape runs after
/// the step that makes its operand and after the launch before it in the
/// program.
static std::vector<unsigned> runningOrder(const ModelGraph &graph,
                                          ArrayRef<unsigned> storage) {
  WorkList work = workOf(graph, storage);
  std::vector<unsigned> launches, steps(graph.steps.size());
  std::iota(steps.begin(), steps.end(), 0);
  for (unsigned step : steps)
    if (!graph.steps[step].view)
      launches.push_back(step);
  std::vector<int64_t> place(steps.size(), -1), made(graph.values.size(), -1);
  for (const auto &[index, item] : enumerate(orderWork(work))) {
    place[launches[item]] = index;
    for (unsigned value : work.items[item].writes)
      made[value] = index;
  }
  int64_t before = -1;
  for (unsigned step : steps) {
    if (graph.steps[step].view)
      place[step] =
          std::max(before, made[storage[graph.ops[graph.steps[step].ops.front()]
                                            .results.front()]]);
    else
      before = place[step];
  }
  stable_sort(steps,
              [&](unsigned a, unsigned b) { return place[a] < place[b]; });
  return steps;
}

/// Returns the lifetimes of values that @step computes or gets as inputs, if
/// its steps run in this `order`. Reshapes name their operand's memory, and a
/// result may be stored over an operand that dies.
static std::vector<Lifetime> lifetimes(const ModelGraph &graph,
                                       ArrayRef<unsigned> storage,
                                       ArrayRef<unsigned> order) {
  std::vector<Lifetime> lives(graph.values.size());
  for (const auto &[index, value] : enumerate(graph.values))
    if (value.source == ValueSource::Input)
      lives[index].last = 0;
  for (const auto &[time, number] : enumerate(order)) {
    const GraphStep &step = graph.steps[number];
    for (unsigned index : step.ops) {
      const GraphOp &op = graph.ops[index];
      for (const auto &[position, value] : enumerate(op.operands))
        if (op.reads[position] || step.view)
          lives[storage[value]].last =
              std::max<int64_t>(lives[storage[value]].last, time);
      for (const auto &[position, value] : enumerate(op.results))
        if (!step.view && op.writes[position] && lives[value].last < 0)
          lives[value] = {int64_t(time), int64_t(time)};
    }
  }
  for (unsigned value : graph.stepResults)
    if (!graph.values[value].isGradient) // free after its last reader
      lives[storage[value]].last = order.size();
  for (const auto &[time, number] : enumerate(order))
    for (auto [out, in] : graph.steps[number].inPlace) {
      Lifetime &under = lives[storage[in]];
      if (under.last == int64_t(time) && under.first < int64_t(time) &&
          bytesOf(graph.values[out]) == bytesOf(graph.values[storage[in]]))
        --under.last;
    }
  return lives;
}

/// Makes one row per launch: the values that are live while it runs, and the
/// copies that its reshards make. These are rough: predictMemory estimates a
/// choice more closely, and the program of the chosen plan is counted.
void FoldedGraph::addMemory(const ModelGraph &graph) {
  std::map<unsigned, int64_t> held; // all the time, by node
  std::vector<MemoryRow> all(graph.steps.size());
  std::vector<unsigned> storage = storages(graph);
  std::vector<unsigned> order = runningOrder(graph, storage);
  std::vector<Lifetime> lives = lifetimes(graph, storage, order);
  for (const auto &[index, value] : enumerate(graph.values)) {
    unsigned node = valueNodes[classes.ofValue[index]];
    if (value.persistent) {
      if (lives[index].last >= 0) // unread values take no memory
        ++held[node];
      continue;
    }
    bool used = lives[index].last >= lives[index].first &&
                lives[index].first < int64_t(graph.steps.size());
    if (value.setup || !used || value.isNext) // next values use state memory
      continue;
    all[lives[index].first].begins.push_back({node, 1});
    if (lives[index].last < int64_t(graph.steps.size()))
      all[lives[index].last].ends.push_back({node, 1});
  }
  for (auto [node, count] : held)
    persistent.push_back({node, count});
  for (auto [step, row] : zip_equal(order, all))
    addCopies(graph, graph.steps[step], row);
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

/// Numbers the different rows, so that equal rows of repeated layers are stored
/// once. The key of a row leaves out the counts of its terms: all are 1.
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
