//===- HyperparametersTest.cpp - Numbers that are set between steps -------===//

#include "core/Hyperparameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace autopar::runtime;

namespace {

PersistentEntry numberEntry(const char *name, double value, NumberRange range) {
  PersistentEntry entry;
  entry.name = name;
  entry.dtype = APRT_F64;
  entry.isState = true;
  entry.role = StateRole::Hyperparameter;
  entry.fill.assign(reinterpret_cast<const char *>(&value), sizeof(value));
  entry.range = range;
  return entry;
}

NumberRange rangeOf(double least, double below = INFINITY,
                    bool isAboveLeast = false, bool isInteger = false) {
  NumberRange range;
  range.least = least;
  range.below = below;
  range.isAboveLeast = isAboveLeast;
  range.isInteger = isInteger;
  return range;
}

/// Both stages update by them.
Manifest twoStages() {
  Manifest manifest;
  PersistentEntry other = numberEntry("step", 7, {});
  other.role = StateRole::Optimizer;
  for (int stage = 0; stage < 2; ++stage)
    manifest.persistent.push_back(
        {other, numberEntry("lr", 0.5, rangeOf(0)),
         numberEntry("betas[0]", 0.9, rangeOf(0, 1)),
         numberEntry("steps", 9, rangeOf(1, INFINITY, false, true))});
  return manifest;
}

TEST(Hyperparameters, RangesAreToldInWords) {
  EXPECT_EQ(rangeText(NumberRange()), "a number");
  EXPECT_EQ(rangeText(rangeOf(0)), "a number of 0 or more");
  EXPECT_EQ(rangeText(rangeOf(0, 1)), "a number of 0 or more and below 1");
  EXPECT_EQ(rangeText(rangeOf(0, INFINITY, true)), "a number above 0");
  EXPECT_EQ(rangeText(rangeOf(-INFINITY, 0.1)), "a number below 0.1");
  EXPECT_EQ(rangeText(rangeOf(1, INFINITY, false, true)),
            "an integer of 1 or more");
}

TEST(Hyperparameters, StatesTakeNumbersOfTheirRange) {
  auto message = [](const NumberRange &range, double value) {
    return checkState(numberEntry("lr", 0, range), &value).message();
  };
  EXPECT_EQ(message(rangeOf(0), 0), "");
  EXPECT_EQ(message(rangeOf(0), 1e300), "");
  EXPECT_EQ(message(rangeOf(0), -1e-3),
            "hyperparameter 'lr' must be a number of 0 or more, and is given "
            "-0.001");
  EXPECT_NE(message(rangeOf(0), NAN), "");
  EXPECT_NE(message(NumberRange(), INFINITY), "");
  EXPECT_NE(message(rangeOf(0, 1), 1), "");
  EXPECT_NE(message(rangeOf(0, INFINITY, true), 0), "");
  EXPECT_NE(message(rangeOf(0, INFINITY, false, true), 2.5), "");
  EXPECT_EQ(message(rangeOf(0, INFINITY, false, true), 3), "");
  PersistentEntry state = numberEntry("w", 0, rangeOf(0));
  state.role = StateRole::Model;
  double negative = -1;
  EXPECT_TRUE(checkState(state, &negative).ok());
}

TEST(Hyperparameters, AssignmentsReachEveryStage) {
  Manifest manifest = twoStages();
  ASSERT_EQ(
      setHyperparameters({"lr=0.25", "betas[0]=1e-2", "lr=0.125"}, manifest)
          .message(),
      "");
  for (const std::vector<PersistentEntry> &stage : manifest.persistent) {
    EXPECT_EQ(fillOf(stage[0]), 7);
    EXPECT_EQ(fillOf(stage[1]), 0.125);
    EXPECT_EQ(fillOf(stage[2]), 0.01);
  }
  EXPECT_EQ(hyperparametersOf(manifest).size(), 3u);
}

TEST(Hyperparameters, WrongAssignmentsAreNamed) {
  auto message = [](const std::string &text) {
    Manifest manifest = twoStages();
    return setHyperparameters({text}, manifest).message();
  };
  EXPECT_EQ(message("lr"), "--set lr: is not NAME=NUMBER");
  EXPECT_EQ(message("lr=1x"), "--set lr=1x: is not NAME=NUMBER");
  EXPECT_EQ(message("step=1"), "--set step=1: no hyperparameter 'step' is set "
                               "at run time; those are 'lr', 'betas[0]', "
                               "'steps'; did you mean 'steps'?");
  EXPECT_EQ(message("steps=1.5"), "--set steps=1.5: hyperparameter 'steps' "
                                  "must be an integer of 1 or more, and is "
                                  "given 1.5");
  Manifest none;
  none.persistent.resize(1);
  EXPECT_EQ(setHyperparameters({"lr=1"}, none).message(),
            "--set lr=1: the program has no hyperparameter that is set at run "
            "time; a recipe names them 'at_run_time'");
}

} // namespace
