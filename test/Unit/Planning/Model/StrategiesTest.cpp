//===- StrategiesTest.cpp - Ways to run ops -------------------------------===//

#include "autopar/Planning/Model/Strategies.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// A batch x 64 matrix through three matrix products, the first two alike.
ModelGraph threeProducts() {
  SmallModel model;
  unsigned x = model.input("x", {8, 64});
  unsigned w = model.parameter("w", {64, 64});
  unsigned v = model.parameter("v", {64, 32});
  return model.finish(
      model.matmul("c", model.matmul("b", model.matmul("a", x, w), w), v));
}

TEST(StrategyTable, HasWhatTheRuleGives) {
  ModelGraph graph = threeProducts();
  Mesh mesh({{"x", 2}, {"y", 3}});
  StrategyTable table(mesh);
  unsigned legal = 0, illegal = 0;
  for (const GraphOp &op : graph.ops)
    for (unsigned first = 0; first < 4; ++first)
      for (unsigned second = 0; second < 4; ++second) {
        Assignment assignment{{Choice::Split, first}, {Choice::Split, second}};
        const OpStrategy *found = table.find(op, assignment);
        EXPECT_EQ(found, table.find(op, assignment));
        std::optional<OpShardings> expected =
            shardingsOf(op.facts->rule, assignment, mesh);
        ASSERT_EQ(found != nullptr, expected.has_value());
        found ? ++legal : ++illegal;
        if (!found)
          continue;
        EXPECT_EQ(found->assignment, assignment);
        EXPECT_TRUE(found->shardings.operands == expected->operands);
        EXPECT_TRUE(found->shardings.results == expected->results);
      }
  EXPECT_GT(legal, 0u);
  EXPECT_GT(illegal, 0u); // there is no fourth factor
}

TEST(StrategyTable, OpsThatShareTheirFactsShareStrategies) {
  ModelGraph graph = threeProducts();
  graph.ops[1].facts = graph.ops[0].facts;
  Mesh mesh({{"x", 2}});
  StrategyTable table(mesh);
  Assignment rows{{Choice::Split, 0}}, columns{{Choice::Split, 2}};
  EXPECT_EQ(table.find(graph.ops[0], rows), table.find(graph.ops[1], rows));
  EXPECT_NE(table.find(graph.ops[0], rows), table.find(graph.ops[0], columns));
  EXPECT_NE(table.find(graph.ops[0], rows), table.find(graph.ops[2], rows));
}

/// A normalization of 16-bit elements over rows and columns of `shape`.
ModelGraph normalization(ArrayRef<int64_t> shape) {
  ModelGraph graph;
  GraphValue &value = graph.values.emplace_back();
  value.shape.assign(shape.begin(), shape.end());
  value.elementBytes = 2;
  GraphOpFacts facts;
  for (auto [dim, size] : enumerate(shape))
    facts.rule.addFactor(size, dim < 2 ? FactorKind::Parallel
                                       : FactorKind::Decompose);
  facts.rule.operands = facts.rule.results = {{0u, 1u, 2u, 3u}};
  GraphOp &op = graph.ops.emplace_back();
  op.facts = std::make_shared<const GraphOpFacts>(std::move(facts));
  op.operands = op.results = {0};
  return graph;
}

/// The parts of a composite combine one number of each image, of 32 bits, over
/// all axes at once.
TEST(CombiningStep, IsWhatPartsCombine) {
  ModelGraph graph = normalization({6, 8, 10, 7});
  Mesh mesh({{"x", 2}, {"y", 3}});
  StrategyTable table(mesh);
  CommunicationModel communication(cantFail(clusterOfRanks(6)), mesh);
  auto stepOf = [&](Choice x, Choice y) {
    return combiningStep(graph, graph.ops[0], *table.find(graph.ops[0], {x, y}),
                         mesh, communication);
  };
  Choice none, images{Choice::Split, 0}, rows{Choice::Split, 2},
      columns{Choice::Split, 3};
  EXPECT_FALSE(stepOf(images, none));
  std::optional<ReshardStep> step = stepOf(rows, none);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->bytes, 6 * 8 * 4);
  EXPECT_EQ(ArrayRef(step->subAxes), ArrayRef<unsigned>({0}));
  step = stepOf(images, columns);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->bytes, 3 * 8 * 4);
  EXPECT_EQ(ArrayRef(step->subAxes), ArrayRef<unsigned>({1}));
  step = stepOf(columns, rows);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->bytes, 6 * 8 * 4);
  EXPECT_EQ(ArrayRef(step->subAxes), ArrayRef<unsigned>({0, 1}));
}

} // namespace
