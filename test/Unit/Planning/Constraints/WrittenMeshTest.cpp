//===- WrittenMeshTest.cpp - Meshes as users write them -------------------===//

#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

std::string spell(ArrayRef<MeshAxis> axes) {
  std::string text;
  for (const MeshAxis &axis : axes)
    text +=
        (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

TEST(WrittenMesh, IsParsedOrExplained) {
  EXPECT_EQ(spell(cantFail(parseMesh("data=2, tensor=4"))), "data=2,tensor=4");
  auto complaintOf = [](StringRef text) {
    return toString(parseMesh(text).takeError());
  };
  EXPECT_EQ(complaintOf("data"),
            "mesh 'data' is not of the form data=2,tensor=2");
  EXPECT_NE(complaintOf("data=0"), "");
  EXPECT_EQ(complaintOf("a=2,a=2"), "mesh 'a=2,a=2' has two axes called 'a'");
  EXPECT_EQ(complaintOf("time=2"), "the mesh axis 'time' is made by "
                                   "--micro-batches, not by --mesh");
  EXPECT_EQ(complaintOf("a.b=2"),
            "mesh axis 'a.b' has a quote, dot or blank in its name");
}

/// Stages stand where the strategy names them; an axis of one device counts
/// only where it has a name.
TEST(WrittenMesh, IsThatOfAPlan) {
  Plan plan;
  plan.mesh = Mesh({{kTimeAxis.str(), 4}, {"x", 2}, {"y", 1}});
  EXPECT_EQ(spell(deviceAxes(plan.mesh)), "x=2,y=1");
  EXPECT_EQ(spell(writtenMesh(plan, {StrategyName::Auto})), "x=2");
  plan.stages = 3;
  EXPECT_EQ(spell(writtenMesh(plan, {StrategyName::Auto})), "layer=3,x=2");
  EXPECT_EQ(spell(writtenMesh(plan, {StrategyName::Data, StrategyName::Layer,
                                     StrategyName::Tensor})),
            "x=2,layer=3,y=1");
}

TEST(WrittenMesh, FreeAxesAreSearched) {
  EXPECT_TRUE(isSearched({{"x", 2}, {"replicated", 2}}, {StrategyName::Auto}));
  EXPECT_FALSE(isSearched({{"model", 2}}, {StrategyName::Auto}));
  EXPECT_FALSE(isSearched({{"x", 2}}, {StrategyName::Data}));
}

} // namespace
