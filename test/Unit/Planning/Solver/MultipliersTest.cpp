//===- MultipliersTest.cpp - Seconds per byte of rows that are too full ---===//

#include "lib/Planning/Solver/Multipliers.h"
#include "TwoTables.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(Multipliers, LeadToTheCheapestChoiceThatFits) {
  SolverOptions options;
  for (auto [limit, expected] :
       {std::pair(150, kFirstSplit), {140, kFirstSplit}, {100, kBothSplit}}) {
    Problem problem = twoTables(limit);
    Relaxation relaxation(problem, options);
    MemoryQuestion question{problem, options, nullptr, kIllegal};
    SearchWork work;
    work.limit = options.multiplierWork;
    Incumbent incumbent(question, work);
    std::vector<unsigned> choice = kWhole;
    RowMultipliers rows = findMultipliers(relaxation, incumbent, limit, choice);
    EXPECT_EQ(choice, expected) << limit;
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_GT(rows.front().multiplier, 0);
    ASSERT_TRUE(incumbent.best());
    EXPECT_EQ(incumbent.best()->choice, expected) << limit;
    EXPECT_LE(incumbent.lowerBound, incumbent.best()->seconds) << limit;
  }
}

TEST(Multipliers, WithoutWorkNothingIsTried) {
  SolverOptions options;
  Problem problem = twoTables(150);
  Relaxation relaxation(problem, options);
  MemoryQuestion question{problem, options, nullptr, kIllegal};
  SearchWork work;
  Incumbent incumbent(question, work);
  std::vector<unsigned> choice = kWhole;
  EXPECT_TRUE(findMultipliers(relaxation, incumbent, 150, choice).empty());
  EXPECT_EQ(choice, kWhole);
}

/// Evaluated choices hold 20 bytes more than rows say: the first table alone is
/// not enough.
TEST(Multipliers, RowsLeadToWhatIsEvaluatedToFit) {
  SolverOptions options;
  Problem problem = twoTables(150);
  Evaluator evaluator;
  evaluator.memoryLimit = 150;
  evaluator.evaluate = [&](ArrayRef<unsigned> choice) {
    return Evaluation{problem.secondsOf(choice),
                      problem.peakBytes(choice) + 20};
  };
  Relaxation relaxation(problem, options);
  MemoryQuestion question{problem, options, &evaluator, kIllegal};
  SearchWork work;
  work.limit = options.multiplierWork;
  Incumbent incumbent(question, work);
  leadByRows(relaxation, incumbent, kWhole);
  ASSERT_TRUE(incumbent.best());
  EXPECT_EQ(incumbent.best()->choice, kBothSplit);
  EXPECT_LE(incumbent.lowerBound, 45);
}

} // namespace
