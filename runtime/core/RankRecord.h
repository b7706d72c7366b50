//===- RankRecord.h - What a rank tells the launcher ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_RANKRECORD_H
#define AUTOPAR_RUNTIME_CORE_RANKRECORD_H

#include <atomic>
#include <cstdint>

namespace autopar::runtime {

/// One interval of a rank's timeline.
struct TraceEvent {
  int32_t op = -1;
  double start = 0; // seconds of the monotonic clock
  double seconds = 0;
};

/// A rank's part of the shared memory. It has the rank's current activity and,
/// at the end, its report. Only the rank writes it.
struct alignas(64) RankRecord {
  static constexpr int messageBytes = 2048;

  std::atomic<int32_t> currentOp{-1};   // of the entry that is at work
  std::atomic<int32_t> currentEntry{0}; // of those that a session has loaded
  std::atomic<uint32_t> failed{0};      // message is complete
  std::atomic<uint32_t> finished{0};
  std::atomic<uint32_t> began{0}; // steps: all ranks have loaded
  char message[messageBytes] = {};
  int64_t steps = 0;         // measured ones that it took
  char logFailure[512] = {}; // why --log lacks lines; rank 0's

  // Per measured step. On a GPU the parts are known only with --trace; idle is
  // then the compute stream's.
  bool partsKnown = true;
  double computeSeconds = 0;
  double communicationSeconds = 0;
  double idleSeconds = 0;
  int64_t bytesSent = 0;
  int64_t outputBytes = 0; // brought to the host
  double gpuSeconds = 0;   // of a GPU, without inputs and outputs
  double transferSeconds = 0;
  // The peak of the memory that the rank held, and its memory of each kind at
  // the end.
  int64_t peakMemoryBytes = 0;
  int64_t weightBytes = 0; // as they are, and packed
  int64_t packedBytes = 0;
  int64_t arenaBytes = 0;
  int64_t workspaceBytes = 0;
  int64_t communicationBytes = 0;
  // These are not in the peak: inputs and outputs of the step, and memory of
  // malloc, which includes that of libraries.
  int64_t portBytes = 0;
  int64_t heapBytes = 0;
  int64_t pinnedBytes = 0;      // of the host, for copies to and from a GPU
  int64_t processPeakBytes = 0; // resident, as the system counts
  int64_t traceEvents = 0;
  int64_t traceDropped = 0;
  double loadSeconds = 0;
  double startClock = 0;       // when all ranks began, by this host's clock
  char device[256] = {};       // what computes; empty: the CPU
  char graphRefusal[256] = {}; // why a GPU's steps were not graphs
  char imageRefusal[256] = {}; // why its kernels were compiled from PTX
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_RANKRECORD_H
