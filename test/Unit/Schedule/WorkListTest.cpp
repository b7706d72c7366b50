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

namespace {
/// gradient of b -> 1, gradient of a -> 2, rate 3 -> 4; update of a: 2, 4 over
/// state 5, update of b: 1, 4 over state 6. With `reduced`, the gradient of b
/// is reduced first, 1 -> 9.
WorkList training(bool reduced, bool ownStream) {
  WorkList work;
  work.communication.ownStream = ownStream;
  work.buffers.resize(10);
  for (WorkBuffer &buffer : work.buffers)
    buffer.bytes = 4096;
  work.buffers[3].bytes = work.buffers[4].bytes = 8;
  for (unsigned state : {3, 5, 6, 7, 8})
    work.buffers[state].persistent = true;
  work.buffers[0].input = true;
  work.states = {{5, 7}, {6, 8}};
  work.items = {item(WorkKind::Compute, {0}, {1}),
                item(WorkKind::Compute, {0}, {2}),
                item(WorkKind::Compute, {3}, {4}),
                item(WorkKind::Compute, {2, 4, 5}, {7}),
                item(WorkKind::Compute, {1, 4, 6}, {8})};
  if (!reduced)
    return work;
  work.items[4].reads[0] = 9;
  work.items.insert(work.items.begin() + 2,
                    item(WorkKind::Collective, {1}, {9}));
  return work;
}
} // namespace

TEST(WorkList, UpdatesStandWhereGradientsAreMade) {
  WorkList work = training(/*reduced=*/false, /*ownStream=*/false);
  EXPECT_EQ(orderWork(work), (std::vector<unsigned>{2, 0, 4, 1, 3}));
  EXPECT_EQ(planMemory(orderedWork(work)).arenaBytes, 4096 + 4096 + 64);
  EXPECT_EQ(planMemory(work).arenaBytes, 3 * 4096);
}

TEST(WorkList, OutputsFreeNothing) {
  WorkList work = training(/*reduced=*/false, /*ownStream=*/false);
  work.buffers[1].output = true;
  EXPECT_EQ(orderWork(work), (std::vector<unsigned>{2, 0, 1, 3, 4}));
}

TEST(WorkList, ReadersOfStatesComeBeforeTheUpdate) {
  WorkList work = training(/*reduced=*/false, /*ownStream=*/false);
  work.items[1].reads.push_back(6); // the gradient of a reads b
  EXPECT_EQ(orderWork(work), (std::vector<unsigned>{2, 0, 1, 3, 4}));
}

/// The update by a reduced gradient would wait for the reduction: where that
/// has a stream of its own the other gradient is computed meanwhile.
TEST(WorkList, UpdatesHideNoCommunication) {
  EXPECT_EQ(orderWork(training(/*reduced=*/true, /*ownStream=*/false)),
            (std::vector<unsigned>{3, 0, 2, 5, 1, 4}));
  EXPECT_EQ(orderWork(training(/*reduced=*/true, /*ownStream=*/true)),
            (std::vector<unsigned>{3, 0, 2, 1, 4, 5}));
}
