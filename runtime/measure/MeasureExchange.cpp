//===- MeasureExchange.cpp - What two ranks of this host exchange ---------===//
//
// An all-gather of two ranks with a core each, as a program has it: a kernel
// has just written what a rank gives, and what it gets lies where caches do not
// hold it.
//
//===----------------------------------------------------------------------===//

#include "../transport/SharedMemoryTransport.h"
#include "Measurement.h"

#include <algorithm>
#include <thread>

namespace autopar::runtime {

namespace {

constexpr int kRanks = 2;
constexpr int64_t kBytes = 4 << 20;    // of the whole
constexpr int64_t kResults = 64 << 20; // larger than caches
constexpr int kExchanges = 100;

/// One rank's part; `seconds` of each time.
Status gather(SharedMemoryTransport &transport, std::vector<double> &seconds) {
  std::vector<float> given(kBytes / kRanks / int64_t(sizeof(float)));
  std::vector<char> results(kResults);
  BlockedDim dim;
  dim.size = kBytes / int64_t(sizeof(float));
  dim.block = dim.size / kRanks;
  for (int i = 0; i < kExchanges; ++i) {
    for (float &value : given)
      value += 1;
    APRT_TRY(transport.barrier(/*withDeadline=*/true));
    double start = monotonicSeconds();
    APRT_TRY(transport.allGather(0, APRT_F32, dim, given.data(),
                                 &results[i * kBytes % kResults]));
    seconds.push_back(monotonicSeconds() - start);
  }
  return Status::success();
}

double median(std::vector<double> &values) {
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Status gather(SharedFabric &fabric, const Manifest &manifest, int rank,
              double &medianSeconds) {
  constexpr double timeoutSeconds = 60;
  ThreadPool pool(/*threads=*/1, /*spin=*/true, /*alone=*/false);
  SharedMemoryTransport transport(fabric, manifest, rank, pool, timeoutSeconds,
                                  Patience::ownCore());
  std::vector<double> seconds;
  APRT_TRY(gather(transport, seconds));
  medianSeconds = median(seconds);
  return Status::success();
}

} // namespace

Status measureExchange(double &sentPerSecond) {
  Manifest manifest;
  manifest.devicesPerStage = kRanks;
  manifest.communicators.push_back({{}, {{0, 1}}, kBytes});
  SharedFabric fabric;
  APRT_TRY(fabric.create(manifest));
  double seconds[kRanks];
  Status status = Status::success();
  std::thread second([&] { status = gather(fabric, manifest, 1, seconds[1]); });
  Status first = gather(fabric, manifest, 0, seconds[0]);
  second.join();
  APRT_TRY(first);
  APRT_TRY(status);
  double sent = double(kBytes) / kRanks;
  sentPerSecond =
      std::max(sentPerSecond, sent * kRanks / (seconds[0] + seconds[1]));
  return Status::success();
}

} // namespace autopar::runtime
