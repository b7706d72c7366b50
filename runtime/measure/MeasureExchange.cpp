//===- MeasureExchange.cpp - What two ranks of this host exchange ---------===//
//
// An all-gather of two ranks with a core each, as a program has it: a kernel
// has just made what a rank gives of what it got before, and what it gets now
// lies where caches do not hold it.
//
//===----------------------------------------------------------------------===//

#include "../transport/SharedMemoryTransport.h"
#include "Measurement.h"

#include <thread>

namespace autopar::runtime {

namespace {

constexpr int kRanks = 2;
constexpr int64_t kElements = 4 << 20; // of the whole
constexpr int64_t kBytes = kElements * int64_t(sizeof(float));
constexpr int kResults = 4; // larger than caches, together
constexpr int kExchanges = 40;

/// One rank's part; `seconds` of each time.
Status gather(SharedMemoryTransport &transport, std::vector<double> &seconds) {
  constexpr int64_t part = kElements / kRanks;
  std::vector<float> given(part), results(kResults * kElements);
  BlockedDim dim;
  dim.size = kElements;
  dim.block = part;
  float *last = &results[(kResults - 1) * kElements];
  for (int i = 0; i < kExchanges; ++i) {
    for (int64_t j = 0; j < part; ++j)
      given[j] = last[j] + last[part + j];
    float *next = &results[i % kResults * kElements];
    APRT_TRY(transport.barrier(/*withDeadline=*/true));
    double start = monotonicSeconds();
    APRT_TRY(transport.allGather(0, APRT_F32, dim, given.data(), next));
    seconds.push_back(monotonicSeconds() - start);
    last = next;
  }
  return Status::success();
}

Status gather(SharedFabric &fabric, const Manifest &manifest, int rank,
              double &medianSeconds) {
  constexpr double timeoutSeconds = 60;
  ThreadPool pool(/*threads=*/1, /*spin=*/true, /*alone=*/false);
  SharedMemoryTransport transport(fabric, manifest, rank, pool, timeoutSeconds,
                                  Patience::ownCore());
  std::vector<double> seconds;
  APRT_TRY(gather(transport, seconds));
  medianSeconds = median(std::move(seconds));
  return Status::success();
}

} // namespace

Status measureExchange(double &sentPerSecond) {
  Manifest manifest;
  manifest.devicesPerStage = kRanks;
  manifest.communicators.push_back({{}, {{0, 1}}, kBytes});
  SharedFabric fabric;
  SharedMemory shared;
  APRT_TRY(fabric.create(manifest, shared));
  double seconds[kRanks];
  Status status = Status::success();
  std::thread second([&] { status = gather(fabric, manifest, 1, seconds[1]); });
  Status first = gather(fabric, manifest, 0, seconds[0]);
  second.join();
  APRT_TRY(first);
  APRT_TRY(status);
  sentPerSecond = double(kBytes) / (seconds[0] + seconds[1]);
  return Status::success();
}

} // namespace autopar::runtime
