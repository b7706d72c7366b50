//===- IncumbentTest.cpp - The best choice so far, and what bounds it -----===//

#include "lib/Planning/Solver/Incumbent.h"
#include "TwoTables.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(Incumbent, TakesWhatFitsAndIsBetter) {
  SolverOptions options;
  Problem problem = twoTables(150);
  MemoryQuestion question{problem, options, nullptr, kIllegal};
  SearchWork work;
  Incumbent incumbent(question, work);
  EXPECT_TRUE(incumbent.isOpen());
  incumbent.offer(kWhole); // 200 bytes
  EXPECT_FALSE(incumbent.best());
  EXPECT_EQ(incumbent.leastBytes(), 200);
  incumbent.offer(kSecondSplit);
  ASSERT_TRUE(incumbent.best());
  EXPECT_EQ(incumbent.best()->seconds, 35);
  incumbent.offer(kFirstSplit);
  EXPECT_EQ(incumbent.best()->choice, kFirstSplit);
  EXPECT_EQ(incumbent.best()->peakBytes, 140);
  EXPECT_FALSE(incumbent.best()->isEvaluated);
  incumbent.offer(kBothSplit); // it fits, but takes longer
  EXPECT_EQ(incumbent.best()->choice, kFirstSplit);
  EXPECT_EQ(incumbent.enough(), 15);
  incumbent.lowerBound = 15;
  EXPECT_FALSE(incumbent.isOpen());
  EXPECT_EQ(incumbent.withBound(*incumbent.best()).gap(), 0);
}

/// What is evaluated counts, and is evaluated once; what exceeds the limit more
/// than twice is not.
TEST(Incumbent, EvaluatesEachChoiceOnce) {
  SolverOptions options;
  Problem problem = twoTables(150);
  unsigned count = 0;
  Evaluator evaluator;
  evaluator.memoryLimit = 150;
  evaluator.evaluate = [&](ArrayRef<unsigned> choice) {
    ++count;
    return Evaluation{problem.secondsOf(choice) + 1,
                      problem.peakBytes(choice) + 20};
  };
  MemoryQuestion question{problem, options, &evaluator, kIllegal};
  SearchWork work;
  Incumbent incumbent(question, work);
  for (unsigned i = 0; i < 3; ++i)
    incumbent.offer(kFirstSplit); // 160 bytes
  EXPECT_EQ(count, 1u);
  EXPECT_GT(work.done, 0);
  EXPECT_FALSE(incumbent.best());
  EXPECT_EQ(incumbent.leastBytes(), 160);
  EXPECT_TRUE(incumbent.nearlyFits());
  incumbent.offer(kBothSplit);
  ASSERT_TRUE(incumbent.best());
  EXPECT_EQ(incumbent.best()->seconds, 46);
  EXPECT_TRUE(incumbent.best()->isEvaluated);
  EXPECT_EQ(count, 2u);
  problem.memoryLimit = 60;
  EXPECT_EQ(incumbent.evaluate(kWhole).seconds, 5); // the problem's own
  EXPECT_EQ(count, 2u);
}

TEST(Incumbent, IsCutOffByItsBound) {
  SolverOptions options;
  Problem problem = twoTables(150);
  MemoryQuestion question{problem, options, nullptr, /*cutoff=*/12};
  SearchWork work;
  Incumbent incumbent(question, work);
  EXPECT_EQ(incumbent.enough(), 12);
  EXPECT_FALSE(incumbent.isCutOff());
  incumbent.estimate = 20; // counts in larger problems alone
  EXPECT_FALSE(incumbent.isCutOff());
  incumbent.lowerBound = 12;
  EXPECT_TRUE(incumbent.isCutOff());
}

} // namespace
