//===- SolverTest.cpp - Solvers against exhaustive search -----------------===//

#include "autopar/Planning/Solver.h"
#include "RandomProblem.h"
#include "autopar/Planning/Elimination.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(Solver, EqualsExhaustiveSearchOn200Problems) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/false);
    Expected<Solution> oracle = solveExhaustively(problem);
    Expected<Solution> found = solve(problem);
    ASSERT_TRUE(bool(oracle)) << toString(oracle.takeError());
    ASSERT_TRUE(bool(found)) << toString(found.takeError());
    EXPECT_DOUBLE_EQ(found->seconds, oracle->seconds) << "seed " << seed;
    EXPECT_EQ(found->gap(), 0) << "seed " << seed;
  }
}

TEST(Solver, EqualsExhaustiveSearchOn200ProblemsWithMemory) {
  unsigned solved = 0, limited = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    Expected<Solution> oracle = solveExhaustively(problem);
    Expected<Solution> found = solve(problem);
    ASSERT_EQ(bool(oracle), bool(found)) << "seed " << seed;
    if (!oracle) {
      consumeError(oracle.takeError());
      consumeError(found.takeError());
      continue;
    }
    EXPECT_DOUBLE_EQ(found->seconds, oracle->seconds) << "seed " << seed;
    EXPECT_EQ(found->gap(), 0) << "seed " << seed;
    ++solved;
    problem.memoryLimit = 0;
    limited += cantFail(solve(problem)).seconds < found->seconds;
  }
  EXPECT_GT(solved, 100u);
  EXPECT_GT(limited, 20u);
}

TEST(Solver, SaysWhatMemoryIsNeeded) {
  Problem problem;
  problem.nodes.push_back({"weights", {1, 2}, {100, 50}});
  problem.persistent.push_back({0, 1});
  problem.memoryLimit = 10;
  Expected<Solution> found = solve(problem);
  ASSERT_FALSE(bool(found));
  std::string message = toString(found.takeError());
  EXPECT_NE(message.find("the least found is 50 B"), std::string::npos)
      << message;
}

TEST(Solver, SmallTablesGiveBoundsThatHold) {
  SolverOptions options;
  options.cellLimit = options.roughCellLimit = 8;
  unsigned found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/false);
    Solution oracle = cantFail(solveExhaustively(problem));
    Expected<Solution> solution = solve(problem, options);
    if (!solution) { // dropped choices may have been the only legal ones
      consumeError(solution.takeError());
      continue;
    }
    ++found;
    EXPECT_GE(solution->seconds, oracle.seconds * (1 - 1e-12));
    EXPECT_LE(solution->lowerBound, oracle.seconds * (1 + 1e-9));
  }
  EXPECT_GT(found, 50u);
}

/// A deferred node never makes the bound of the others wrong.
TEST(Solver, DeferredNodesKeepTheBound) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/false);
    problem.nodes.back().deferred = true;
    Solution oracle = cantFail(solveExhaustively(problem));
    Expected<Solution> solution = solve(problem);
    ASSERT_TRUE(bool(solution)) << toString(solution.takeError());
    EXPECT_GE(solution->seconds, oracle.seconds * (1 - 1e-12));
    EXPECT_LE(solution->lowerBound, oracle.seconds * (1 + 1e-9));
  }
}

TEST(Problem, CheckAndVerifyComplain) {
  Problem problem;
  problem.nodes.push_back({"a", {1, 2}, {}});
  problem.nodes.push_back({"b", {1}, {}});
  problem.edges.push_back({0, 1, {0}, {}});
  EXPECT_EQ(toString(problem.check()), "a -- b: matrix of another size");
  problem.edges[0].seconds = {0, 5};
  EXPECT_FALSE(bool(problem.check()));
  Solution wrong{{1, 0}, 3, 0, 0};
  EXPECT_EQ(toString(verify(problem, wrong)),
            "seconds are not those of the choices");
}

} // namespace
