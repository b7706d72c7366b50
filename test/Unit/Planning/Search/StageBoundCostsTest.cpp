//===- StageBoundCostsTest.cpp - What stages cost at least ----------------===//

#include "autopar/Planning/Search/BuildProblem.h"
#include "autopar/Planning/Search/SharedWork.h"
#include "lib/Planning/Search/StageBound.h"
#include "lib/Planning/Search/Trials.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"
#include <random>

using namespace autopar;
using namespace llvm;

namespace {

/// Whatever is decided, the parts of an op cost no more than the op.
TEST(StageBoundCosts, PartsAreNoMoreThanTheirOps) {
  constexpr double kLimit = 1; // seconds, far more than the chain takes
  ModelGraph graph = chainOf(50);
  SharedWork shared;
  for (int64_t microBatches : {1, 4}) {
    Trial trial{cantFail(parseCluster("2x4:a100-80gb")),
                cantFail(meshCandidates(
                             requestOf(8, "layer,auto", "layer=2,x=4"), 4096))
                    .front(),
                microBatches, Objective::Throughput};
    PlanQuestion question{graph,
                          trial.cluster,
                          meshOf(trial),
                          cantFail(demandsOf(graph, trial, shared)),
                          /*memoryLimit=*/0,
                          {}};
    question.pipeline = trial.pipeline();
    std::unique_ptr<PlanProblem> problem =
        cantFail(PlanProblem::build(question));
    StageBoundCosts costs = problem->stageBoundCosts(kLimit);
    ASSERT_EQ(costs.ops.size(), graph.ops.size());
    EXPECT_LT(costs.opKinds.size(), graph.ops.size()); // it is folded
    std::mt19937 random(microBatches);
    unsigned legal = 0;
    for (unsigned attempt = 0; attempt < 200; ++attempt) {
      std::vector<unsigned> choice;
      for (const ProblemNode &node : problem->problem.nodes)
        choice.push_back(random() % node.choices());
      std::vector<double> seconds = problem->opSeconds(choice).front();
      for (size_t op = 0; op < graph.ops.size(); ++op) {
        double parts = 0;
        for (const StageBoundCosts::Part &part : costs.opKinds[costs.ops[op]])
          parts += part.seconds[choice[part.decision]];
        if (seconds[op] < kLimit) {
          ++legal;
          EXPECT_LE(parts, seconds[op] * double(microBatches) * (1 + 1e-9));
        }
      }
    }
    EXPECT_GT(legal, 1000u);
  }
}

} // namespace
