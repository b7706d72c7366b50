//===- PredictMemory.cpp - The memory of a device of each stage -----------===//

#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/StageWork.h"
#include "autopar/shared_memory.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// The bytes of weights after loading, and the most bytes while they are
/// loaded.
struct WeightBytes {
  int64_t held = 0, loading = 0;
};

} // namespace

/// Computes the bytes of a stage's weights. A weight is in memory twice while
/// it is packed; weights are packed one at a time, the largest first.
static WeightBytes weightBytes(const StageWork &stage, const ModelGraph &graph,
                               const Plan &plan) {
  auto bytes = [&](unsigned value) {
    return localBytes(graph.values[value], plan.values[value].sharding,
                      plan.mesh);
  };
  std::vector<int64_t> packed;
  for (const auto &[use, kind] : stage.calls)
    if (graph.table->packs(kind, stage.plain.count(use.first)))
      packed.push_back(bytes(use.first));
  llvm::sort(packed, std::greater<int64_t>());
  WeightBytes result;
  for (int64_t size : packed) {
    result.held += size;
    if (graph.table->copiesToPack)
      result.loading = std::max(result.loading, result.held + size);
  }
  for (unsigned value : stage.plain)
    result.held += bytes(value);
  result.loading = std::max(result.loading, result.held);
  return result;
}

/// Returns the bytes of two staging buffers per member of each communicator, as
/// the runtime makes them on a host's processors, and of the rings of channels.
static int64_t communicationBytes(const StageWork &stage,
                                  const ModelGraph &graph, const Plan &plan) {
  if (!graph.table->communication.sharesMemory)
    return 0; // the communication library has its own buffers
  int64_t sum = stage.channelBytes;
  for (const auto &[subAxes, bytes] : stage.messages) {
    int64_t members = 1;
    for (unsigned subAxis : subAxes)
      members *= plan.mesh.subAxes()[subAxis].size;
    sum += shared_memory::groupBytes(bytes, members);
  }
  return sum;
}

void predictMemory(const ModelGraph &graph, Plan &plan) {
  plan.predictedStageMemoryBytes.clear();
  for (const StageWork &stage : workOfStages(graph, plan)) {
    WeightBytes weights = weightBytes(stage, graph, plan);
    int64_t running =
        weights.held + planMemory(orderedWork(stage.work)).arenaBytes;
    plan.predictedStageMemoryBytes.push_back(
        std::max(weights.loading, running) +
        communicationBytes(stage, graph, plan));
  }
  plan.predictedPeakMemoryBytes =
      *llvm::max_element(plan.predictedStageMemoryBytes);
}

} // namespace autopar
