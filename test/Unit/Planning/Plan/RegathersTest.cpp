//===- RegathersTest.cpp - Copies that a plan makes again -----------------===//

#include "autopar/Planning/Plan/Regathers.h"
#include "Plans.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Plan/StageWork.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// y = x w1 w2 w3, then the gradients of x w1 and x by the weights, whose rows
/// are in blocks: each weight of which a gradient is computed was read before.
struct Step {
  ModelGraph graph;
  Plan plan;
  /// The ops of each task.
  unsigned forward[3], backward[2], update;

  Step() {
    SmallModel model;
    unsigned x = model.input("x", {64, 64}), weights[3];
    for (int i = 0; i < 3; ++i)
      weights[i] = model.parameter("w" + std::to_string(i), {64, 64});
    unsigned value = x, op = 0;
    for (int i = 0; i < 3; ++i) {
      value = model.matmul("y" + std::to_string(i), value, weights[i]);
      forward[i] = op++;
    }
    for (int i : {1, 0}) {
      value = model.matmul("d" + std::to_string(i), value, weights[i]);
      backward[1 - i] = op++;
    }
    value = model.matmul("u", value, weights[0]);
    update = op;
    graph = model.finish(value);
    for (unsigned each : backward)
      graph.ops[each].task = Task::InputGradient;
    graph.ops[backward[1]].task = Task::WeightGradient;
    graph.ops[update].task = Task::Update;
    plan = replicatedPlan(graph, 2);
    for (const auto &[index, item] : enumerate(graph.values))
      if (item.source == ValueSource::Parameter)
        plan.values[index].sharding.dims[0].subAxes = {0};
  }

  int64_t gathers() const {
    int64_t count = 0;
    for (const WorkItem &item : workOfStages(graph, plan).front().work.items)
      count += item.kind == WorkKind::Collective;
    return count;
  }
  int64_t lateGathers() const {
    int64_t count = 0;
    for (const WorkItem &item : workOfStages(graph, plan).front().work.items)
      count += item.late;
    return count;
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
  for (unsigned op : it.forward)
    EXPECT_EQ(it.plan.ops[op].regathers, Numbers());
  for (unsigned op : it.backward)
    EXPECT_EQ(it.plan.ops[op].regathers, Numbers({1}));
  EXPECT_EQ(it.plan.ops[it.update].regathers, Numbers({1}));
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

TEST(Regathers, OfBothGradientsAreShared) {
  Step it;
  it.graph.ops[it.forward[0]].task = Task::InputGradient;
  it.graph.ops[it.update].task = Task::WeightGradient;
  regatherInEachTask(it.graph, it.plan);
  EXPECT_EQ(it.plan.ops[it.backward[1]].regathers, Numbers());
  EXPECT_EQ(it.plan.ops[it.update].regathers, Numbers());
}

TEST(Regathers, NeedLessMemoryAndAreHeldAsFarAsItGoes) {
  Step it;
  int64_t held = it.bytes();
  regatherInEachTask(it.graph, it.plan);
  int64_t least = it.bytes();
  EXPECT_LT(least, held);
  auto holdWithin = [&](int64_t limit) {
    regatherInEachTask(it.graph, it.plan);
    holdCopiesThatFit(it.graph, it.plan, [&](Plan &plan) {
      predictMemory(it.graph, plan);
      return plan.predictedPeakMemoryBytes <= limit;
    });
    EXPECT_LE(it.plan.predictedPeakMemoryBytes, limit);
    EXPECT_EQ(it.plan.predictedPeakMemoryBytes, it.bytes());
    return it.gathers();
  };
  EXPECT_EQ(holdWithin(held), 3);
  EXPECT_EQ(holdWithin(least), 6);
  int64_t between = holdWithin((held + least) / 2);
  EXPECT_GE(between, 3);
  EXPECT_LE(between, 6);
}

std::string errorOf(const Step &it) {
  return toString(verify(it.plan, it.graph));
}

TEST(Regathers, AreVerified) {
  Step it;
  it.plan.ops[it.backward[0]].regathers = {2};
  EXPECT_EQ(errorOf(it), "plan: op node_d1: 'regathers' must be numbers of its "
                         "2 operands, ascending");
  it.plan.ops[it.backward[0]].regathers = {0};
  EXPECT_EQ(errorOf(it),
            "plan: op node_d1: 'regathers' has operand 0, which devices do not "
            "exchange before the op reads it");
  it.plan = replicatedPlan(it.graph, 2, /*stages=*/2);
  it.plan.ops[it.backward[0]].regathers = {1};
  EXPECT_EQ(errorOf(it),
            "plan: op node_d1 has 'regathers', which are for @step "
            "of a plan of one stage");
}

} // namespace
