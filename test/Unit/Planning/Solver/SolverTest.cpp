//===- SolverTest.cpp - Solvers against exhaustive search -----------------===//

#include "autopar/Planning/Solver/Solver.h"
#include "RandomProblem.h"
#include "autopar/Planning/Solver/Elimination.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(Solver, EqualsExhaustiveSearchOn200Problems) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/false);
    Expected<Solution> oracle = solveExhaustively(problem);
    Expected<Solution> found = Solver(problem).solve();
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
    Expected<Solution> found = Solver(problem).solve();
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
    limited += cantFail(Solver(problem).solve()).seconds < found->seconds;
  }
  EXPECT_GT(solved, 100u);
  EXPECT_GT(limited, 20u);
}

TEST(Solver, SaysWhatMemoryIsNeeded) {
  Problem problem;
  problem.nodes.push_back({"weights", {1, 2}, {100, 50}});
  problem.persistent.push_back({0, 1});
  problem.memoryLimit = 10;
  Expected<Solution> found = Solver(problem).solve();
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
    Expected<Solution> solution = Solver(problem, options).solve();
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

/// The problem were its deferred nodes free.
static Problem withFreeDeferred(Problem problem) {
  auto free = [](std::vector<double> &seconds) {
    for (double &cell : seconds)
      if (cell != kIllegal)
        cell = 0;
  };
  for (ProblemNode &node : problem.nodes)
    if (node.deferred)
      free(node.seconds);
  for (ProblemEdge &edge : problem.edges)
    if (problem.nodes[edge.a].deferred || problem.nodes[edge.b].deferred)
      free(edge.seconds);
  return problem;
}

/// A deferred node is no part of the bound, with and without a memory limit.
TEST(Solver, DeferredNodesKeepTheBound) {
  unsigned found = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/seed % 2);
    problem.nodes.back().deferred = true;
    Expected<Solution> solution = Solver(problem).solve();
    Expected<Solution> oracle = solveExhaustively(problem);
    ASSERT_EQ(bool(solution), bool(oracle)) << "seed " << seed;
    if (!solution) {
      consumeError(solution.takeError());
      consumeError(oracle.takeError());
      continue;
    }
    ++found;
    Solution free = cantFail(solveExhaustively(withFreeDeferred(problem)));
    EXPECT_GE(solution->seconds, oracle->seconds * (1 - 1e-12));
    EXPECT_LE(solution->lowerBound, free.seconds * (1 + 1e-9))
        << "seed " << seed;
  }
  EXPECT_GT(found, 150u);
}

/// Work cut short leaves a gap, never a wrong bound: neither small tables nor
/// few multipliers and branches may call a solution best that is not.
TEST(Solver, WorkCutShortKeepsTheBoundWithMemory) {
  unsigned found = 0, open = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    Expected<Solution> oracle = solveExhaustively(problem);
    SolverOptions options;
    options.cellLimit = options.roughCellLimit = seed % 2 ? 8 : 1 << 20;
    options.multiplierWork = options.branchWork = seed % 3 ? 2e4 : 1e9;
    Expected<Solution> solution = Solver(problem, options).solve();
    if (!solution || !oracle) {
      EXPECT_FALSE(bool(solution)) << "seed " << seed;
      consumeError(solution.takeError());
      if (!oracle)
        consumeError(oracle.takeError());
      continue;
    }
    ++found;
    open += solution->gap() > 0;
    EXPECT_GE(solution->seconds, oracle->seconds) << "seed " << seed;
    EXPECT_LE(solution->lowerBound, oracle->seconds * (1 + 1e-9))
        << "seed " << seed;
    EXPECT_LE(solution->peakBytes, problem.memoryLimit) << "seed " << seed;
  }
  EXPECT_GT(found, 150u);
  EXPECT_GT(open, 10u);
}

/// Of this one the best is in a branch where small tables find no choices at
/// all: what is found beside the branches is not proved.
TEST(Solver, BranchesWithoutChoicesFoundStayOpen) {
  SolverOptions options;
  options.cellLimit = options.roughCellLimit = 2;
  Problem problem =
      randomProblem(/*seed=*/13536, /*memory=*/true, /*dense=*/true);
  Solution oracle = cantFail(solveExhaustively(problem));
  Solution solution = cantFail(Solver(problem, options).solve());
  EXPECT_GE(solution.seconds, oracle.seconds);
  EXPECT_LT(solution.lowerBound, oracle.seconds);
  EXPECT_GT(solution.gap(), 0);
  EXPECT_EQ(cantFail(Solver(problem).solve()).seconds, oracle.seconds);
}

TEST(Solver, GapIsTheShareThatMayBeSaved) {
  EXPECT_DOUBLE_EQ((Solution{{}, 10, 0, 8}.gap()), 0.2);
  EXPECT_EQ((Solution{{}, 10, 0, 10}.gap()), 0);
  EXPECT_EQ((Solution{{}, 0, 0, 0}.gap()), 0);
}

