//===- RepeatedLayers.cpp - Layers of a model, as they repeat -------------===//

#include "RepeatedLayers.h"
#include "autopar/Support/RepeatedRuns.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

static bool multipliesWeight(const ModelGraph &graph, const GraphOp &op) {
  if (op.setup || op.facts->kernel != KernelClass::Contraction ||
      op.operands.size() != 2)
    return false;
  const GraphValue &a = graph.values[op.operands[0]];
  const GraphValue &b = graph.values[op.operands[1]];
  return (a.fromInput && b.fromParameter) || (a.fromParameter && b.fromInput);
}

/// Returns the repeated runs in order, without those that are much shorter than
/// the longest. A decoder's run, for example, stays beside an encoder's.
static std::vector<RepeatedRun> longRepeats(ArrayRef<unsigned> places) {
  std::vector<RepeatedRun> runs = repeatedRuns(places, /*least=*/1);
  auto leftOut = [](const RepeatedRun &run) {
    return run.length * (run.count - 1);
  };
  RepeatedRun longest;
  for (const RepeatedRun &run : runs)
    if (leftOut(run) > leftOut(longest))
      longest = run;
  erase_if(runs, [&](const RepeatedRun &run) {
    return run.count == 1 || 2 * run.length < longest.length;
  });
  return runs;
}

std::vector<SmallVector<unsigned>> repeatedLayers(const ModelGraph &graph) {
  std::map<StringRef, unsigned> kinds;
  std::vector<unsigned> ops, places;
  for (const auto &[index, op] : enumerate(graph.ops))
    if (multipliesWeight(graph, op)) {
      ops.push_back(index);
      places.push_back(
          kinds.try_emplace(op.facts->signature, kinds.size()).first->second);
    }
  std::vector<SmallVector<unsigned>> layers;
  for (const RepeatedRun &run : longRepeats(places))
    for (size_t layer = 0; layer < run.count; ++layer)
      layers.emplace_back(
          ArrayRef(ops).slice(run.begin + layer * run.length, run.length));
  return layers;
}

} // namespace autopar
