//===- StageBoundTest.cpp - Bounds of stages against all ways to cut ------===//

#include "lib/Planning/Search/StageBound.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <functional>
#include <random>

using namespace autopar;
using namespace llvm;

namespace {

/// Stages of up to 8 ops of 3 kinds, with 3 decisions of up to 3 choices.
StageBoundCosts randomCosts(std::mt19937 &random) {
  StageBoundCosts costs;
  for (unsigned decision = 0; decision < 3; ++decision)
    costs.choices.push_back(1 + random() % 3);
  auto times = [&](unsigned decision, int least) {
    std::vector<double> seconds;
    for (size_t choice = 0; choice < costs.choices[decision]; ++choice)
      seconds.push_back(double(random() % 20) + least);
    return seconds;
  };
  costs.opKinds.resize(3);
  for (std::vector<StageBoundCosts::Part> &parts : costs.opKinds)
    for (unsigned decision = 0; decision < 3; ++decision)
      if (random() % 2)
        parts.push_back({decision, times(decision, /*least=*/-5)});
  size_t count = 3 + random() % 6;
  for (size_t position = 0; position < count; ++position) {
    costs.ops.push_back(random() % 3);
    StageBoundCosts::Sent sent{unsigned(random() % 3), position, {}};
    for (size_t reader = position + 1; reader < count; ++reader)
      if (random() % 3 == 0)
        sent.read.push_back(reader);
    costs.sent.push_back(sent);
  }
  costs.messages.resize(1 + random() % 2);
  for (StageBoundCosts::Messages &kind : costs.messages)
    for (unsigned decision = 0; decision < 3; ++decision) {
      kind.receive.push_back(times(decision, 0));
      kind.send.push_back(times(decision, 0));
    }
  for (size_t stages = 1 + random() % 3; stages > 0; --stages)
    costs.stages.push_back(random() % costs.messages.size());
  return costs;
}

/// Of the ops from one position to another, under the best choices.
double secondsOf(const StageBoundCosts &costs, size_t stage, size_t from,
                 size_t to) {
  const StageBoundCosts::Messages &messages =
      costs.messages[costs.stages[stage]];
  double sum = 0;
  for (const auto &[index, choices] : enumerate(costs.choices)) {
    unsigned decision = index;
    std::vector<double> seconds(choices, 0);
    auto add = [&](ArrayRef<double> more) {
      for (auto [total, part] : zip_equal(seconds, more))
        total += part;
    };
    for (size_t position = from; position < to; ++position)
      for (const StageBoundCosts::Part &part :
           costs.opKinds[costs.ops[position]])
        if (part.decision == decision)
          add(part.seconds);
    for (const StageBoundCosts::Sent &sent : costs.sent) {
      auto within = [&](size_t position) {
        return from <= position && position < to;
      };
      if (sent.decision != decision)
        continue;
      if (sent.made < from && any_of(sent.read, within))
        add(messages.receive[decision]);
      if (within(sent.made) &&
          any_of(sent.read, [&](size_t position) { return position >= to; }))
        add(messages.send[decision]);
    }
    sum += *llvm::min_element(seconds);
  }
  return sum;
}

/// By all ways to cut.
double leastByTrying(const StageBoundCosts &costs) {
  double least = kIllegal;
  std::function<void(size_t, size_t, double)> cut = [&](size_t stage,
                                                        size_t from,
                                                        double slowest) {
    if (stage == costs.stages.size()) {
      if (from == costs.ops.size())
        least = std::min(least, slowest);
      return;
    }
    for (size_t to = from + 1; to <= costs.ops.size(); ++to)
      cut(stage + 1, to, std::max(slowest, secondsOf(costs, stage, from, to)));
  };
  cut(0, 0, 0);
  return least;
}

TEST(StageBound, IsTheLeastOfAllWaysToCut) {
  unsigned several = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    StageBoundCosts costs = randomCosts(random);
    // Ops without messages may cost less than nothing, so no limit but a high
    // one.
    for (StageBoundCosts::Part &part : costs.opKinds[seed % 3])
      for (double &seconds : part.seconds)
        seconds += 5;
    double least = leastByTrying(costs);
    EXPECT_NEAR(leastOfSlowestStage(costs, 1e6), std::max(least, 0.0), 1e-3)
        << "seed " << seed;
    several += costs.stages.size() > 1;
  }
  EXPECT_GT(several, 150u);
}

TEST(StageBound, IsTheLimitWhereAllTakeAsMuch) {
  StageBoundCosts costs;
  costs.choices = {2};
  costs.opKinds = {{{0, {3, 4}}}};
  costs.ops = {0, 0, 0};
  costs.sent = {{0, 0, {1}}, {0, 1, {2}}, {0, 2, {}}};
  costs.messages = {{{{1, 0}}, {{2, 0}}}};
  costs.stages = {0, 0};
  // Two ops and a message: the second choice sends for nothing.
  EXPECT_NEAR(leastOfSlowestStage(costs, 100), 7, 1e-6);
  EXPECT_NEAR(leastOfSlowestStage(costs, 7.5), 7, 1e-6);
  EXPECT_NEAR(leastOfSlowestStage(costs, 6), 6, 1e-6);
}

} // namespace