/// As the limit falls from what the fastest takes, the fastest that fits takes
/// longer; below what anything takes the error says the least.
TEST(Solver, TakesTheFastestThatFits) {
  Problem problem;
  problem.nodes = {{"weights", {1, 2, 5}, {100, 60, 10}},
                   {"result", {0, 3}, {40, 5}}};
  problem.edges.push_back({0, 1, {0, 0, 0, 0, 9, 0}, {}});
  problem.persistent.push_back({0, 1});
  problem.rowKinds = {{{{1, 1}}, {}, {}}};
  problem.rows = {0};
  for (auto [limit, seconds] :
       std::initializer_list<std::pair<int64_t, double>>{{0, 1},
                                                         {140, 1},
                                                         {139, 2},
                                                         {100, 2},
                                                         {99, 5},
                                                         {65, 5},
                                                         {64, 8},
                                                         {15, 8}}) {
    problem.memoryLimit = limit;
    Expected<Solution> found = Solver(problem).solve();
    ASSERT_TRUE(bool(found)) << toString(found.takeError());
    EXPECT_EQ(found->seconds, seconds) << limit << " bytes";
    EXPECT_EQ(found->gap(), 0) << limit << " bytes";
  }
  problem.memoryLimit = 14;
  EXPECT_EQ(toString(Solver(problem).solve().takeError()),
            "no plan found within the memory limit of 14 B per device; the "
            "least found is 15 B: use more devices or a higher limit");
}

/// The best outcome over all choices; kIllegal: none fits.
static double bestEvaluation(const Problem &problem,
                             const Evaluator &evaluator) {
  double best = kIllegal;
  std::vector<unsigned> choice(problem.nodes.size(), 0);
  for (size_t node = 0; node < choice.size();) {
    Evaluation evaluation = evaluator.evaluate(choice);
    if (evaluation.bytes <= evaluator.memoryLimit)
      best = std::min(best, evaluation.seconds);
    for (node = 0; node < choice.size() &&
                   ++choice[node] == problem.nodes[node].choices();
         ++node)
      choice[node] = 0;
  }
  return best;
}

/// What is held all the time, and more or less than rows say beside that; from
/// half of the seconds upwards. `problem` must outlive them.
static Evaluator randomEvaluator(const Problem &problem, unsigned seed) {
  Evaluator evaluator;
  evaluator.leastShare = seed % 2 ? 1 : 0.5;
  evaluator.memoryLimit = problem.memoryLimit;
  evaluator.evaluate = [&problem,
                        seed](ArrayRef<unsigned> choice) -> Evaluation {
    unsigned mark = 0;
    for (unsigned c : choice)
      mark = 5 * mark + c;
    double share = seed % 2 ? 1 : 0.5 + 0.1 * (mark % 7);
    int64_t held = problem.persistentBytes(choice);
    int64_t beside = problem.peakBytes(choice) - held;
    return {problem.secondsOf(choice) * share,
            held + beside * int64_t(3 + mark % 4) / 4};
  };
  return evaluator;
}

/// What counts is what choices come to.
TEST(Solver, OutcomesTakeThePlaceOfEstimates) {
  unsigned solved = 0, misled = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    if (seed % 4 < 2)
      problem.persistent.clear();
    Evaluator evaluator = randomEvaluator(problem, seed);
    double best = bestEvaluation(problem, evaluator);
    Expected<Solution> found = Solver(problem, {}, evaluator).solve();
    ASSERT_EQ(bool(found), best < kIllegal) << "seed " << seed;
    if (!found) {
      consumeError(found.takeError());
      continue;
    }
    ++solved;
    EXPECT_DOUBLE_EQ(found->seconds, best) << "seed " << seed;
    EXPECT_EQ(found->gap(), 0) << "seed " << seed;
    Evaluation evaluation = evaluator.evaluate(found->choice);
    EXPECT_EQ(evaluation.seconds, found->seconds) << "seed " << seed;
    EXPECT_EQ(evaluation.bytes, found->peakBytes) << "seed " << seed;
    misled += problem.peakBytes(found->choice) > problem.memoryLimit;
  }
  EXPECT_GT(solved, 200u);
  EXPECT_GT(misled, 20u);
}

/// Of what there was no time to search, too, and where rows have no limit.
TEST(Solver, BoundsOfOutcomesHold) {
  unsigned solved = 0, without = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    Evaluator evaluator = randomEvaluator(problem, seed);
    double best = bestEvaluation(problem, evaluator);
    if (seed % 4 < 2)
      problem.memoryLimit = 0; // of some devices it is not known
    SolverOptions options;
    options.branchWork = options.multiplierWork = seed % 8 < 4 ? 0 : 1e5;
    Expected<Solution> found = Solver(problem, options, evaluator).solve();
    double lowerBound = 0;
    if (found) {
      lowerBound = found->lowerBound;
      EXPECT_GE(found->seconds, best) << "seed " << seed;
    } else {
      handleAllErrors(found.takeError(), [&](const NotEnoughMemory &shortage) {
        lowerBound = shortage.lowerBound;
      });
    }
    ++(found ? solved : without);
    EXPECT_GE(lowerBound, 0) << "seed " << seed;
    EXPECT_LE(lowerBound, best * (1 + 1e-9)) << "seed " << seed;
  }
  EXPECT_GT(solved, 100u);
  EXPECT_GT(without, 20u);
}

/// A solution that costs as much as what is known is of no interest.
TEST(Solver, CutoffEndsTheSearchOfWhatIsNoBetter) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    Expected<Solution> oracle = solveExhaustively(problem);
    if (!oracle) {
      consumeError(oracle.takeError());
      continue;
    }
    Expected<Solution> below = Solver(problem).solve(oracle->seconds + 1);
    ASSERT_TRUE(bool(below)) << toString(below.takeError());
    EXPECT_EQ(below->seconds, oracle->seconds) << "seed " << seed;
    EXPECT_EQ(below->gap(), 0) << "seed " << seed;
  }
}

} // namespace
