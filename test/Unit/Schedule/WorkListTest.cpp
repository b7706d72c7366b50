//===- WorkListTest.cpp - Order and memory with streams -------------------===//

#include "autopar/Cost/WorkList.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {
WorkItem item(WorkKind kind, llvm::ArrayRef<unsigned> reads,
              llvm::ArrayRef<unsigned> writes, int64_t channel = -1) {
  WorkItem result;
  result.kind = kind;
  result.channel = channel;
  result.reads.assign(reads.begin(), reads.end());
  result.writes.assign(writes.begin(), writes.end());
  return result;
}

/// 0 -> kernel -> 1 -> collective -> 2; meanwhile 3 -> 4 -> 5; 2, 5 -> 6.
WorkList overlapped(bool ownStream) {
  WorkList work;
  work.communication.ownStream = ownStream;
  work.buffers.resize(7);
  for (WorkBuffer &buffer : work.buffers)
    buffer.bytes = 4096;
  work.buffers[0].input = work.buffers[3].input = true;
  work.buffers[6].output = true;
  work.items = {
      item(WorkKind::Compute, {0}, {1}), item(WorkKind::Collective, {1}, {2}),
      item(WorkKind::Compute, {3}, {4}), item(WorkKind::Compute, {4}, {5}),
      item(WorkKind::Compute, {2, 5}, {6})};
  return work;
}
} // namespace

TEST(WorkList, KeepsWhatCommunicationReadsUntilItIsAwaited) {
  MemoryPlan plan = planMemory(overlapped(/*ownStream=*/true));
  EXPECT_NE(plan.offsets[1], plan.offsets[4]);
  EXPECT_NE(plan.offsets[1], plan.offsets[5]);
  EXPECT_GE(plan.arenaBytes,
            planMemory(overlapped(/*ownStream=*/false)).arenaBytes);
}

TEST(WorkList, OneStreamReusesAtOnce) {
  MemoryPlan plan = planMemory(overlapped(/*ownStream=*/false));
  EXPECT_TRUE(plan.offsets[1] == plan.offsets[4] ||
              plan.offsets[1] == plan.offsets[5]);
}

TEST(WorkList, RendezvousGoInTheOrderOfChannels) {
  WorkList work;
  work.buffers.resize(4);
  work.items = {item(WorkKind::Recv, {}, {0}, /*channel=*/2),
                item(WorkKind::Compute, {0}, {1}),
                item(WorkKind::Recv, {}, {2}, /*channel=*/1),
                item(WorkKind::Compute, {2}, {3})};
  EXPECT_EQ(orderWork(work), (std::vector<unsigned>{0, 1, 2, 3}));
  work.communication.rendezvous = true;
  EXPECT_EQ(orderWork(work), (std::vector<unsigned>{2, 0, 1, 3}));
}
