//===- TrialsTest.cpp - Meshes that are tried -----------------------------===//

#include "lib/Planning/Search/Trials.h"
#include "Meshes.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

Texts neighboursOf(const ModelGraph &graph, const PlanRequest &request,
                   StringRef mesh, bool toShorten = false) {
  Texts texts;
  Trial center{request.cluster, freeMesh(mesh)};
  for (const Trial &trial :
       neighbours(graph, request, center, toShorten ? &center : nullptr))
    texts.push_back(spell(trial.candidate) + " by " +
                    std::to_string(trial.microBatches));
  return texts;
}

TEST(Neighbours, ReplicasAndStagesTakeWhatMeshesLeave) {
  ModelGraph graph = twoLayers(4);
  EXPECT_EQ(neighboursOf(graph, requestOf(4), "x=4"),
            (Texts{"replicated=2:replicated x=2:auto 1 by 1", "x=2:auto 2 by 2",
                   "x=2:auto 2 by 4"}));
  EXPECT_EQ(neighboursOf(graph, requestOf(4), "x=4", /*toShorten=*/true),
            (Texts{"replicated=2:replicated x=2:auto 1 by 1", "x=2:auto 2 by 2",
                   "x=2:auto 2 by 4", "replicated=2:replicated x=2:auto 1 by 1",
                   "replicated=4:replicated 1 by 1"}));
  // Who asks for few devices does not ask for replicas.
  PlanRequest few = requestOf(4);
  few.fewestDevices = true;
  EXPECT_EQ(neighboursOf(graph, few, "x=4", /*toShorten=*/true),
            (Texts{"x=2:auto 2 by 2", "x=2:auto 2 by 4"}));
}

TEST(Neighbours, WhatIsFixedStays) {
  ModelGraph graph = twoLayers(4);
  EXPECT_EQ(neighboursOf(graph, requestOf(4, "auto", "x=4"), "x=4"), Texts());
  EXPECT_EQ(neighboursOf(graph, requestOf(4, "data", ""), "data=4"), Texts());
  PlanRequest named = requestOf(4);
  named.axes = {"model"};
  EXPECT_EQ(neighboursOf(graph, named, "model=4"), Texts());
}

} // namespace
