//===- RankResult.cpp - What a rank brings rank 0 -------------------------===//

#include "RankResult.h"

#include "../core/Slice.h"
#include "../transport/Socket.h"

#include <algorithm>
#include <cstring>

namespace autopar::runtime {

/// visit(port, its tensor, intervals) for each block of a result that is asked
/// for and that a rank delivers, step by step and micro-batch by micro-batch.
template <typename Visit>
static Status forEachBlock(const Run &run, int rank, const Visit &visit) {
  const Manifest &manifest = run.program.manifest;
  for (const LocalPort &local : run.partsOfRank(rank)) {
    const RunResult &result = run.results[local.index];
    int64_t steps = result.when == RunResult::AtEnd
                        ? 1
                        : std::min(run.stepsOf(result), run.record(rank).steps);
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t t = 0; t < manifest.microBatches; ++t)
        APRT_TRY(visit(
            *result.port, run.result(local.index, step),
            intervalsOf(result.port->dims, manifest.coordinates(rank, t))));
  }
  return Status::success();
}

std::string packResult(const Run &run, int rank) {
  const RankRecord &record = run.record(rank);
  std::string bytes(reinterpret_cast<const char *>(&record), sizeof(record));
  for (int64_t i = 0; i < record.steps; ++i)
    append(bytes, run.stepSeconds(rank, i));
  for (int64_t i = 0; i < record.traceEvents; ++i)
    append(bytes, run.trace(rank)[i]);
  (void)forEachBlock(run, rank,
                     [&](const Port &port, char *tensor,
                         const std::vector<Interval> &intervals) {
                       size_t at = bytes.size();
                       bytes.resize(at + size_t(port.localBytes));
                       readSlice(intervals, elementBytes(port.dtype), tensor,
                                 &bytes[at]);
                       return Status::success();
                     });
  return bytes;
}

uint64_t mostResultBytes(const Run &run, int rank) {
  uint64_t bytes =
      sizeof(RankRecord) + uint64_t(run.options.repeat) * sizeof(double);
  if (run.trace(rank))
    bytes += uint64_t(Run::traceCapacity) * sizeof(TraceEvent);
  for (const LocalPort &local : run.partsOfRank(rank)) {
    const RunResult &result = run.results[local.index];
    bytes += uint64_t(run.stepsOf(result)) *
             uint64_t(run.program.manifest.microBatches) *
             uint64_t(result.port->localBytes);
  }
  return bytes;
}

Status unpackResult(Run &run, int rank, const std::string &bytes) {
  FrameReader reader(bytes);
  Status damaged = Status::error("the result of rank " + std::to_string(rank) +
                                 " is not what this program's ranks send");
  RankRecord &record = run.record(rank);
  if (!reader.read(static_cast<void *>(&record), sizeof(record)))
    return damaged;
  if (record.steps != run.stepsTaken())
    return damaged;
  for (int64_t i = 0; i < record.steps; ++i)
    if (!reader.read(run.stepSeconds(rank, i)))
      return damaged;
  if (record.traceEvents < 0 || record.traceEvents > Run::traceCapacity ||
      (record.traceEvents > 0 && !run.trace(rank)))
    return damaged;
  for (int64_t i = 0; i < record.traceEvents; ++i) {
    if (!reader.read(run.trace(rank)[i]))
      return damaged;
    // Hosts have clocks of their own.
    run.trace(rank)[i].start += run.record(0).startClock - record.startClock;
  }
  std::string block;
  APRT_TRY(forEachBlock(run, rank,
                        [&](const Port &port, char *tensor,
                            const std::vector<Interval> &intervals) {
                          block.resize(size_t(port.localBytes));
                          if (!reader.read(block.data(), block.size()))
                            return damaged;
                          writeSlice(intervals, elementBytes(port.dtype),
                                     block.data(), tensor);
                          return Status::success();
                        }));
  return reader.atEnd() ? Status::success() : damaged;
}

} // namespace autopar::runtime
