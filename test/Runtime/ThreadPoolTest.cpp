//===- ThreadPoolTest.cpp - Work shared by threads ------------------------===//

#include "cpu/ThreadPool.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <thread>

using namespace autopar::runtime;

namespace {

TEST(ThreadPool, SplitCoversEverythingOnce) {
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads, /*spin=*/threads % 2 == 0);
    for (int round = 0; round < 300; ++round) {
      std::vector<int> hits(size_t(round), 0);
      pool.split(round, 1 + round % 7, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          ++hits[i];
      });
      for (int hit : hits)
        ASSERT_EQ(hit, 1);
    }
  }
}

TEST(ThreadPool, MorePiecesThanThreads) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  pool.run(101, [&](int64_t piece) { sum += piece; });
  EXPECT_EQ(sum.load(), 5050);
}

/// A thread that the system put on the core of one before it leaves that core.
TEST(ThreadPlaces, ThreadsKeepApart) {
  cpu_set_t allowed, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  if (CPU_COUNT(&allowed) < 2)
    GTEST_SKIP() << "one core";
  int core = sched_getcpu();
  CPU_ZERO(&one);
  CPU_SET(size_t(core), &one);
  ThreadPlaces places(2);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  places.keepApart(0);
  std::thread second([&] {
    sched_setaffinity(0, sizeof(allowed), &allowed);
    bool together = sched_getcpu() == core;
    places.keepApart(1);
    if (together) {
      EXPECT_NE(sched_getcpu(), core);
    }
    cpu_set_t after;
    EXPECT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&after, &allowed)); // free to go anywhere again
  });
  second.join();
  sched_setaffinity(0, sizeof(allowed), &allowed);
}

} // namespace
