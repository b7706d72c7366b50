//===- RankCommon.h - What a rank's entries have in common ------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_RANKCOMMON_H
#define AUTOPAR_RUNTIME_SESSION_RANKCOMMON_H

#include "../core/CommonMemory.h"
#include "../cpu/CpuParts.h"
#include "StoredOnce.h"

#include <algorithm>
#include <memory>

namespace autopar::runtime {

/// The state that the entries of one rank share. They take steps in turn. It
/// must outlive them.
struct RankCommon {
  RankCommon(const std::vector<const Manifest *> &entries, int rank)
      : numbers(numbersOfTensors(entries, rank)),
        memory(mostArenaBytes(entries, rank)) {}

  const std::vector<std::vector<int>> numbers; // of tensors, by entry
  CommonMemory memory;
  /// The parts of the first entry, whose counters count them.
  std::weak_ptr<CpuParts> cpu;

private:
  static int64_t mostArenaBytes(const std::vector<const Manifest *> &entries,
                                int rank) {
    int64_t most = 0;
    for (const Manifest *entry : entries)
      most = std::max(most,
                      entry->arenaBytes[size_t(rank / entry->devicesPerStage)]);
    return most;
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_RANKCOMMON_H
