//===- SearchTrialTest.cpp - What became of a mesh, in words --------------===//

#include "autopar/Planning/Search/SearchTrial.h"
#include "gtest/gtest.h"

using namespace autopar;

TEST(SearchTrial, IsTold) {
  SearchTrial trial{"x=4", 12.1e-6, 11e-6, 1 << 20, true, ""};
  EXPECT_EQ(toString(trial),
            "x=4: 12.1 us, at least 11.0 us, 1.0 MiB a device, best so far");
  trial.best = false;
  EXPECT_EQ(toString(trial),
            "x=4: 12.1 us, at least 11.0 us, 1.0 MiB a device");
  trial.complaint = "too full";
  EXPECT_EQ(toString(trial), "x=4: none: too full");
}
