//===- RankContext.h - One rank's state -------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_RANKCONTEXT_H
#define AUTOPAR_RUNTIME_CORE_RANKCONTEXT_H

#include "../cpu/Conv.h"
#include "../cpu/Gemm.h"
#include "../cpu/OneDnn.h"
#include "../cpu/ThreadPool.h"
#include "../transport/Transport.h"
#include "Manifest.h"
#include "Memory.h"
#include "Parameters.h"
#include "RankRecord.h"

#include <memory>
#include <vector>

namespace autopar::runtime {

struct RankOptions {
  int worldRank = 0;
  int threads = 1;
  bool spin = true; // the host has a core for every thread of every rank
};

} // namespace autopar::runtime

/// The opaque struct of the C ABI. Made by create(); the transport is set
/// before any generated code runs.
struct aprt_rank {
  using Buffer = autopar::runtime::Buffer;
  using Status = autopar::runtime::Status;

  /// `manifest` and `record` must outlive the rank.
  static Status create(const autopar::runtime::Manifest &manifest,
                       const autopar::runtime::RankOptions &options,
                       autopar::runtime::RankRecord &record,
                       std::unique_ptr<aprt_rank> &result);

  int stage() const { return worldRank / manifest.devicesPerStage; }
  const std::vector<autopar::runtime::PersistentEntry> &entries() const {
    return manifest.persistent[stage()];
  }
  /// Begins and ends the life of a persistent tensor.
  Status load(int index);
  Status release(int index);
  /// Loads the parameters that setup did not ask for.
  Status loadOthers();
  /// The arena of setup or of step; another one is freed.
  Status makeArena(int64_t bytes);
  /// Writes the message that the launcher shows, the first one only.
  void fail(int op, const std::string &cause);
  void addEvent(int op, double start, double seconds);
  /// Starts the measured steps.
  void resetStatistics();

  const autopar::runtime::Manifest &manifest;
  const int worldRank;
  autopar::runtime::RankRecord &record;
  autopar::runtime::WeightFiles weights;
  autopar::runtime::MemoryCounter memory; // of all kinds
  autopar::runtime::MemoryCounter persistentMemory{&memory};
  autopar::runtime::MemoryCounter packedMemory{&memory};
  autopar::runtime::MemoryCounter arenaMemory{&memory};
  autopar::runtime::MemoryCounter workspaceMemory{&memory};
  autopar::runtime::MemoryCounter communicationMemory{&memory};
  autopar::runtime::ThreadPool pool;
  autopar::runtime::OneDnn library;
  autopar::runtime::Workspace workspace;
  std::unique_ptr<autopar::runtime::Gemm> gemm;
  std::unique_ptr<autopar::runtime::Conv> conv;
  std::unique_ptr<autopar::runtime::Transport> transport;
  Buffer arena;
  std::vector<Buffer> persistent; // by index; addresses only until loaded

  double communicationSeconds = 0; // waiting included
  autopar::runtime::TransportStatistics statisticsAtReset;

  autopar::runtime::TraceEvent *trace = nullptr; // null: not traced
  int64_t traceCapacity = 0;

private:
  Status checkIndex(int index) const;
  aprt_rank(const autopar::runtime::Manifest &manifest,
            const autopar::runtime::RankOptions &options,
            autopar::runtime::RankRecord &record)
      : manifest(manifest), worldRank(options.worldRank), record(record),
        pool(options.threads, options.spin),
        workspace(options.threads, workspaceMemory) {}
};

#endif // AUTOPAR_RUNTIME_CORE_RANKCONTEXT_H
