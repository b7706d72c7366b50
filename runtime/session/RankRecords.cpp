//===- RankRecords.cpp - What a rank notes about its steps ----------------===//

#include "RankRecords.h"

#include "../transport/Transport.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <malloc.h>

namespace autopar::runtime {

/// Records the device's counts per measured step.
void recordCounters(aprt_rank &rank, int64_t taken,
                    const DeviceCounters &before) {
  DeviceCounters now = rank.device->counters();
  RankRecord &record = rank.record;
  double steps = double(taken);
  record.outputBytes = (now.outputBytes - before.outputBytes) / taken;
  record.gpuSeconds = (now.gpuSeconds - before.gpuSeconds) / steps;
  record.transferSeconds =
      (now.transferSeconds - before.transferSeconds) / steps;
}

/// Records the parts of the measured steps, which took `total` seconds without
/// `barrierWait` seconds before them.
void recordTimes(aprt_rank &rank, int64_t taken, double total,
                 double barrierWait) {
  RankRecord &record = rank.record;
  double steps = double(taken);
  const TransportStatistics &now = rank.transport->statistics();
  const TransportStatistics &then = rank.statisticsAtStart;
  record.bytesSent =
      (now.bytesSent - then.bytesSent + rank.repeatedBytesSent) / taken;
  if (rank.device->isAsynchronous()) {
    std::snprintf(record.graphRefusal, sizeof(record.graphRefusal), "%s",
                  rank.device->repeatRefusal().c_str());
    record.partsKnown = rank.trace != nullptr;
    record.computeSeconds = rank.computeSeconds / steps;
    record.communicationSeconds = rank.communicationSeconds / steps;
    record.idleSeconds = std::max(0.0, total - rank.computeSeconds) / steps;
    return;
  }
  double idle = now.waitSeconds - then.waitSeconds - barrierWait;
  record.idleSeconds = idle / steps;
  record.communicationSeconds = (rank.communicationSeconds - idle) / steps;
  record.computeSeconds = (total - rank.communicationSeconds) / steps;
}

/// Returns this process's peak of resident memory, including shared libraries.
static int64_t peakResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

void recordMemory(aprt_rank &rank, int64_t portBytes) {
  RankRecord &record = rank.record;
  record.processPeakBytes = peakResidentBytes();
  record.heapBytes = int64_t(mallinfo2().arena);
  record.peakMemoryBytes = rank.memory.whole.peakBytes();
  record.weightBytes = rank.memory.persistent.currentBytes();
  record.packedBytes = rank.memory.packed.currentBytes();
  record.arenaBytes = rank.memory.arena.currentBytes();
  record.workspaceBytes = rank.memory.workspace.currentBytes();
  record.communicationBytes = rank.memory.communication.currentBytes();
  record.pinnedBytes = rank.memory.pinned.currentBytes();
  record.portBytes = portBytes;
}

} // namespace autopar::runtime
