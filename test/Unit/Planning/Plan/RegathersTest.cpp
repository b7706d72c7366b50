//===- RegathersTest.cpp - Copies that a plan makes again -----------------===//

#include "autopar/Planning/Plan/Regathers.h"
#include "Plans.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Plan/StageWork.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// Three layers and their gradients; the weights' rows are in blocks.
struct Step {
  ModelGraph graph = layersAndGradients(3, 64, 64);
  Plan plan = replicatedPlan(graph, 2);

  Step() {
    for (const auto &[index, item] : enumerate(graph.values))
      if (item.source == ValueSource::State)
        plan.values[index].sharding.dims[0].subAxes = {0};
  }

  int64_t count(llvm::function_ref<bool(const WorkItem &)> isCounted) const {
    std::vector<StageWork> stages = workOfStages(graph, plan);
    return llvm::count_if(stages.front().work.items, isCounted);
  }
  int64_t gathers() const {
    return count(
        [](const WorkItem &item) { return item.kind == WorkKind::Collective; });
  }
  int64_t lateGathers() const {
    return count([](const WorkItem &item) { return item.late; });
  }
  int64_t bytes() {
    predictMemory(graph, plan);
    return plan.predictedPeakMemoryBytes;
  }
};

using Numbers = SmallVector<unsigned, 1>;

TEST(Regathers, AreOfCopiesThatAnotherTaskRead) {
  Step it;
  EXPECT_EQ(it.gathers(), 3);
  ASSERT_TRUE(regatherInEachTask(it.graph, it.plan));
  EXPECT_FALSE(bool(verify(it.plan, it.graph)));
  for (unsigned op = 0; op < 3; ++op) {
    EXPECT_EQ(it.plan.ops[op].regathers, Numbers());
    EXPECT_EQ(it.plan.ops[3 + op].regathers, Numbers({1}));
  }
  EXPECT_EQ(it.gathers(), 6);
  EXPECT_EQ(it.lateGathers(), 3);
  shareReshards(it.plan);
  EXPECT_EQ(it.gathers(), 3);
}

TEST(Regathers, OfOneTaskAreNone) {
  Step it;
  for (GraphOp &op : it.graph.ops)
    op.task = Task::Forward;
  EXPECT_FALSE(regatherInEachTask(it.graph, it.plan));
}

/// The gradients of a layer read one copy, the update another one.
TEST(Regathers, OfBothGradientsAreShared) {
  Step it;
  it.graph.ops[2].task = Task::WeightGradient;
  it.graph.ops[4].task = Task::Update;
  regatherInEachTask(it.graph, it.plan);
  EXPECT_EQ(it.plan.ops[3].regathers, Numbers());
  EXPECT_EQ(it.plan.ops[4].regathers, Numbers({1}));
}

TEST(Regathers, NeedLessMemoryAndAreHeldAsFarAsItGoes) {
  Step it;
  int64_t held = it.bytes();
  regatherInEachTask(it.graph, it.plan);
  int64_t least = it.bytes();
  EXPECT_LT(least, held);
  auto fitWithin = [&](int64_t limit) {
    regatherInEachTask(it.graph, it.plan);
    return holdCopiesThatFit(it.graph, it.plan, [&](Plan &plan) {
      predictMemory(it.graph, plan);
      return plan.predictedPeakMemoryBytes <= limit;
    });
  };
  auto holdWithin = [&](int64_t limit) {
    EXPECT_TRUE(fitWithin(limit));
    EXPECT_LE(it.plan.predictedPeakMemoryBytes, limit);
    EXPECT_EQ(it.plan.predictedPeakMemoryBytes, it.bytes());
    return it.gathers();
  };
  EXPECT_EQ(holdWithin(held), 3);
  EXPECT_GT(holdWithin(least), 3);
  // What it holds fits just so: with a byte less it makes one more again.
  int64_t gathers = holdWithin((held + least) / 2),
          taken = it.plan.predictedPeakMemoryBytes;
  EXPECT_EQ(holdWithin(taken), gathers);
  if (taken > least)
    EXPECT_GT(holdWithin(taken - 1), gathers);
  EXPECT_FALSE(fitWithin(least - 1));
  EXPECT_EQ(it.gathers(), 6); // it holds none, and that is too much
}

std::string errorOf(const Step &it) {
  return toString(verify(it.plan, it.graph));
}

TEST(Regathers, AreVerified) {
  Step it;
  it.plan.ops[3].regathers = {2};
  EXPECT_EQ(errorOf(it), "plan: op node_d2: 'regathers' must be numbers of its "
                         "2 operands, ascending");
  it.plan.ops[3].regathers = {0};
  EXPECT_EQ(errorOf(it),
            "plan: op node_d2: 'regathers' has operand 0, which devices do not "
            "exchange before the op reads it");
  it.plan = replicatedPlan(it.graph, 2, /*stages=*/2);
  it.plan.ops[3].regathers = {1};
  EXPECT_EQ(errorOf(it),
            "plan: op node_d2 has 'regathers', which are for @step "
            "of a plan of one stage");
}

} // namespace
