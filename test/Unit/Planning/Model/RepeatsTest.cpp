//===- RepeatsTest.cpp - Ops that run in each stage that reads them -------===//

#include "autopar/Planning/Model/Repeats.h"
#include "gtest/gtest.h"
#include <set>

using namespace autopar;

namespace {

/// The program of Repeats.h: m of a parameter, n of m, a of an input and m, b
/// of a and n.
struct Example {
  enum { M, N, A, B };
  Example() {
    repeats.add({}, /*isFixed=*/false);
    repeats.add({M}, false);
    repeats.add({M}, true);
    repeats.add({A, N}, false);
  }
  Repeats repeats;
};

TEST(Repeats, WhatReadsNothingThatDiffersIsRepeated) {
  Repeats repeats = Example().repeats;
  EXPECT_TRUE(repeats.isRepeated(Example::M));
  EXPECT_TRUE(repeats.isRepeated(Example::N));
  EXPECT_FALSE(repeats.isRepeated(Example::A));
  EXPECT_FALSE(repeats.isRepeated(Example::B)); // by what it reads
}

TEST(Repeats, RunInTheStagesOfTheirReaders) {
  std::vector<StageList> stages =
      Example().repeats.stagesThatRun({7, 7, 0, 1}, {Example::B});
  EXPECT_EQ(stages[Example::M], (StageList{0, 1}));
  EXPECT_EQ(stages[Example::N], (StageList{1}));
  EXPECT_EQ(stages[Example::A], (StageList{0}));
  EXPECT_EQ(stages[Example::B], (StageList{1}));
}

/// A repeated op that is returned runs in its planned stage, too, and one that
/// nobody reads nowhere.
TEST(Repeats, RunWhereTheyAreReturned) {
  Repeats repeats;
  repeats.add({}, false);
  repeats.add({0}, true);
  repeats.add({}, false);
  std::vector<StageList> stages = repeats.stagesThatRun({2, 1, 0}, {0});
  EXPECT_EQ(stages[0], (StageList{1, 2}));
  EXPECT_TRUE(stages[2].empty());
}

TEST(Repeats, NeedsAreVisitedFromTheirReaders) {
  std::vector<unsigned> visited;
  Example().repeats.visitNeeded(Example::B, [&](unsigned op) {
    visited.push_back(op);
    return true;
  });
  EXPECT_EQ(visited,
            (std::vector<unsigned>{Example::B, Example::N, Example::M}));
}

TEST(Repeats, NeedsAreMadeBeforeTheirReadersAndOnce) {
  Repeats repeats;
  repeats.add({}, false);
  repeats.add({0}, false);
  repeats.add({1, 0, 1}, false);
  std::vector<unsigned> made;
  std::set<unsigned> there;
  auto make = [&](unsigned op) {
    made.push_back(op);
    there.insert(op);
  };
  auto isThere = [&](unsigned op) { return there.count(op) > 0; };
  repeats.makeMissing(2, isThere, make);
  EXPECT_EQ(made, (std::vector<unsigned>{0, 1, 2}));
  repeats.makeMissing(1, isThere, make);
  EXPECT_EQ(made.size(), 3u);
}

} // namespace
