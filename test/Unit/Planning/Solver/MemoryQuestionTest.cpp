//===- MemoryQuestionTest.cpp - What is searched within a memory limit ----===//

#include "lib/Planning/Solver/MemoryQuestion.h"
#include "TwoTables.h"
#include "lib/Planning/Solver/SolverTuning.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(MemoryQuestion, IsHopelessWhereTheLeastBytesExceedTheLimit) {
  SolverOptions options;
  for (auto [limit, isHopeless] :
       {std::pair(79, true), {80, false}, {0, false}}) {
    Problem problem = twoTables(limit);
    MemoryQuestion question{problem, options, nullptr, kIllegal};
    EXPECT_EQ(question.isHopeless(), isHopeless) << limit;
  }
}

TEST(MemoryQuestion, RowsFitWithoutALimit) {
  SolverOptions options;
  Problem problem = twoTables(150);
  MemoryQuestion question{problem, options, nullptr, kIllegal};
  EXPECT_FALSE(question.fitsRows(kWhole, 150));
  EXPECT_TRUE(question.fitsRows(kWhole, 200));
  EXPECT_TRUE(question.fitsRows(kFirstSplit, 150));
  problem.memoryLimit = 0;
  EXPECT_TRUE(question.fitsRows(kWhole, 150));
}

TEST(MemoryQuestion, LargeProblemsProveNothing) {
  SolverOptions options;
  Problem problem = twoTables(0);
  MemoryQuestion question{problem, options, nullptr, kIllegal};
  EXPECT_TRUE(question.isSmall());
  EXPECT_TRUE(question.mayProve());
  problem.nodes.resize(kTuning.smallProblem + 1, problem.nodes.back());
  EXPECT_FALSE(question.isSmall());
  EXPECT_TRUE(question.mayProve());
  problem.nodes.resize(kTuning.mostToProve + 1, problem.nodes.back());
  EXPECT_FALSE(question.mayProve());
}

TEST(MemoryQuestion, TheEvaluatorsLimitCounts) {
  SolverOptions options;
  Problem problem = twoTables(150);
  Evaluator evaluator;
  evaluator.leastShare = 0.5;
  evaluator.memoryLimit = 170;
  MemoryQuestion exact{problem, options, nullptr, kIllegal};
  EXPECT_EQ(exact.memoryLimit(), 150);
  EXPECT_EQ(exact.leastShare(), 1);
  MemoryQuestion evaluated{problem, options, &evaluator, kIllegal};
  EXPECT_EQ(evaluated.memoryLimit(), 170);
  EXPECT_EQ(evaluated.leastShare(), 0.5);
}

} // namespace
