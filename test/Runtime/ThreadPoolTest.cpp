//===- ThreadPoolTest.cpp - Work shared by threads ------------------------===//

#include "cpu/ThreadPool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <sched.h>
#include <set>
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

TEST(ThreadPool, EachThreadOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::mutex lock;
    std::set<std::thread::id> seen;
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> calls{0};
      pool.runInEachThread([&] {
        ++calls;
        std::lock_guard<std::mutex> held(lock);
        seen.insert(std::this_thread::get_id());
      });
      ASSERT_EQ(calls.load(), threads);
      ASSERT_EQ(int(seen.size()), threads);
    }
  }
}

/// Whoever does a lane, never two pieces of it at the same time, and each once.
TEST(ThreadPool, LanesAreDoneByOneThreadAtATime) {
  constexpr int threads = 4, pieces = 3 * threads;
  ThreadPool pool(threads, /*spin=*/false);
  std::atomic<int> inside[threads] = {}, done[pieces] = {};
  std::atomic<bool> together{false};
  for (int round = 0; round < 400; ++round)
    pool.run(pieces, [&](int64_t piece) {
      std::atomic<int> &lane = inside[piece % threads];
      if (lane.fetch_add(1) != 0)
        together.store(true);
      ++done[piece];
      lane.fetch_sub(1);
    });
  EXPECT_FALSE(together.load());
  for (std::atomic<int> &times : done)
    EXPECT_EQ(times.load(), 400);
}

/// A job ends although a worker of the pool is held in none of its pieces: the
/// other threads do what it would have done.
TEST(ThreadPool, WaitsForNoThreadThatHasNotBegun) {
  ThreadPool pool(2, /*spin=*/false);
  std::thread::id caller = std::this_thread::get_id();
  int here = 0;
  for (int round = 0; round < 200; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1)); // it sleeps
    std::atomic<int> byCaller{0};
    pool.run(
        2, [&](int64_t) { byCaller += std::this_thread::get_id() == caller; });
    here += byCaller.load() == 2;
  }
  EXPECT_GT(here, 0);
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
