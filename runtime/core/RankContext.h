//===- RankContext.h - One rank's state -------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_RANKCONTEXT_H
#define AUTOPAR_RUNTIME_CORE_RANKCONTEXT_H

#include "../transport/Transport.h"
#include "CommonMemory.h"
#include "Manifest.h"
#include "Memory.h"
#include "Npy.h"
#include "RankRecord.h"
#include "WeightFiles.h"

#include <memory>
#include <vector>

namespace autopar::runtime {
class Checkpoint;

/// The category of an op's time.
enum class Activity { Compute, Communication, Wait };
} // namespace autopar::runtime

/// The opaque struct of the C ABI. Device and transport are set before any
/// generated code runs.
struct aprt_rank {
  using Status = autopar::runtime::Status;

  /// `manifest` and `record` must outlive the rank.
  aprt_rank(const autopar::runtime::Manifest &manifest, int worldRank,
            autopar::runtime::RankRecord &record);
  /// Ends the repetition of steps before the transport ends, also after a
  /// failure.
  ~aprt_rank();

  int stage() const { return worldRank / manifest.devicesPerStage; }
  const std::vector<autopar::runtime::PersistentEntry> &entries() const {
    return manifest.persistent[stage()];
  }
  /// Begin and end the lifetime of a persistent tensor.
  Status load(int index);
  Status release(int index);
  /// Loads the parameters that setup did not request.
  Status loadOthers();
  /// Replaces setup values and packed weights by equal ones of other entries.
  /// It runs after setup, when nothing writes them any more.
  Status mergeConstants();
  /// Make the arena of setup or of steps, which entries share. The other arena
  /// is freed.
  Status makeSetupArena();
  Status makeArena();
  /// Records the message that the launcher shows. Only the first one counts.
  void fail(int op, const std::string &cause);
  /// Adds the time of an op's work, and an event if there is a trace.
  void addTime(int op, autopar::runtime::Activity activity, double start,
               double seconds);
  /// Starts the measured steps, with memory for a trace or null.
  Status startStatistics(autopar::runtime::TraceEvent *events,
                         int64_t capacity);

  const autopar::runtime::Manifest &manifest;
  const int worldRank;
  autopar::runtime::RankRecord &record;
  autopar::runtime::WeightFiles weights;
  /// The initial states that the user gives, or null if there are none.
  const autopar::runtime::NamedArrays *states = nullptr;
  /// The checkpoint whose states a run resumes with, or null if all states
  /// begin.
  const autopar::runtime::Checkpoint *resumed = nullptr;
  autopar::runtime::RankMemory memory;
  std::unique_ptr<autopar::runtime::Device> device;
  std::unique_ptr<autopar::runtime::Transport> transport;
  void *arena = nullptr;
  /// The memory that the rank's entries share, or null if there is one entry.
  /// `numbers` maps persistent tensors to their numbers there; -1 marks a
  /// tensor that this entry has for itself.
  autopar::runtime::CommonMemory *common = nullptr;
  std::vector<int> numbers;

  /// A persistent tensor has memory from load to release.
  struct Persistent {
    void *data = nullptr;
    bool released = false;
  };
  std::vector<Persistent> persistent; // by index

  // Since startStatistics. On a GPU times are known only with a trace.
  double computeSeconds = 0;       // on a CPU only with a trace
  double communicationSeconds = 0; // waiting included
  int64_t repeatedBytesSent = 0; // by steps that no call of the transport made
  autopar::runtime::TransportStatistics statisticsAtStart;
  std::string captureFailure; // see Device::isCapturing
  /// Called on the op's stream when the op was called, while it is there.
  std::function<Status(int op)> afterOp;

  autopar::runtime::TraceEvent *trace = nullptr; // null: not traced
  int64_t traceCapacity = 0;

private:
  autopar::runtime::Activity activityOf(int op) const;
  Status checkIndex(int index) const;
  Status fill(const autopar::runtime::PersistentEntry &entry, void *data);
  int numberOf(int index) const { return common ? numbers[size_t(index)] : -1; }
};

#endif // AUTOPAR_RUNTIME_CORE_RANKCONTEXT_H
