//===- Gemm.h - The GEMMs of one rank ---------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_GEMM_H
#define AUTOPAR_RUNTIME_CPU_GEMM_H

#include "../core/Memory.h"
#include "../core/WordKey.h"
#include "GemmPlan.h"
#include "OneDnn.h"
#include "ThreadPool.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace autopar::runtime {

/// Runs aprt_gemm: a plan is made at the first call of a description and kept,
/// so that later calls allocate nothing.
class Gemm {
public:
  /// Packed weights are counted in `memory`.
  Gemm(const OneDnn &library, ThreadPool &pool, Workspace &workspace,
       MemoryCounter &memory, size_t slots)
      : library(library), pool(pool), workspace(workspace), memory(memory),
        packed(slots) {}

  Status run(const aprt_gemm_desc &desc, const GemmOperands &operands);
  Status pack(const aprt_gemm_desc &desc, const void *b);

private:
  struct Key {
    aprt_gemm_desc desc;
    int64_t addendMode;
  };
  struct Entry {
    std::unique_ptr<GemmPlan> plan; // null: the runtime's own loops
    aprt_gemm_desc plainDesc;       // what those compute
    bool isVector = false;          // by gemv, else by blockedGemm
    bool copyAddend = false;        // the plan adds what is in C
  };

  Status makeEntry(const Key &key, Entry &entry);
  Status ensurePlain(PackedMatrix &matrix);

  const OneDnn &library;
  ThreadPool &pool;
  Workspace &workspace;
  MemoryCounter &memory;
  std::vector<PackedMatrix> packed;
  std::unordered_map<Key, Entry, WordKeyHash, WordKeyEqual> entries;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_GEMM_H
