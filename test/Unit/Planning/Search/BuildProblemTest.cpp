//===- BuildProblemTest.cpp - From a graph and a mesh to a problem --------===//

#include "autopar/Planning/Search/BuildProblem.h"
#include "Meshes.h"
#include "autopar/Planning/Search/SharedWork.h"
#include "lib/Planning/Search/Trials.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// What is left under a cutoff has the same best plan, until the cutoff is that
/// plan.
TEST(PlanProblem, DropsOnlyWhatReachesTheCutoff) {
  ModelGraph graph = twoLayers(512);
  Trial trial{cantFail(clusterOfRanks(4)), freeMesh("x=2,y=2")};
  SharedWork shared;
  PlanQuestion question{graph,
                        trial.cluster,
                        meshOf(trial),
                        cantFail(demandsOf(graph, trial, shared)),
                        0,
                        {}};
  auto whole = cantFail(PlanProblem::build(question));
  double best = cantFail(Solver(whole->problem).solve()).seconds;
  auto choicesOf = [](const PlanProblem &built) {
    size_t count = 0;
    for (const ProblemNode &node : built.problem.nodes)
      count += node.choices();
    return count;
  };
  question.cutoff = best * (1 + 1e-9);
  auto dropped = cantFail(PlanProblem::build(question));
  EXPECT_LT(choicesOf(*dropped), choicesOf(*whole));
  EXPECT_DOUBLE_EQ(cantFail(Solver(dropped->problem).solve()).seconds, best);
  question.cutoff = best / 1e6;
  Expected<std::unique_ptr<PlanProblem>> none = PlanProblem::build(question);
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.errorIsA<NothingCheaper>());
  handleAllErrors(none.takeError(), [&](const NothingCheaper &what) {
    EXPECT_GE(what.lowerBound, question.cutoff);
    EXPECT_LE(what.lowerBound, best);
  });
}

} // namespace
