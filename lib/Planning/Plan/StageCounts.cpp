//===- StageCounts.cpp - The kernels and the memory of a stage ------------===//

#include "autopar/Planning/Plan/StageCounts.h"
#include "autopar/shared_memory.h"
#include "llvm/ADT/STLExtras.h"

namespace autopar {

void StageMemory::setWeights(int64_t plain, std::vector<int64_t> packed,
                             bool copiesToPack) {
  llvm::sort(packed, std::greater<int64_t>());
  weights = loading = 0;
  for (int64_t size : packed) {
    weights += size;
    if (copiesToPack)
      loading = std::max(loading, weights + size);
  }
  weights += plain;
  loading = std::max(loading, weights);
}

void StageMemory::addStaging(
    const std::map<std::vector<unsigned>, int64_t> &messages,
    const Mesh &mesh) {
  for (const auto &[subAxes, bytes] : messages)
    communication += shared_memory::groupBytes(bytes, mesh.product(subAxes));
}

} // namespace autopar
