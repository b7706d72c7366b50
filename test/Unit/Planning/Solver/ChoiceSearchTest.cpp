//===- ChoiceSearchTest.cpp - The best that fits the memory limit ---------===//

#include "lib/Planning/Solver/ChoiceSearch.h"
#include "TwoTables.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

Expected<Solution> search(int64_t limit, double cutoff = kIllegal) {
  static SolverOptions options;
  Problem problem = twoTables(limit);
  Relaxation relaxation(problem, options);
  bool isRough = true;
  Expected<Solution> found =
      searchChoice({problem, options, nullptr, cutoff}, relaxation, isRough);
  EXPECT_FALSE(isRough);
  return found;
}

TEST(ChoiceSearch, TakesMoreSecondsTheLessMemoryThereIs) {
  for (auto [limit, seconds] :
       {std::pair(0, 5), {200, 5}, {199, 15}, {140, 15}, {139, 45}, {80, 45}}) {
    Expected<Solution> found = search(limit);
    ASSERT_TRUE(bool(found)) << limit;
    EXPECT_EQ(found->seconds, seconds) << limit;
    EXPECT_LT(found->gap(), 1e-12) << limit;
  }
}

TEST(ChoiceSearch, SaysTheLeastBytesWhereNothingFits) {
  Expected<Solution> found = search(79);
  ASSERT_FALSE(bool(found));
  handleAllErrors(found.takeError(), [](const NotEnoughMemory &what) {
    EXPECT_EQ(what.limitBytes, 79);
    EXPECT_EQ(what.leastBytes, 80);
    EXPECT_EQ(what.lowerBound, kIllegal); // it is hopeless
  });
}

TEST(ChoiceSearch, EndsAtTheCutoff) {
  for (auto [limit, cutoff] : {std::pair(0, 5.0), {140, 14.0}}) {
    Expected<Solution> found = search(limit, cutoff);
    ASSERT_FALSE(bool(found)) << limit;
    EXPECT_TRUE(found.errorIsA<NothingCheaper>()) << limit;
    consumeError(found.takeError());
  }
  EXPECT_EQ(cantFail(search(140, /*cutoff=*/15.5)).seconds, 15);
}

} // namespace
