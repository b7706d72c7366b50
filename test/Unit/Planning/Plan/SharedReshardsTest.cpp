//===- SharedReshardsTest.cpp - What several readers share counts once ----===//

#include "autopar/Planning/Plan/SharedReshards.h"
#include "autopar/Planning/Search/Search.h"
#include "autopar/Report/PlanFacts.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

ExitOnError orExit;

TEST(SharedReshards, AreOnePerValueShardingFillAndStage) {
  SharedReshards<unsigned, int> reshards;
  WantedSharding whole{Sharding::replicated(2), {}};
  WantedSharding rows = whole, filled = whole;
  rows.sharding.dims[0].subAxes = {0};
  filled.fill = {0, -1};
  reshards.find(7, whole, 0) = 1;
  EXPECT_EQ(reshards.find(7, whole, 0), 1);
  EXPECT_EQ(reshards.find(8, whole, 0), 0);
  EXPECT_EQ(reshards.find(7, rows, 0), 0);
  EXPECT_EQ(reshards.find(7, filled, 0), 0);
  EXPECT_EQ(reshards.find(7, whole, 1), 0);
  reshards.find(7, whole, 0, /*again=*/true) = 2;
  EXPECT_EQ(reshards.find(7, whole, 0), 2);
}

TEST(SharedReshards, OfAnArgumentAreWhereItIsRead) {
  EXPECT_EQ(reshardStage(/*maker=*/0, /*reader=*/2), 0);
  EXPECT_EQ(reshardStage(std::nullopt, /*reader=*/2), 2);
}

/// An interval's fill is the window's; other dimensions have none.
TEST(SharedReshards, ToIntervalsKnowTheirFill) {
  Sharding sharding = Sharding::replicated(2);
  TensorFactors factors{0u, 1u};
  factors[1].window = Window{3, 1, 1, 1, -2.0};
  EXPECT_TRUE(wantedSharding(sharding, factors).fill.empty());
  sharding.dims[1].interval = Interval{4, -1, 6};
  WantedSharding wanted = wantedSharding(sharding, factors);
  EXPECT_EQ(ArrayRef(wanted.fill), ArrayRef<double>({0, -2}));
}

/// n, of which each device has rows, is read whole by two matrix
/// multiplications that split columns.
struct TwoReaders {
  ModelGraph graph;
  Plan plan;
  std::vector<SearchTrial> tried;

  TwoReaders() {
    SmallModel model;
    unsigned n = model.elementwise("n", model.input("x", {64, 64}));
    unsigned a = model.matmul("a", n, model.parameter("w1", {64, 64}));
    unsigned b = model.matmul("b", n, model.parameter("w2", {64, 64}));
    graph = model.finish(model.matmul("y", a, b));
    PlanRequest request = requestOf(2);
    request.constraints =
        constraintsOf(R"([{"value": "n", "sharding": [["all"], []]},
                          {"node": "node_a", "strategy": {"all": "split 2"}},
                          {"node": "node_b", "strategy": {"all": "split 2"}}])");
    plan = orExit(searchPlan(graph, request, nullptr, &tried));
  }

  double communication(ReadCost reads) const {
    return stageCosts(plan, graph, reads)[0].communication;
  }
  int64_t gathersOf(StringRef value) const {
    int64_t count = 0;
    for (const CostRow &row : factsOf(plan, graph).origins)
      if (graph.values[row.index].name == value)
        count += row.count;
    return count;
  }
};

TEST(SharedReshards, CountOnceInCollectivesSecondsAndTables) {
  TwoReaders it;
  double gather =
      it.communication(ReadCost::PerRead) - it.communication(ReadCost::Shared);
  EXPECT_GT(gather, 0);
  EXPECT_EQ(it.gathersOf("n"), 1);
  StageCost cost = stageCosts(it.plan, it.graph)[0];
  EXPECT_NEAR(cost.busy() / it.plan.predictedStepSeconds, 1, 1e-9);
  double told = 0;
  for (const PlannedCollective &item : it.plan.collectives)
    told += item.seconds;
  EXPECT_NEAR(told / cost.communication, 1, 1e-9);
  PlanFacts facts = factsOf(it.plan, it.graph);
  EXPECT_NEAR(facts.changes[0].stepSeconds / it.plan.predictedStepSeconds, 1,
              1e-9);
  double ofOps = 0;
  for (const ExplainedOp &op : facts.ops)
    ofOps += op.compute + op.communication;
  EXPECT_NEAR(ofOps / it.plan.predictedStepSeconds, 1, 1e-9);
}

/// The search's bound is of its own prices, lowered by what is saved.
TEST(SharedReshards, LowerTheBoundWithTheStep) {
  TwoReaders it;
  double saved =
      it.communication(ReadCost::PerRead) - it.communication(ReadCost::Shared);
  EXPECT_NEAR(it.plan.lowerBoundSeconds, it.plan.predictedStepSeconds,
              saved / 2);
  EXPECT_LE(it.plan.lowerBoundSeconds, it.plan.predictedStepSeconds);
  EXPECT_GE(it.plan.gap, 0);
  EXPECT_LT(it.plan.gap, 1e-6);
  for (const SearchTrial &trial : it.tried) {
    if (trial.best)
      EXPECT_EQ(trial.seconds, it.plan.predictedStepSeconds);
    if (trial.complaint.empty())
      EXPECT_LE(trial.lowerBoundSeconds, trial.seconds);
  }
}

/// One reader of two cannot save what the other needs.
TEST(SharedReshards, StayWhenOneReaderDoesWithout) {
  TwoReaders it;
  std::string text = orExit(explainOp(it.plan, it.graph, "node_a"));
  EXPECT_NE(text.find("all_gather"), std::string::npos) << text;
  text = orExit(explainOp(it.plan, it.graph, "node_b"));
  EXPECT_NE(text.find("0.0 us communicating"), std::string::npos) << text;
  EXPECT_NE(text.find("shared  all_gather over"), std::string::npos) << text;
}

} // namespace
