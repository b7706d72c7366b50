//===- PlanQuality.cpp - Searched plans against all plans -----------------===//

#include "PlanQuality.h"
#include "PlanEnumeration.h"
#include "RandomGraph.h"
#include "autopar/Planning/ReadModel.h"
#include "lib/Planning/AssignTarget.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autopar::property {

static constexpr double kFewPlans = 1e4, kManyPlans = 1e7;
/// Many of these are priced, or their memory is predicted, one by one.
static constexpr double kManyDearPlans = 1e5;
static constexpr double kWorse = 1.02;
static constexpr double kEqual = 1e-9;

namespace {
struct Question {
  ModelGraph graph;
  PlanRequest request;
  bool hasLimit = false;
  bool hasStages() const {
    return llvm::is_contained(request.strategies, StrategyName::Layer);
  }
};
} // namespace

/// Of rates at which tensors of a few kilobytes take as long as latencies.
/// `mixed`: on two nodes, each with devices of a type of its own.
static Cluster randomCluster(Random &random, int64_t devices,
                             bool mixed = false) {
  llvm::StringRef type = random.chance(50) ? "cpu" : "a100-80gb";
  Cluster cluster = llvm::cantFail(
      parseCluster(llvm::formatv("1x{0}:{1}", devices, type).str()));
  auto draw = [&](double low) { return low * double(random.between(1, 100)); };
  if (mixed) {
    cluster.nodes.front().devices = devices / 2;
    cluster.nodes.push_back(cluster.nodes.front());
    cluster.nodes.back().devices = devices - devices / 2;
    cluster.nodes.back().type.name = "other";
  }
  for (NodeGroup &group : cluster.nodes) {
    DeviceType &device = group.type;
    device.fp32Flops = device.tf32Flops = device.fp16Flops = device.bf16Flops =
        draw(1e8);
    device.memoryBytesPerSecond = draw(1e8);
    device.launchSeconds = draw(2e-8);
    device.collectiveSeconds = 0;
  }
  for (Link *link : {&cluster.withinNode, &cluster.betweenNodes}) {
    link->latencySeconds = draw(2e-8);
    link->bytesPerSecond = draw(1e8);
  }
  return cluster;
}

/// nullopt: the model has too few or too many plans.
static std::optional<Question>
drawQuestion(MLIRContext &context, Random &random, bool stages, bool limit) {
  OwningOpRef<ModuleOp> module = makeStep(
      context, random, stages ? random.between(3, 5) : random.between(2, 6));
  Question question;
  question.hasLimit = limit;
  PlanRequest &request = question.request;
  if (stages) {
    request.strategies = {StrategyName::Layer, StrategyName::Auto};
    int64_t devices = random.chance(80) ? 4 : 6;
    request.cluster = randomCluster(random, devices, random.chance(50));
    if (random.chance(40))
      request.objective = Objective::Throughput;
  } else {
    request.cluster = randomCluster(random, random.between(2, 4));
  }
  if (failed(assignTarget(*module, request.cluster)))
    return std::nullopt;
  FailureOr<ModelGraph> graph = readModel(*module);
  if (failed(graph))
    return std::nullopt;
  question.graph = std::move(*graph);
  double plans = countPlans(question.graph, request);
  if (plans < kFewPlans ||
      plans > (stages || limit ? kManyDearPlans : kManyPlans))
    return std::nullopt;
  return question;
}

/// `latency, 2 stages, 4 micro-batches, time=4 x=2, op a in stage 0, op b in
/// stage 1`
static std::string describe(const Plan &plan) {
  std::string text = llvm::formatv("{0}, {1} stages, {2} micro-batches,",
                                   stringifyObjective(plan.objective),
                                   plan.stages, plan.microBatches);
  for (const MeshAxis &axis : plan.mesh.axes())
    text += llvm::formatv(" {0}={1}", axis.name, axis.size);
  for (const PlannedOp &op : plan.ops)
    text += llvm::formatv(", op {0} in stage {1}", op.name, op.stage);
  return text;
}

static std::string describe(const std::optional<Plan> &plan) {
  return plan ? " (" + describe(*plan) + ")" : "";
}

/// Counts the plan as right or wrong; the text says what is wrong.
static std::string compare(const Question &question, const Plan *plan,
                           PlanCounts &counts) {
  double found = INFINITY;
  if (plan) {
    double told = stepSeconds(*plan, question.graph, ReadCost::Shared);
    double predicted = plan->predictedStepSeconds;
    if (std::abs(told - predicted) > kEqual * predicted)
      return llvm::formatv("the plan takes {0:e6} s, its parts {1:e6} s ({2})",
                           predicted, told, describe(*plan));
    Plan searched = *plan;
    searched.predictedStepSeconds = 0; // of shared reads
    found = stepSeconds(searched, question.graph, ReadCost::PerRead);
  }
  BestPlan best =
      enumeratePlans(question.graph, question.request, found * (1 - kEqual));
  if (!best.complete) {
    ++counts.skipped;
    return "";
  }
  counts.withMemory += question.hasLimit;
  counts.withStages += question.hasStages();
  counts.withNone += best.seconds == INFINITY;
  double ratio = found == best.seconds ? 1 : found / best.seconds;
  counts.worstRatio = std::max(counts.worstRatio, ratio);
  counts.best += ratio <= 1 + 2 * kEqual;
  if (plan && plan->lowerBoundSeconds > best.seconds * (1 + 2 * kEqual)) {
    ++counts.aboveBest;
    return llvm::formatv(
        "the lower bound of {0:e6} s is above the best, {1:e6} s{2}",
        plan->lowerBoundSeconds, best.seconds, describe(best.plan));
  }
  if (ratio <= kWorse)
    return "";
  return llvm::formatv("the plan takes {0:e6} s, the best {1:e6} s{2}", found,
                       best.seconds, describe(best.plan));
}

static void test(Question question, Random &random, uint64_t seed,
                 PlanCounts &counts) {
  llvm::Expected<Plan> free = searchPlan(question.graph, question.request);
  if (!free) {
    ++counts.failed;
    llvm::outs() << "seed " << seed << ": " << llvm::toString(free.takeError())
                 << "\n";
    return;
  }
  llvm::Expected<Plan> plan = std::move(free);
  if (question.hasLimit) {
    question.request.memoryLimit =
        plan->predictedPeakMemoryBytes *
        random.between(random.chance(70) ? 85 : 60, 99) / 100;
    plan = searchPlan(question.graph, question.request);
  }
  std::string wrong = compare(question, plan ? &*plan : nullptr, counts);
  if (!plan)
    llvm::consumeError(plan.takeError());
  if (wrong.empty())
    return;
  ++counts.failed;
  llvm::outs() << "seed " << seed << ": " << wrong << "\n";
}

PlanCounts testPlanQuality(MLIRContext &context, uint64_t seed,
                           int64_t problems) {
  PlanCounts counts;
  for (; counts.problems < problems; ++counts.problems, ++seed) {
    Random random(seed);
    bool stages = seed % 2 == 0, limit = seed % 3 != 0;
    std::optional<Question> question;
    while (!question)
      question = drawQuestion(context, random, stages, limit);
    test(std::move(*question), random, seed, counts);
  }
  return counts;
}

} // namespace autopar::property
