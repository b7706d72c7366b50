//===- ArenaTest.cpp - Offsets of buffers with lifetimes ------------------===//

#include "autopar/Cost/Arena.h"
#include "gtest/gtest.h"
#include <random>

using namespace autopar;

static bool overlap(const ArenaRequest &a, int64_t aOffset,
                    const ArenaRequest &b, int64_t bOffset) {
  return a.first <= b.last && b.first <= a.last &&
         aOffset < bOffset + b.bytes && bOffset < aOffset + a.bytes;
}

static void expectValid(const std::vector<ArenaRequest> &requests,
                        const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kArenaAlignment, 0);
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_LE(plan.offsets[i] + requests[i].bytes, plan.bytes);
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(
          overlap(requests[i], plan.offsets[i], requests[j], plan.offsets[j]))
          << i << " and " << j;
  }
}

static std::vector<ArenaRequest> randomRequests(std::mt19937 &random, int count,
                                                int64_t longest) {
  std::vector<ArenaRequest> requests;
  for (int i = 0; i < count; ++i) {
    int64_t first = random() % count;
    int64_t length = random() % longest;
    requests.push_back({int64_t(random() % 10000), first, first + length});
  }
  return requests;
}

TEST(Arena, RandomRequestsNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    auto requests = randomRequests(random, 1 + round * 4, 1 + round);
    expectValid(requests, planArena(requests));
  }
}

TEST(Arena, StaysCloseToTheLowerBound) {
  std::mt19937 random(11);
  double worst = 1, sum = 0;
  for (int round = 0; round < 40; ++round) {
    auto requests = randomRequests(random, 300, 12);
    double ratio =
        double(planArena(requests).bytes) / arenaLowerBound(requests);
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  EXPECT_LT(worst, 1.25);
  EXPECT_LT(sum / 40, 1.12);
}

TEST(Arena, ReusesWhatIsDead) {
  std::vector<ArenaRequest> chain;
  for (int i = 0; i < 10; ++i)
    chain.push_back({4096, i, i + 1});
  EXPECT_EQ(planArena(chain).bytes, 2 * 4096);
  EXPECT_EQ(arenaLowerBound(chain), 2 * 4096);
}

TEST(Arena, EmptyAndZeroBytes) {
  EXPECT_EQ(planArena({}).bytes, 0);
  std::vector<ArenaRequest> none{{0, 0, 3}, {0, 1, 2}};
  expectValid(none, planArena(none));
}

TEST(Arena, ManyRequestsTakeLittleTime) {
  std::mt19937 random(3);
  auto requests = randomRequests(random, 100000, 20);
  ArenaPlan plan = planArena(requests);
  EXPECT_GE(plan.bytes, arenaLowerBound(requests));
}
