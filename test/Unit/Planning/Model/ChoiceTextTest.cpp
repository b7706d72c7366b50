//===- ChoiceTextTest.cpp - What ops can do, and why not, in words --------===//

#include "autopar/Planning/Model/ChoiceText.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

TEST(ChoiceText, NamesChoices) {
  EXPECT_EQ(toString(Choice()), "nothing");
  EXPECT_EQ(toString(Choice{Choice::Split, 2}), "split 2");
  EXPECT_EQ(toString(Choice{Choice::Pass, 1}), "pass 1");
}

TEST(ChoiceText, SaysWhatAnOpCanDo) {
  ModelGraph graph = twoLayers(8);
  Mesh mesh({{"x", 2}});
  EXPECT_EQ(possibleChoices(graph, graph.ops[0], {0u}, mesh),
            "over axis x it can: split 0 (dimension 0 of tensor h, 8 "
            "elements), split 1 "
            "(dimension 1 of tensor x, 64 elements, summed up), split 2 "
            "(dimension 1 of tensor h, 256 elements), pass 0 (partial sum of "
            "x), pass 1 (partial sum of w1)");
}

/// The axis is named, and what the op has not.
TEST(ChoiceText, SaysWhyAnAssignmentIsIllegal) {
  ModelGraph graph = twoLayers(8);
  Mesh mesh({{"wide", 2}});
  std::string why =
      whyIllegal(graph, graph.ops[0], {Choice{Choice::Pass, 7}}, mesh);
  EXPECT_NE(why.find("wide"), std::string::npos) << why;
  EXPECT_NE(why.find("pass 7"), std::string::npos) << why;
}

} // namespace
