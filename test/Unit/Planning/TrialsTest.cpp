//===- TrialsTest.cpp - Meshes that are tried -----------------------------===//

#include "lib/Planning/Search/Trials.h"
#include "Requests.h"
#include "SmallModel.h"
#include "autopar/Planning/Search/BuildProblem.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Planning/Solver/Solver.h"
#include "autopar/Planning/Solver/StageBound.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace autopar;
using namespace llvm;

namespace {

std::string spell(const MeshCandidate &candidate) {
  std::string text;
  for (const auto &[axis, name] : zip_equal(candidate.axes, candidate.names))
    text += axis.name + "=" + std::to_string(axis.size) + ":" +
            stringifyStrategy(name).str() + " ";
  return text + std::to_string(candidate.stages);
}

std::vector<std::string> meshesOf(const PlanRequest &request, int64_t batch,
                                  bool lastResort = false) {
  std::vector<std::string> texts;
  for (const MeshCandidate &candidate :
       cantFail(meshCandidates(request, batch)))
    if (candidate.lastResort == lastResort)
      texts.push_back(spell(candidate));
  return texts;
}

using Texts = std::vector<std::string>;

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

//===----------------------------------------------------------------------===//
// Near the best
//===----------------------------------------------------------------------===//

MeshCandidate freeMesh(StringRef mesh) {
  MeshCandidate candidate;
  candidate.axes = cantFail(parseMesh(mesh));
  candidate.names.assign(candidate.axes.size(), StrategyName::Auto);
  return candidate;
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

//===----------------------------------------------------------------------===//
// Places of stages
//===----------------------------------------------------------------------===//

TEST(StagePlaces, StagesOnNodesAlikeAreOfAKind) {
  Cluster even = cantFail(parseCluster("2x4:a100-80gb"));
  for (int64_t stages : {1, 2, 4, 8})
    EXPECT_EQ(StagePlaces(even, Pipeline{stages}).kinds.size(), 1u) << stages;
  // The second of three stages is on both nodes.
  StagePlaces uneven(cantFail(parseCluster("2x3:a100-80gb")), Pipeline{3});
  EXPECT_EQ(uneven.kindOf, (std::vector<unsigned>{0, 1, 0}));
  EXPECT_EQ(uneven.of(1).nodes.size(), 2u);
}

TEST(StagePlaces, EachStageHasItsTypeAndMemory) {
  Cluster mixed = cantFail(parseCluster("1x2:a100-80gb"));
  append_range(mixed.nodes, cantFail(parseCluster("1x2:l4")).nodes);
  StagePlaces places(mixed, Pipeline{4, 4});
  EXPECT_EQ(places.kindOf, (std::vector<unsigned>{0, 0, 1, 1}));
  EXPECT_EQ(places.of(3).slowest().name, "l4");
  EXPECT_GT(places.memoryLimit(0, /*asked=*/0),
            places.memoryLimit(3, /*asked=*/0));
  EXPECT_EQ(places.memoryLimit(3, /*asked=*/1000), 1000);
}

/// Half of a node of four ranks on two cores is slower than a node of two ranks
/// on two cores, though both are two ranks: each has prices of its own. A
/// machine may be described in several ways.
TEST(StagePlaces, PartsOfNodesKeepTheirShare) {
  Cluster shared = cantFail(parseCluster("1x4:cpu"));
  shared.nodes.front().cores = 2;
  NodeGroup own = shared.nodes.front();
  own.devices = 2;
  shared.nodes.push_back(own);
  StagePlaces places(shared, Pipeline{3, 3});
  EXPECT_EQ(places.kindOf, (std::vector<unsigned>{0, 0, 1}));
  EXPECT_DOUBLE_EQ(2 * places.of(0).slowest().fp32Flops,
                   places.of(2).slowest().fp32Flops);
  PlanRequest request = requestOf(6, "layer,data", "layer=3,data=2");
  request.cluster = shared;
  ModelGraph graph = twoLayers(512);
  double seconds = cantFail(searchPlan(graph, request)).predictedStepSeconds;
  request.cluster.nodes.back().cores = 3; // more than there are ranks
  EXPECT_EQ(cantFail(searchPlan(graph, request)).predictedStepSeconds, seconds);
}

/// Stages that share cores are as fast as the cores are busy once there is work
/// for all, or as they would be on cores of their own; seconds are those at
/// their shares.
TEST(StagePlaces, StagesTakeTurnsOnCores) {
  auto step = [](int64_t cores, Pipeline pipeline, ArrayRef<double> stages) {
    Cluster node = cantFail(parseCluster("1x4:cpu"));
    node.nodes.front().cores = cores;
    StagePlaces places(node, pipeline);
    double seconds =
        places.stepSeconds(stages, SmallVector<double>(stages.size(), 0));
    double sum = 0;
    for (double stage : stages)
      sum += stage;
    EXPECT_LE(places.leastShare() * sum * double(pipeline.microBatches),
              seconds * (1 + 1e-12));
    return seconds;
  };
  // Cores of their own: 8 micro-batches follow each other through 4 stages.
  EXPECT_DOUBLE_EQ(step(0, {4, 8}, {1, 1, 1, 1}), 11);
  EXPECT_DOUBLE_EQ(step(4, {4, 8}, {1, 1, 1, 1}), 11);
  // On two, at half of a core each: 32 times half of 2 seconds on two cores, of
  // which one has nothing to do in the first and in the last second.
  EXPECT_DOUBLE_EQ(step(2, {4, 8}, {2, 2, 2, 2}), 17);
  // On three: two idle for a second, one for another, at both ends.
  EXPECT_DOUBLE_EQ(step(3, {4, 9}, {4. / 3, 4. / 3, 4. / 3, 4. / 3}), 14);
  // One stage is 13 of 16 seconds on whole cores: it waits for none.
  EXPECT_DOUBLE_EQ(step(2, {4, 8}, {2, 26, 2, 2}), 16 + 7 * 13);
  // One micro-batch has whole cores, two are on both.
  EXPECT_DOUBLE_EQ(step(2, {4, 1}, {1, 2, 3, 4}), 10);
  EXPECT_DOUBLE_EQ(step(2, {4, 2}, {1, 2, 3, 4}), 14);
  EXPECT_DOUBLE_EQ(step(1, {4, 8}, {4, 4, 4, 4}), 32);
  // Steps that overlap.
  EXPECT_DOUBLE_EQ(step(0, {4, 2, Objective::Throughput}, {1, 2, 3, 4}), 8);
  EXPECT_DOUBLE_EQ(step(2, {4, 2, Objective::Throughput}, {2, 2, 2, 2}), 4);
  // Stages of two ranks each.
  EXPECT_DOUBLE_EQ(step(2, {2, 4}, {2, 2}), 8);
  // On two nodes of one core each: 16 times two seconds, and two until the
  // first micro-batch comes to the second node, or since the last one left the
  // first.
  Cluster nodes = cantFail(parseCluster("2x2:cpu"));
  nodes.nodes.front().cores = 1;
  EXPECT_DOUBLE_EQ(StagePlaces(nodes, {4, 16})
                       .stepSeconds({2, 2, 2, 2}, SmallVector<double>(4, 0)),
                   16 * 2 + 2);
  // Short ends leave no core idle for long.
  EXPECT_DOUBLE_EQ(step(2, {4, 8}, {2, 4, 4, 6}), 8 * 4 + 0.5 * (1 + 3));
}

/// What is known of one type's memory is no limit of the others'.
TEST(StagePlaces, UnknownMemoryIsNoLimit) {
  Cluster mixed = cantFail(parseCluster("1x2:cpu"));
  mixed.nodes.push_back(mixed.nodes.front());
  mixed.nodes.front().type.name = "other";
  mixed.nodes.front().type.memoryBytes = 0;
  EXPECT_EQ(mixed.memoryBytes(), mixed.nodes.back().type.memoryBytes);
  StagePlaces places(mixed, Pipeline{2, 2});
  EXPECT_EQ(places.memoryLimits(/*asked=*/0), 0);
  EXPECT_EQ(places.memoryLimits(/*asked=*/100), 200);
  Plan plan;
  plan.predictedStageMemoryBytes = {int64_t(1) << 50, mixed.memoryBytes() + 7};
  plan.stages = 2;
  EXPECT_EQ(excessBytes(plan, places, /*asked=*/0), 7);
}

/// Matrix multiplications one after the other, each with a weight of its own.
ModelGraph chainOf(int layers) {
  SmallModel model;
  unsigned value = model.input("x", {4096, 1024});
  for (int layer = 0; layer < layers; ++layer)
    value = model.matmul(
        "y" + std::to_string(layer), value,
        model.parameter("w" + std::to_string(layer), {1024, 1024}));
  return model.finish(value);
}

/// The stage on the faster device gets more of a chain of equal layers.
TEST(StagePlaces, FasterDevicesGetMoreOps) {
  constexpr int kLayers = 12;
  ModelGraph graph = chainOf(kLayers);
  PlanRequest request = requestOf(2, "layer", "");
  request.cluster = cantFail(parseCluster("2x1:l4"));
  request.cluster.nodes.front().count = 1;
  request.cluster.nodes.push_back(request.cluster.nodes.front());
  DeviceType &fast = request.cluster.nodes.front().type;
  fast.name = "twice";
  for (double *rate : {&fast.fp32Flops, &fast.tf32Flops, &fast.fp16Flops,
                       &fast.bf16Flops, &fast.memoryBytesPerSecond})
    *rate *= 2;
  Plan plan = cantFail(searchPlan(graph, request));
  EXPECT_EQ(count_if(plan.ops, [](const auto &op) { return op.stage == 0; }),
            kLayers * 2 / 3);
}

//===----------------------------------------------------------------------===//
// What trials share
//===----------------------------------------------------------------------===//

/// Free axes demand nothing, whatever their sizes.
TEST(SharedWork, KeepsDemandsByTheNamesOfAxes) {
  ModelGraph graph = twoLayers(512);
  SharedWork shared;
  auto demands = [&](StringRef mesh, StrategyName first) {
    Trial trial{cantFail(clusterOfRanks(8)), freeMesh(mesh)};
    trial.candidate.names.front() = first;
    return &cantFail(demandsOf(graph, trial, shared));
  };
  EXPECT_EQ(demands("x=4,y=2", StrategyName::Auto),
            demands("x=2,y=4", StrategyName::Auto));
  EXPECT_EQ(demands("data=4,y=2", StrategyName::Data),
            demands("data=4,y=2", StrategyName::Data));
  EXPECT_NE(demands("data=4,y=2", StrategyName::Data),
            demands("data=2,y=4", StrategyName::Data));
}

/// Layers add rows of memory and counts, but nothing to decide.
TEST(FoldedGraph, DoesNotGrowWithTheLayers) {
  auto fold = [](int layers) {
    return FoldedGraph(chainOf(layers), std::vector<unsigned>(layers, 0));
  };
  FoldedGraph few = fold(50), many = fold(90);
  EXPECT_EQ(many.nodes, few.nodes);
  EXPECT_EQ(many.edges.size(), few.edges.size());
  EXPECT_EQ(many.rowKinds.size(), few.rowKinds.size());
  EXPECT_EQ(few.rows.size(), 50u);
  EXPECT_EQ(many.rows.size(), 90u);
  EXPECT_EQ(std::accumulate(many.opCounts.begin(), many.opCounts.end(), 0u),
            90u);
}

/// Whatever is decided, the parts of an op cost no more than the op.
TEST(StageBoundCosts, PartsAreNoMoreThanTheirOps) {
  constexpr double kLimit = 1; // seconds, far more than the chain takes
  ModelGraph graph = chainOf(50);
  SharedWork shared;
  for (int64_t microBatches : {1, 4}) {
    Trial trial{cantFail(parseCluster("2x4:a100-80gb")),
                cantFail(meshCandidates(
                             requestOf(8, "layer,auto", "layer=2,x=4"), 4096))
                    .front(),
                microBatches, Objective::Throughput};
    PlanQuestion question{graph,
                          trial.cluster,
                          meshOf(trial),
                          cantFail(demandsOf(graph, trial, shared)),
                          /*memoryLimit=*/0,
                          {}};
    question.pipeline = trial.pipeline();
    std::unique_ptr<PlanProblem> problem =
        cantFail(PlanProblem::build(question));
    StageBoundCosts costs = problem->stageBoundCosts(kLimit);
    ASSERT_EQ(costs.ops.size(), graph.ops.size());
    EXPECT_LT(costs.opKinds.size(), graph.ops.size()); // it is folded
    std::mt19937 random(microBatches);
    unsigned legal = 0;
    for (unsigned attempt = 0; attempt < 200; ++attempt) {
      std::vector<unsigned> choice;
      for (const ProblemNode &node : problem->problem.nodes)
        choice.push_back(random() % node.choices());
      std::vector<double> seconds = problem->opSeconds(choice).front();
      for (size_t op = 0; op < graph.ops.size(); ++op) {
        double parts = 0;
        for (const StageBoundCosts::Part &part : costs.opKinds[costs.ops[op]])
          parts += part.seconds[choice[part.decision]];
        if (seconds[op] < kLimit) {
          ++legal;
          EXPECT_LE(parts, seconds[op] * double(microBatches) * (1 + 1e-9));
        }
      }
    }
    EXPECT_GT(legal, 1000u);
  }
}

//===----------------------------------------------------------------------===//
// Strategies that are too dear
//===----------------------------------------------------------------------===//

/// What is left under a cutoff has the same best plan, until the cutoff is that
/// plan.
TEST(PlanProblem, DropsOnlyWhatReachesTheCutoff) {
  ModelGraph graph = twoLayers(512);
  Trial trial{cantFail(clusterOfRanks(4)), freeMesh("x=2,y=2")};
  SharedWork shared;
  PlanQuestion question{graph,
                        trial.cluster,
                        meshOf(trial),
                        cantFail(demandsOf(graph, trial, shared)),
                        0,
                        {}};
  auto whole = cantFail(PlanProblem::build(question));
  double best = cantFail(Solver(whole->problem).solve()).seconds;
  auto choicesOf = [](const PlanProblem &built) {
    size_t count = 0;
    for (const ProblemNode &node : built.problem.nodes)
      count += node.choices();
    return count;
  };
  question.cutoff = best * (1 + 1e-9);
  auto dropped = cantFail(PlanProblem::build(question));
  EXPECT_LT(choicesOf(*dropped), choicesOf(*whole));
  EXPECT_DOUBLE_EQ(cantFail(Solver(dropped->problem).solve()).seconds, best);
  question.cutoff = best / 1e6;
  Expected<std::unique_ptr<PlanProblem>> none = PlanProblem::build(question);
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.errorIsA<NothingCheaper>());
  handleAllErrors(none.takeError(), [&](const NothingCheaper &what) {
    EXPECT_GE(what.lowerBound, question.cutoff);
    EXPECT_LE(what.lowerBound, best);
  });
}

} // namespace
