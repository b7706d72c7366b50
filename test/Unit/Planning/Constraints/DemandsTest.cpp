//===- DemandsTest.cpp - What a named strategy asks of each op ------------===//

#include "autopar/Planning/Constraints/Demands.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

const AxisDemand kRows{Choice{Choice::Split, 0}};
const AxisDemand kDepth{Choice{Choice::Split, 1}};
const AxisDemand kColumns{Choice{Choice::Split, 2}};

TEST(Demands, NamesSplitWhatTheySay) {
  ModelGraph graph = weightedLayers(8);
  auto ofProducts = [&](StrategyName name) {
    std::vector<AxisDemand> demands = demandsOf(graph, name, 2);
    return std::pair(demands[0], demands[2]);
  };
  EXPECT_EQ(ofProducts(StrategyName::Data), std::pair(kRows, kRows));
  EXPECT_EQ(ofProducts(StrategyName::Row), std::pair(kDepth, kDepth));
  EXPECT_EQ(ofProducts(StrategyName::Column), std::pair(kColumns, kColumns));
  EXPECT_EQ(ofProducts(StrategyName::Tensor), std::pair(kColumns, kDepth));
  EXPECT_EQ(ofProducts(StrategyName::Replicated),
            std::pair(AxisDemand{Choice()}, AxisDemand{Choice()}));
  EXPECT_EQ(ofProducts(StrategyName::Auto),
            std::pair(AxisDemand(), AxisDemand()));
}

TEST(Demands, WhatNobodyCanFollowIsExplained) {
  ModelGraph graph = weightedLayers(1);
  EXPECT_FALSE(anyFollows(demandsOf(graph, StrategyName::Data, 2)));
  std::string complaint = toString(cannotFollow(graph, StrategyName::Data, 2));
  EXPECT_NE(complaint.find("the batch is 1"), std::string::npos) << complaint;
  EXPECT_NE(complaint.find("tensor"), std::string::npos) << complaint;
}

TEST(Demands, NamesAreParsed) {
  EXPECT_EQ(stringifyStrategies(cantFail(parseStrategies("data,tensor"))),
            "data,tensor");
  EXPECT_NE(toString(parseStrategies("dat").takeError()).find("data"),
            std::string::npos);
}

TEST(Demands, MarksTellOpsApart) {
  ModelGraph graph = weightedLayers(8);
  std::vector<OpDemand> demands(graph.ops.size(), OpDemand{kRows});
  EXPECT_EQ(OpDemands(graph, demands).marks, (std::vector<unsigned>{0, 1, 0}));
  demands[2] = {kDepth};
  EXPECT_EQ(OpDemands(graph, demands).marks, (std::vector<unsigned>{0, 1, 2}));
}

} // namespace
