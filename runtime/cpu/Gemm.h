//===- Gemm.h - The GEMMs of one rank ---------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_GEMM_H
#define AUTOPAR_RUNTIME_CPU_GEMM_H

#include "../core/Memory.h"
#include "../core/WordKey.h"
#include "GemmPlan.h"
#include "OneDnn.h"
#include "PackedMatrices.h"
#include "ThreadPool.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace autopar::runtime {

/// Runs aprt_gemm: a plan is made at the first call of a description and kept,
/// so that later calls allocate nothing.
class Gemm {
public:
  /// Packed weights are counted in `memory`, and those that are in `store`
  /// (null: there is none) are there once.
  Gemm(const OneDnn &library, ThreadPool &pool, Workspace &workspace,
       MemoryCounter &memory, size_t slots, PackedStore *store = nullptr,
       PackedMatrices *others = nullptr)
      : library(library), pool(pool), workspace(workspace), memory(memory),
        store(store), others(others), packed(slots) {}

  Status run(const aprt_gemm_desc &desc, const GemmOperands &operands);
  Status pack(const aprt_gemm_desc &desc, const void *b);
  /// Before the first run: what other entries have packed serves here, too,
  /// where results are the same.
  void adoptPacked();

private:
  struct Key {
    aprt_gemm_desc desc;
    int64_t addendMode;
  };
  struct Entry {
    std::unique_ptr<GemmPlan> plan; // null: the runtime's own loops
    aprt_gemm_desc plainDesc;       // what those compute
    bool isVector = false;          // by gemv, else by blockedGemm
    bool ofParts = false;           // gemv reads the packed parts
    bool copyAddend = false;        // the plan adds what is in C
  };

  Status makeEntry(const Key &key, Entry &entry);
  Status ensurePlain(PackedMatrix &matrix);

  const OneDnn &library;
  ThreadPool &pool;
  Workspace &workspace;
  MemoryCounter &memory;
  PackedStore *store;
  PackedMatrices *others; // null: there is one entry
  std::vector<PackedMatrix> packed;
  std::unordered_map<Key, Entry, WordKeyHash, WordKeyEqual> entries;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_GEMM_H
