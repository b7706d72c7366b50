//===- CpuParts.h - What computes on a rank's cores -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_CPUPARTS_H
#define AUTOPAR_RUNTIME_CPU_CPUPARTS_H

#include "OneDnn.h"
#include "PackedMatrices.h"
#include "PackedStore.h"
#include "ThreadPool.h"
#include "Workspace.h"

namespace autopar::runtime {

/// Threads, library and scratch of a rank. Its entries, of which one computes
/// at a time, have them in common.
struct CpuParts {
  /// `memory` must outlive the parts.
  CpuParts(int threads, bool spin, bool alone, RankMemory &memory)
      : pool(threads, spin, alone), workspace(threads, memory.workspace),
        packedMemory(&memory.packed) {}

  ThreadPool pool;
  OneDnn library;
  Workspace workspace;
  // Programs with several entries have:
  MemoryCounter packedMemory;
  PackedStore packed;
  PackedMatrices matrices;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_CPUPARTS_H
