//===- FailureTest.cpp - Ranks that never come ----------------------------===//

#include "Forked.h"
#include "core/Futex.h"

#include <gtest/gtest.h>

using namespace autopar::runtime;

namespace {

TEST(Deadline, NamesTheMissingRanks) {
  double start = monotonicSeconds();
  auto body = [](int rank, Transport &transport) -> std::string {
    if (rank == 1 || rank == 3)
      return ""; // never arrives
    float value = 1;
    return transport.allReduce(0, APRT_SUM, APRT_F32, 1, &value, &value)
        .message();
  };
  std::string messages = runForked(worldManifest(4), 0.5, body);
  EXPECT_LT(monotonicSeconds() - start, 5);
  EXPECT_NE(messages.find("rank 0: ranks 1, 3 did not arrive within 0.5 s"),
            std::string::npos)
      << messages;
  EXPECT_NE(messages.find("rank 2: ranks 1, 3 did not"), std::string::npos);
}

TEST(Deadline, HoldsForReceiveAndFullRing) {
  Manifest manifest = worldManifest(1);
  manifest.stages = 2;
  manifest.communicators.clear();
  manifest.channels = {{0, 1, 8, 1}, {1, 0, 8, 1}};
  auto body = [](int rank, Transport &transport) -> std::string {
    char data[8] = {};
    if (rank == 1)
      return transport.receive(0, data, 8).failed() ? "receive ended" : "";
    Status first = transport.receive(1, data, 8);
    return first.message();
  };
  std::string messages = runForked(manifest, 0.3, body);
  EXPECT_NE(messages.find("rank 0: rank 1 did not arrive"), std::string::npos)
      << messages;
  EXPECT_NE(messages.find("rank 1: receive ended"), std::string::npos);
  auto fill = [](int rank, Transport &transport) -> std::string {
    char data[8] = {};
    if (rank == 1)
      return "";
    Status status = transport.send(0, data, 8);
    return status.ok() ? transport.send(0, data, 8).message()
                       : "the first send failed";
  };
  messages = runForked(manifest, 0.3, fill);
  EXPECT_NE(messages.find("rank 1 did not arrive"), std::string::npos)
      << messages;
}

TEST(Abort, EndsWaitsAtOnce) {
  Manifest manifest = worldManifest(2);
  SharedFabric fabric;
  SharedMemory shared;
  ASSERT_TRUE(fabric.create(manifest, shared).ok());
  fabric.aborted().store(1);
  ThreadPool pool(1);
  SharedMemoryTransport transport(fabric, manifest, 0, pool, 60,
                                  Patience::sharedCore());
  double start = monotonicSeconds();
  Status status = transport.barrier(/*withDeadline=*/true);
  EXPECT_LT(monotonicSeconds() - start, 5);
  EXPECT_NE(status.message().find("another rank failed"), std::string::npos);
}

} // namespace
