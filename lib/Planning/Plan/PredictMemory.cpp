//===- PredictMemory.cpp - The memory of a device of each stage -----------===//

#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/StageWork.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

static void addWeights(const StageWork &stage, const ModelGraph &graph,
                       const Plan &plan, StageMemory &memory) {
  auto bytes = [&](unsigned value) {
    return localBytes(graph.values[value], plan.values[value].sharding,
                      plan.mesh);
  };
  std::vector<int64_t> packed;
  for (const auto &[use, kind] : stage.calls)
    if (graph.table->packs(kind, stage.plain.count(use.first)))
      packed.push_back(bytes(use.first));
  int64_t plain = 0;
  for (unsigned value : stage.plain)
    plain += bytes(value);
  memory.setWeights(plain, std::move(packed), graph.table->copiesToPack);
}

/// Returns the bytes of a device of each stage, without those of padding.
static std::vector<StageMemory> memoryOfStages(const ModelGraph &graph,
                                               const Plan &plan) {
  std::vector<StageMemory> stages;
  for (const StageWork &stage : workOfStages(graph, plan)) {
    StageMemory &memory = stages.emplace_back();
    addWeights(stage, graph, plan, memory);
    memory.arena = planMemory(orderedWork(stage.work)).arenaBytes;
    if (!graph.table->communication.sharesMemory)
      continue; // the communication library has its own buffers
    memory.communication = stage.channelBytes;
    memory.addStaging(stage.messages, plan.mesh);
  }
  return stages;
}

void predictMemory(const ModelGraph &graph, Plan &plan) {
  plan.predictedStageMemoryBytes.clear();
  for (const StageMemory &memory : memoryOfStages(graph, plan))
    plan.predictedStageMemoryBytes.push_back(memory.peak());
  plan.predictedPeakMemoryBytes =
      *llvm::max_element(plan.predictedStageMemoryBytes);
}

} // namespace autopar
