//===- MeshTextTest.cpp - A mesh as text ----------------------------------===//

#include "autopar/Planning/Plan/MeshText.h"
#include "gtest/gtest.h"

using namespace autopar;

TEST(MeshText, NamesAxesInTheirOrder) {
  EXPECT_EQ(meshText(Mesh({{"data", 2}, {"tensor", 4}})), "data=2, tensor=4");
  EXPECT_EQ(meshText(Mesh({{"x", 1}})), "x=1");
}
