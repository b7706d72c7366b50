//===- StageWork.cpp - Bytes beside a stage's arena -----------------------===//

#include "StageWork.h"
#include "Strategies.h"
#include "autopar/shared_memory.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

const StageWork::Copy *StageWork::copyOf(unsigned value,
                                         const Sharding &sharding) const {
  auto list = copies.find(value);
  if (list == copies.end())
    return nullptr;
  const Copy *found = llvm::find_if(list->second, [&](const Copy &copy) {
    return copy.sharding == sharding;
  });
  return found == list->second.end() ? nullptr : found;
}

/// What is packed is there twice while it is packed: one weight at a time, the
/// largest first.
WeightBytes weightBytes(const StageWork &stage, const ModelGraph &graph,
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

/// Two staging buffers per member of each communicator, as the runtime makes
/// them on a host's processors, and the rings of channels.
int64_t communicationBytes(const StageWork &stage, const ModelGraph &graph,
                           const Plan &plan) {
  if (!graph.table->communication.sharesMemory)
    return 0; // the communication library's own
  int64_t sum = stage.channelBytes;
  for (const auto &[subAxes, bytes] : stage.messages) {
    int64_t members = 1;
    for (unsigned subAxis : subAxes)
      members *= plan.mesh.subAxes()[subAxis].size;
    sum += shared_memory::groupBytes(bytes, members);
  }
  return sum;
}

} // namespace autopar
