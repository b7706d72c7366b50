//===- ClassesTest.cpp - Ops and values of repeated layers ----------------===//

#include "autopar/Planning/Model/Classes.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

/// All ops of a chain are of one kind; those within so many steps of an end are
/// told apart, those between share a class.
TEST(Classes, OpsFarFromTheEndsShareAClass) {
  ModelGraph graph = chainOf(9);
  std::vector<unsigned> marks(graph.ops.size(), 0);
  GraphClasses classes = classify(graph, marks, {/*least=*/2});
  EXPECT_EQ(classes.kinds, 1u);
  EXPECT_EQ(classes.ofOp[4], classes.ofOp[3]);
  EXPECT_NE(classes.ofOp[0], classes.ofOp[4]);
  EXPECT_NE(classes.ofOp[8], classes.ofOp[4]);
  EXPECT_LT(classes.firstOp.size(), graph.ops.size());
  for (unsigned c = 0; c < classes.firstOp.size(); ++c)
    EXPECT_EQ(classes.ofOp[classes.firstOp[c]], c);
  for (unsigned c = 0; c < classes.firstValue.size(); ++c)
    EXPECT_EQ(classes.ofValue[classes.firstValue[c]], c);
}

TEST(Classes, MarksTellOpsApart) {
  ModelGraph graph = chainOf(9);
  std::vector<unsigned> marks(graph.ops.size(), 0);
  marks[4] = 1;
  GraphClasses classes = classify(graph, marks, {/*least=*/0});
  EXPECT_NE(classes.ofOp[4], classes.ofOp[3]);
  EXPECT_EQ(classes.ofOp[5], classes.ofOp[3]);
}

/// More rounds tell more apart, as long as few classes come of it.
TEST(Classes, RoundsEndAtTheMostClasses) {
  ModelGraph graph = chainOf(20);
  std::vector<unsigned> marks(graph.ops.size(), 0);
  auto count = [&](ClassRounds rounds) {
    return classify(graph, marks, rounds).firstOp.size();
  };
  EXPECT_LT(count({1}), count({3}));
  EXPECT_EQ(count({1, 8, 0}), count({1}));
  EXPECT_GT(count({1, 8, 20}), count({1}));
}

} // namespace
