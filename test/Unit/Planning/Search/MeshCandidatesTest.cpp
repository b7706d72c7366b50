//===- MeshCandidatesTest.cpp - Meshes that a request allows --------------===//

#include "Meshes.h"
#include "test/Unit/Planning/Requests.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

std::vector<std::string> meshesOf(const PlanRequest &request, int64_t batch,
                                  bool lastResort = false) {
  std::vector<std::string> texts;
  for (const MeshCandidate &candidate :
       cantFail(meshCandidates(request, batch)))
    if (candidate.lastResort == lastResort)
      texts.push_back(spell(candidate));
  return texts;
}

TEST(MeshCandidates, OneAxisTwoAxesAndTwoBesideTheBatch) {
  EXPECT_EQ(meshesOf(requestOf(1), 8), (Texts{"x=1:auto 1"}));
  EXPECT_EQ(meshesOf(requestOf(3), 8), (Texts{"x=3:auto 1"}));
  EXPECT_EQ(meshesOf(requestOf(4), 1),
            (Texts{"x=4:auto 1", "x=2:auto y=2:auto 1"}));
  EXPECT_EQ(meshesOf(requestOf(8), 8),
            (Texts{"x=8:auto 1", "x=2:auto y=4:auto 1", "x=4:auto y=2:auto 1",
                   "data=2:data x=2:auto y=2:auto 1"}));
  // No more devices split the batch than it has elements.
  EXPECT_EQ(meshesOf(requestOf(8), 1).size(), 3u);
}

TEST(MeshCandidates, StagesAndReplicasAreTheLastResort) {
  EXPECT_EQ(meshesOf(requestOf(1), 8, true), Texts());
  EXPECT_EQ(meshesOf(requestOf(4), 8, true),
            (Texts{"x=2:auto 2", "4", "replicated=4:replicated 1"}));
}

TEST(MeshCandidates, NamesGetAxesInTheirOrder) {
  EXPECT_EQ(meshesOf(requestOf(8, "data,tensor", ""), 8),
            (Texts{"data=2:data tensor=4:tensor 1",
                   "data=4:data tensor=2:tensor 1"}));
  EXPECT_EQ(meshesOf(requestOf(4, "data,data", ""), 8),
            (Texts{"data=2:data data2=2:data 1"}));
  EXPECT_EQ(meshesOf(requestOf(4, "layer,data", ""), 8),
            (Texts{"data=2:data 2"}));
  EXPECT_EQ(
      toString(meshCandidates(requestOf(5, "data,tensor", ""), 8).takeError()),
      "5 devices are no product of 2 axes of 2 or more: name fewer "
      "strategies or give --mesh");
}

TEST(MeshCandidates, AFixedMeshIsTheOnlyOne) {
  EXPECT_EQ(meshesOf(requestOf(4, "auto", "a=2,b=2"), 8),
            (Texts{"a=2:auto b=2:auto 1"}));
  // Names of axes that are strategies tell which is which.
  EXPECT_EQ(meshesOf(requestOf(4, "tensor,data", "data=2,tensor=2"), 8),
            (Texts{"data=2:data tensor=2:tensor 1"}));
  EXPECT_EQ(meshesOf(requestOf(4, "auto", "layer=2,x=2"), 8),
            (Texts{"x=2:auto 2"}));
  EXPECT_EQ(
      toString(meshCandidates(requestOf(4, "auto", "a=3"), 8).takeError()),
      "the mesh has 3 devices, the cluster 4: make them equal");
  EXPECT_EQ(
      toString(
          meshCandidates(requestOf(4, "data,tensor", "a=4"), 8).takeError()),
      "--strategy names 2, --mesh has 1 axes: give one name per axis");
}

Texts smallerThan(const MeshCandidate &candidate, int64_t factor) {
  SmallerMeshes smaller = smallerMeshes(candidate);
  EXPECT_EQ(smaller.factor, factor);
  Texts texts;
  for (const MeshCandidate &mesh : smaller.meshes)
    texts.push_back(spell(mesh));
  return texts;
}

TEST(SmallerMeshes, TheNearestComeFirst) {
  EXPECT_EQ(smallerThan(freeMesh("x=1"), 1), Texts());
  EXPECT_EQ(smallerThan(freeMesh("x=9"), 3), (Texts{"x=3:auto 1"}));
  EXPECT_EQ(smallerThan(freeMesh("x=2"), 2), (Texts{"1"}));
  // Of the two ways to leave out one axis only one is of interest.
  EXPECT_EQ(smallerThan(freeMesh("x=4,y=2"), 2),
            (Texts{"x=2:auto y=2:auto 1", "x=4:auto 1"}));
  EXPECT_EQ(smallerThan(freeMesh("x=8,y=8"), 2),
            (Texts{"x=4:auto y=8:auto 1", "x=8:auto y=4:auto 1",
                   "x=2:auto y=16:auto 1", "x=16:auto y=2:auto 1"}));
}

TEST(SmallerMeshes, ReplicasStay) {
  MeshCandidate candidate = freeMesh("x=4,y=2");
  addReplicas(candidate, 3);
  EXPECT_EQ(replicasOf(candidate), 3);
  EXPECT_EQ(smallerThan(candidate, 2),
            (Texts{"replicated=3:replicated x=2:auto y=2:auto 1",
                   "replicated=3:replicated x=4:auto 1"}));
  addReplicas(candidate, 2);
  EXPECT_EQ(spell(candidate), "replicated=6:replicated x=4:auto y=2:auto 1");
}

/// `others replicated` is said of what does not split the batch.
TEST(SmallerMeshes, NothingIsStrictWithoutTheBatch) {
  MeshCandidate candidate = freeMesh("data=2,x=2,y=2");
  candidate.names.front() = StrategyName::Data;
  candidate.strict = true;
  unsigned without = 0;
  for (const MeshCandidate &mesh : smallerMeshes(candidate).meshes) {
    bool data = is_contained(mesh.names, StrategyName::Data);
    EXPECT_EQ(mesh.strict, data) << spell(mesh);
    without += !data;
  }
  EXPECT_GT(without, 0u);
}

TEST(ShorterAxes, DownToOneDevice) {
  Texts texts;
  for (const MeshCandidate &mesh : shorterAxes(freeMesh("x=6,y=4")))
    texts.push_back(spell(mesh));
  EXPECT_EQ(texts, (Texts{"replicated=2:replicated x=3:auto y=4:auto 1",
                          "replicated=3:replicated x=2:auto y=4:auto 1",
                          "replicated=2:replicated x=6:auto y=2:auto 1",
                          "replicated=4:replicated x=6:auto 1"}));
  MeshCandidate candidate = freeMesh("x=9");
  addReplicas(candidate, 2);
  texts.clear();
  for (const MeshCandidate &mesh : shorterAxes(candidate))
    texts.push_back(spell(mesh));
  EXPECT_EQ(texts, (Texts{"replicated=6:replicated x=3:auto 1",
                          "replicated=18:replicated 1"}));
}

} // namespace
