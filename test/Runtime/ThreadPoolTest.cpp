//===- ThreadPoolTest.cpp -------------------------------------------------===//

#include "cpu/ThreadPool.h"

#include <gtest/gtest.h>

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

} // namespace
