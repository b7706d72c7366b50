//===- Launches.cpp - The launches of a plan ------------------------------===//

#include "autopar/Planning/Plan/Launches.h"
#include "autopar/Cost/HeldInputs.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

LaunchList::LaunchList(const ModelGraph &graph, const Plan &plan,
                       const PlannedReshards &reshards)
    : graph(graph), plan(plan), reshards(reshards) {
  form();
}

/// Returns whether an operand that is made in the op's kernel group has to
/// leave it to be read.
bool LaunchList::isCut(unsigned op, unsigned operand) const {
  const GraphValue &value = graph.values[graph.ops[op].operands[operand]];
  return movesData(reshards.ofResult(value.producer, value.resultIndex)) ||
         movesData(reshards.ofOperand(op, operand));
}

/// Returns, per op of the step, the stage that runs it. A repeated op runs
/// where the step reads it.
SmallVector<int64_t> LaunchList::stagesOf(const GraphStep &step) const {
  SmallVector<int64_t> result(step.ops.size());
  if (plan.stages == 1)
    return result;
  std::optional<int64_t> reader;
  for (size_t i = step.ops.size(); i-- > 0;) {
    unsigned op = step.ops[i];
    bool repeated = graph.repeats.isRepeated(op);
    result[i] = repeated && reader ? *reader : plan.ops[op].stage;
    if (!repeated)
      reader = result[i];
  }
  return result;
}

void LaunchList::form() {
  launches.reserve(graph.steps.size());
  std::vector<unsigned> launchOf(graph.ops.size(), 0); // counted from 1
  for (const GraphStep &step : graph.steps) {
    bool fresh = true;
    for (auto [op, stage] : zip_equal(step.ops, stagesOf(step))) {
      fresh = fresh || stage != launches.back().stage;
      for (const auto &[position, value] : enumerate(graph.ops[op].operands))
        fresh = fresh ||
                (isComputed(value) &&
                 launchOf[graph.values[value].producer] == launches.size() &&
                 isCut(op, position));
      if (std::exchange(fresh, false))
        launches.push_back({stage, &step, {}});
      launches.back().ops.push_back(op);
      launchOf[op] = launches.size();
    }
  }
}

std::vector<bool> LaunchList::storedValues() const {
  std::vector<bool> stored(graph.values.size(), false);
  std::vector<unsigned> launchOf(graph.ops.size(), 0); // counted from 1
  for (const auto &[index, launch] : enumerate(launches)) {
    unsigned number = index + 1;
    for (unsigned op : launch.ops)
      launchOf[op] = number;
    for (unsigned op : launch.ops)
      for (unsigned value : graph.ops[op].operands)
        if (isComputed(value) &&
            launchOf[graph.values[value].producer] != number)
          stored[value] = true;
  }
  for (unsigned value : graph.stepResults)
    stored[value] = true;
  return stored;
}

bool isReadInPlace(const ModelGraph &graph, const GraphValue &value,
                   const Sharding &sharding, const Mesh &mesh) {
  return value.source == ValueSource::Input && !value.persistent &&
         graph.table->readsHeldInputs &&
         isOnePiece(value.shape, sharding, mesh);
}

} // namespace autopar
