//===- NcclTransportTest.cpp - Waits, staging and types of GPU ranks ------===//

#include "DeviceTransport.h"
#include "core/Futex.h"

#include <gtest/gtest.h>

using namespace autopar::runtime;

namespace {

Manifest deviceManifest(int ranks, int64_t bytes = 4 << 20) {
  Manifest manifest = worldManifest(ranks);
  manifest.communicators[0].bytes = bytes;
  manifest.ops.push_back({"/sum", "all_reduce", 0, 0});
  manifest.ops.push_back({"/gather", "all_gather", 0, 0});
  return manifest;
}

void pauseSeconds(double seconds) {
  timespec pause = {time_t(seconds), long((seconds - int64_t(seconds)) * 1e9)};
  nanosleep(&pause, nullptr);
}

std::string sumOne(Transport &transport) {
  dynamic_cast<DeviceTransport &>(transport).place().setOp(0);
  float value = 1;
  return transport.allReduce(0, APRT_SUM, APRT_F32, 1, &value, &value)
      .message();
}

TEST(NcclDeadline, NamesTheOpAndTheMissingRank) {
  double start = monotonicSeconds();
  std::string all = runForked(
      deviceManifest(3), 2,
      [](int rank, Transport &transport) -> std::string {
        if (rank != 1)
          return sumOne(transport);
        pauseSeconds(5); // alive, and never comes
        return "";
      },
      startOnDevice);
  EXPECT_LT(monotonicSeconds() - start, 20);
  EXPECT_NE(all.find("op '/sum' (all_reduce): rank 1 did not arrive within "
                     "2 s (--timeout sets this limit)"),
            std::string::npos)
      << all;
}

TEST(NcclDeadline, IsNoneWhileRanksLoad) {
  std::string all = runForked(
      deviceManifest(2), 2,
      [](int rank, Transport &transport) {
        auto &device = dynamic_cast<DeviceTransport &>(transport).device();
        device.setDeadlines(false);
        if (rank == 1)
          pauseSeconds(3);
        return sumOne(transport);
      },
      startOnDevice);
  EXPECT_EQ(all, "");
}

TEST(NcclAbort, EndsTheWaitsOfOtherRanks) {
  SharedFabric fabric;
  Manifest manifest = deviceManifest(2);
  SharedMemory shared;
  ASSERT_TRUE(fabric.create(manifest, shared).ok());
  double start = monotonicSeconds();
  std::string all = runProcesses(2, [&](int rank) {
    return startOnDevice(fabric, manifest, rank, 60,
                         [&](int, Transport &transport) -> std::string {
                           if (rank == 0)
                             return sumOne(transport);
                           pauseSeconds(0.3);
                           fabric.aborted().store(1);
                           pauseSeconds(0.5);
                           return "";
                         });
  });
  EXPECT_LT(monotonicSeconds() - start, 8);
  EXPECT_EQ(all, "rank 0: ended because another rank failed\n");
}

TEST(NcclReductions, WithoutATypeOfNcclAreRefused) {
  std::string all = runForked(
      deviceManifest(2), 30,
      [](int, Transport &transport) -> std::string {
        int16_t narrow[2] = {};
        uint8_t flags[2] = {1, 0};
        Status first =
            transport.allReduce(0, APRT_MAX, APRT_I16, 2, narrow, narrow);
        Status second =
            transport.allReduce(0, APRT_SUM, APRT_BOOL, 2, flags, flags);
        if (first.message().find("16-bit integers") == std::string::npos ||
            second.message().find("booleans") == std::string::npos)
          return first.message() + " / " + second.message();
        return transport.allReduce(0, APRT_MAX, APRT_BOOL, 2, flags, flags)
            .message();
      },
      startOnDevice);
  EXPECT_EQ(all, "");
}

/// Element i of member m's block, in any type.
template <typename T> T valueAt(int64_t member, int64_t i) {
  return T(uint64_t(member * 37 + i * 3 + 1));
}

template <typename T>
std::string gatherAndHalo(Transport &transport, int rank, int ranks,
                          aprt_dtype dtype) {
  BlockedDim dim{5, 2 * ranks - 1, 2, 3}; // the last block is short
  std::vector<T> in(size_t(dim.outer * dim.block * dim.inner));
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = valueAt<T>(rank, int64_t(i));
  std::vector<T> all(size_t(dim.outer * dim.size * dim.inner));
  Status status = transport.allGather(0, dtype, dim, in.data(), all.data());
  HaloWindow window{dim.block, -1, 4, 7};
  std::vector<T> around(size_t(dim.outer * window.length * dim.inner));
  if (status.ok())
    status = transport.halo(0, dtype, dim, window, in.data(), around.data());
  if (status.failed())
    return status.message();
  auto wanted = [&](int64_t outer, int64_t at, int64_t inner) {
    return valueAt<T>(at / dim.block,
                      (outer * dim.block + at % dim.block) * dim.inner + inner);
  };
  for (int64_t o = 0; o < dim.outer; ++o)
    for (int64_t i = 0; i < dim.inner; ++i) {
      for (int64_t at = 0; at < dim.size; ++at)
        if (all[size_t((o * dim.size + at) * dim.inner + i)] !=
            wanted(o, at, i))
          return "wrong gather";
      for (int64_t w = 0; w < window.length; ++w) {
        int64_t at = rank * window.step + window.offset + w;
        bool inside = at >= 0 && at < dim.size;
        if (around[size_t((o * window.length + w) * dim.inner + i)] !=
            (inside ? wanted(o, at, i) : T(7)))
          return "wrong halo";
      }
    }
  return "";
}

/// Staging of any size, down to less than a row, moves the same.
TEST(NcclStaging, MovesEveryTypeInRoundsOfAnySize) {
  constexpr int ranks = 3;
  for (int64_t bytes : {int64_t(1), int64_t(64), int64_t(200), int64_t(4096)}) {
    std::string all = runForked(
        deviceManifest(ranks, bytes), 30,
        [](int rank, Transport &transport) {
          return gatherAndHalo<uint8_t>(transport, rank, ranks, APRT_U8) +
                 gatherAndHalo<int16_t>(transport, rank, ranks, APRT_I16) +
                 gatherAndHalo<float>(transport, rank, ranks, APRT_F32) +
                 gatherAndHalo<int64_t>(transport, rank, ranks, APRT_I64) +
                 gatherAndHalo<double>(transport, rank, ranks, APRT_F64);
        },
        startOnDevice);
    EXPECT_EQ(all, "") << bytes << " bytes";
  }
}

} // namespace
