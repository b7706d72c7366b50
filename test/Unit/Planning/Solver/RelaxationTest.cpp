//===- RelaxationTest.cpp - Memory priced by multipliers ------------------===//

#include "lib/Planning/Solver/Relaxation.h"
#include "RandomProblem.h"
#include "TwoTables.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

constexpr size_t kUnlimited = size_t(1) << 24;

/// The least seconds of choices that fit; kIllegal: none does.
double leastSeconds(const Problem &problem) {
  Expected<Solution> best = solveExhaustively(problem);
  if (best)
    return best->seconds;
  consumeError(best.takeError());
  return kIllegal;
}

/// Whatever the multipliers, the relaxed least is no more than that of the
/// choices that fit.
TEST(Relaxation, IsABoundOfWhatFits) {
  SolverOptions options;
  unsigned tried = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Problem problem = randomProblem(seed, /*memory=*/true);
    double least = leastSeconds(problem);
    Relaxation relaxation(problem, options);
    MemoryQuestion question{problem, options, nullptr, kIllegal};
    SearchWork work;
    std::mt19937 random(seed);
    for (double multiplier : {0.0, 0.1, 0.5, 2.0}) {
      RowMultipliers rows = {
          relaxation.rowMultiplier(random() % problem.rows.size(), multiplier)};
      RelaxedResult found =
          relaxation.minimise(question, work, rows, kUnlimited, kIllegal);
      EXPECT_LE(found.lowerBound, least + 1e-9) << "seed " << seed;
      tried += least < kIllegal;
    }
    EXPECT_GT(work.done, 0);
  }
  EXPECT_GT(tried, 300u);
}

/// Half a second per byte: splitting the first table saves 60 bytes for 10
/// seconds, the second for 30.
TEST(Relaxation, MultipliersPriceBytes) {
  SolverOptions options;
  Problem problem = twoTables(150);
  Relaxation relaxation(problem, options);
  MemoryQuestion question{problem, options, nullptr, kIllegal};
  SearchWork work;
  auto choiceAt = [&](double multiplier) {
    return relaxation
        .minimise(
            question, work,
            {relaxation.rowMultiplier(relaxation.persistentRow(), multiplier)},
            kUnlimited, kIllegal)
        .choice;
  };
  EXPECT_EQ(choiceAt(0), kWhole);
  EXPECT_EQ(choiceAt(0.25), kFirstSplit);
  EXPECT_EQ(choiceAt(1), kBothSplit);
}

/// A core answers as the whole graph does, with fixed choices too.
TEST(Relaxation, ACoreChangesNothing) {
  SolverOptions options;
  Problem problem = twoTables(150);
  Relaxation whole(problem, options), cored(problem, options);
  MemoryQuestion question{problem, options, nullptr, kIllegal};
  SearchWork work;
  cored.makeCore(question, /*row=*/0, work);
  ASSERT_TRUE(cored.hasCore());
  RowMultipliers rows = {whole.rowMultiplier(whole.persistentRow(), 0.25)};
  FixedChoices fixed = {{1, 1}};
  EXPECT_TRUE(cored.isOfCore(rows, fixed));
  EXPECT_FALSE(whole.isOfCore(rows, fixed));
  RelaxedResult a = whole.minimise(question, work, rows, kUnlimited, kIllegal,
                                   fixed),
                b = cored.minimise(question, work, rows, kUnlimited, kIllegal,
                                   fixed);
  EXPECT_EQ(a.choice, kBothSplit);
  EXPECT_EQ(b.choice, a.choice);
  EXPECT_DOUBLE_EQ(b.lowerBound, a.lowerBound);
  cored.dropCore();
  EXPECT_FALSE(cored.isOfCore(rows, fixed));
}

TEST(Relaxation, IsFirstSearchedOnce) {
  SolverOptions options;
  Problem problem = twoTables(150);
  Relaxation relaxation(problem, options);
  MemoryQuestion question{problem, options, nullptr, kIllegal};
  SearchWork work;
  EXPECT_EQ(relaxation.first(question, work).choice, kWhole);
  double before = work.done;
  relaxation.first(question, work);
  EXPECT_EQ(work.done, before);
}

} // namespace
