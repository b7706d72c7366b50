//===- LocalSearchTest.cpp - A few choices made anew ----------------------===//

#include "lib/Planning/Solver/LocalSearch.h"
#include "TwoTables.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(LocalSearch, ChangesTwoNodesAtOnce) {
  SolverOptions options;
  Problem problem = twoTables(150);
  MemoryQuestion question{problem, options, nullptr, kIllegal};
  SearchWork work;
  Incumbent incumbent(question, work);
  // No single table may change: whole is too full, and the work has no choice.
  incumbent.offer(kSecondSplit);
  searchAround(incumbent);
  EXPECT_EQ(incumbent.best()->choice, kSecondSplit); // there is no work left
  work.limit = 1e6;
  searchAround(incumbent);
  EXPECT_EQ(incumbent.best()->choice, kFirstSplit);
  EXPECT_GT(work.done, 0);
}

} // namespace
