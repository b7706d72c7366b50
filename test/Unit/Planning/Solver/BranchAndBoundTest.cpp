//===- BranchAndBoundTest.cpp - Choices fixed one after the other ---------===//

#include "lib/Planning/Solver/BranchAndBound.h"
#include "RandomProblem.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// From nothing, branches find the best that fits and prove it.
TEST(BranchAndBound, FindsAndProvesTheBestThatFits) {
  SolverOptions options;
  unsigned fitting = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    Relaxation relaxation(problem, options);
    MemoryQuestion question{problem, options, nullptr, kIllegal};
    SearchWork work;
    work.limit = 1e12;
    Incumbent incumbent(question, work);
    branch(relaxation, incumbent, {});
    Expected<Solution> best = solveExhaustively(problem);
    ASSERT_EQ(bool(best), incumbent.best().has_value()) << "seed " << seed;
    if (!best) {
      consumeError(best.takeError());
      continue;
    }
    ++fitting;
    EXPECT_EQ(incumbent.best()->seconds, best->seconds) << "seed " << seed;
    EXPECT_FALSE(incumbent.isOpen()) << "seed " << seed;
  }
  EXPECT_GT(fitting, 40u);
}

/// Without work the bound of what is left stays one.
TEST(BranchAndBound, WorkCutShortKeepsTheBound) {
  SolverOptions options;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    Relaxation relaxation(problem, options);
    MemoryQuestion question{problem, options, nullptr, kIllegal};
    SearchWork work;
    work.limit = 1e4;
    Incumbent incumbent(question, work);
    branch(relaxation, incumbent, {});
    Expected<Solution> best = solveExhaustively(problem);
    double least = best ? best->seconds : kIllegal;
    if (!best)
      consumeError(best.takeError());
    EXPECT_LE(incumbent.lowerBound, least) << "seed " << seed;
  }
}

} // namespace
