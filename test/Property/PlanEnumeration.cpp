//===- PlanEnumeration.cpp - The best of all plans ------------------------===//

#include "PlanEnumeration.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Search/BuildProblem.h"
#include "autopar/Planning/Search/PlanCost.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "lib/Planning/Search/Stages.h"
#include "lib/Planning/Search/Trials.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar::property {

double stepSeconds(const Plan &plan, const ModelGraph &graph, ReadCost reads) {
  double batches = double(plan.microBatches), sum = 0, slowest = 0;
  for (const StageCost &stage : stageCosts(plan, graph, reads)) {
    double seconds = stage.compute + stage.communication + stage.messages;
    sum += seconds - stage.messages / 2; // of both ends, once
    slowest = std::max(slowest, seconds);
  }
  return plan.pipeline().stepSeconds(sum, slowest) / batches;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The ops that have a stage of their own, in program order.
static std::vector<unsigned> stagedOps(const ModelGraph &graph) {
  std::vector<unsigned> ops;
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    if (graph.hasOwnStage(op))
      ops.push_back(op);
  return ops;
}

/// Per op its stage. `ends`: per stage how many staged ops come before its end.
static std::vector<int64_t> stagesOf(const ModelGraph &graph,
                                     ArrayRef<size_t> ends) {
  std::vector<int64_t> stages(graph.ops.size(), 0);
  for (const auto &[position, op] : enumerate(stagedOps(graph)))
    stages[op] = llvm::upper_bound(ends, position) - ends.begin();
  graph.completeStages(stages, ends.size());
  return stages;
}

static void addCuts(const ModelGraph &graph, SmallVector<size_t> ends,
                    size_t count, size_t stages,
                    std::vector<std::vector<int64_t>> &cuts) {
  if (ends.size() + 1 == stages) {
    ends.push_back(count);
    cuts.push_back(stagesOf(graph, ends));
    return;
  }
  for (size_t end = ends.empty() ? 1 : ends.back() + 1; end < count; ++end) {
    ends.push_back(end);
    addCuts(graph, ends, count, stages, cuts);
    ends.pop_back();
  }
}

/// Every way to cut the program into stages that have an op each.
static std::vector<std::vector<int64_t>> cutsOf(const ModelGraph &graph,
                                                int64_t stages) {
  std::vector<std::vector<int64_t>> cuts;
  addCuts(graph, {}, stagedOps(graph).size(), stages, cuts);
  return cuts;
}

//===----------------------------------------------------------------------===//
// One trial
//===----------------------------------------------------------------------===//

namespace {

class TrialPlans {
public:
  static Expected<TrialPlans>
  of(const ModelGraph &graph, const PlanRequest &request, const Trial &trial);
  double count() const;
  void findBest(BestPlan &best);

private:
  TrialPlans(const ModelGraph &graph, const PlanRequest &request,
             const Trial &trial)
      : graph(graph), trial(trial), memoryLimit(request.memoryLimit),
        cuts(cutsOf(graph, trial.candidate.stages)),
        places(request.cluster, trial.pipeline()) {}

  const Problem &problem() const { return built->problem; }
  double leastSeconds(double sum) const;
  double loadSeconds(SecondsAtPlaces ofOps, ArrayRef<int64_t> stages) const;
  void choose(unsigned node, double sum, BestPlan &best);
  void priceCuts(BestPlan &best);
  Plan writePlan() const;
  void predict(Plan plan, double seconds, BestPlan &best);

  const ModelGraph &graph;
  Trial trial;
  int64_t memoryLimit;
  std::vector<std::vector<int64_t>> cuts;
  StagePlaces places;
  std::unique_ptr<PlanProblem> built;
  std::vector<SmallVector<unsigned>> edgesOf; // per node: to those before it
  std::vector<double> leastAfter; // of the nodes from this one on, each alone
  std::vector<unsigned> choice;
  int64_t predictions = 0;
};

} // namespace

Expected<TrialPlans> TrialPlans::of(const ModelGraph &graph,
                                    const PlanRequest &request,
                                    const Trial &trial) {
  TrialPlans plans(graph, request, trial);
  SharedWork shared;
  Expected<const OpDemands &> demands = demandsOf(graph, trial, shared);
  if (!demands)
    return demands.takeError();
  Expected<std::unique_ptr<PlanProblem>> built =
      PlanProblem::build({graph,
                          request.cluster,
                          meshOf(trial),
                          *demands,
                          request.memoryLimit,
                          {},
                          kIllegal,
                          trial.pipeline()});
  if (!built)
    return built.takeError();
  plans.built = std::move(*built);
  const Problem &problem = plans.problem();
  plans.choice.assign(problem.nodes.size(), 0);
  plans.edgesOf.resize(problem.nodes.size());
  for (const auto &[index, edge] : enumerate(problem.edges))
    plans.edgesOf[std::max(edge.a, edge.b)].push_back(index);
  plans.leastAfter.assign(problem.nodes.size() + 1, 0);
  for (size_t node = problem.nodes.size(); node-- > 0;)
    plans.leastAfter[node] = plans.leastAfter[node + 1] +
                             *llvm::min_element(problem.nodes[node].seconds);
  return std::move(plans);
}

double TrialPlans::count() const {
  double count = double(cuts.size());
  for (const ProblemNode &node : problem().nodes)
    count *= double(node.choices());
  return count;
}

/// Of a step whose ops take `sum` over all micro-batches: with stages that are
/// equal.
double TrialPlans::leastSeconds(double sum) const {
  double once = sum / double(trial.microBatches);
  return trial.pipeline().stepSeconds(once,
                                      once / double(trial.candidate.stages));
}

/// Of a step without messages and what stages repeat.
double TrialPlans::loadSeconds(SecondsAtPlaces ofOps,
                               ArrayRef<int64_t> stages) const {
  SmallVector<double> loads(trial.candidate.stages, 0);
  double sum = 0;
  for (auto [index, stage] : enumerate(stages)) {
    if (graph.ops[index].setup)
      continue;
    double seconds = ofOps[places.kindOf[stage]][index];
    loads[stage] += seconds;
    sum += seconds;
  }
  return trial.pipeline().stepSeconds(sum, *llvm::max_element(loads));
}

/// Depth first, but for what takes no less than the best that is known.
void TrialPlans::choose(unsigned node, double sum, BestPlan &best) {
  if (leastSeconds(sum + leastAfter[node]) >= best.seconds || !best.complete)
    return;
  if (node == choice.size()) {
    if (trial.candidate.stages == 1)
      predict(writePlan(), sum, best);
    else
      priceCuts(best);
    return;
  }
  for (size_t c = 0; c < problem().nodes[node].choices(); ++c) {
    choice[node] = c;
    double more = problem().nodes[node].seconds[c];
    for (unsigned index : edgesOf[node]) {
      const ProblemEdge &edge = problem().edges[index];
      more += edge.seconds[choice[edge.a] * problem().nodes[edge.b].choices() +
                           choice[edge.b]];
    }
    choose(node + 1, sum + more, best);
  }
}

Plan TrialPlans::writePlan() const {
  Plan plan;
  built->writeDecisions(choice, plan);
  plan.stages = trial.candidate.stages;
  plan.microBatches = trial.microBatches;
  plan.objective = trial.objective;
  return plan;
}

void TrialPlans::priceCuts(BestPlan &best) {
  std::vector<std::vector<double>> ofOps = built->opSeconds(choice);
  std::optional<Plan> plan;
  for (const std::vector<int64_t> &stages : cuts) {
    if (loadSeconds(ofOps, stages) >= best.seconds)
      continue;
    if (!plan)
      plan = writePlan();
    for (auto [op, stage] : zip_equal(plan->ops, stages))
      op.stage = stage;
    predict(*plan, stepSeconds(*plan, graph, ReadCost::PerRead), best);
  }
}

/// Whether it fits is asked of few: of those that would be the best.
void TrialPlans::predict(Plan plan, double seconds, BestPlan &best) {
  constexpr int64_t kMostPredictions = 20000;
  if (seconds >= best.seconds)
    return;
  if (memoryLimit && ++predictions > kMostPredictions) {
    best.complete = false;
    return;
  }
  if (memoryLimit)
    predictMemory(graph, plan);
  if (memoryLimit && plan.predictedPeakMemoryBytes > memoryLimit)
    return;
  best.seconds = seconds;
  best.plan = std::move(plan);
}

void TrialPlans::findBest(BestPlan &best) { choose(0, 0, best); }

//===----------------------------------------------------------------------===//
// All trials
//===----------------------------------------------------------------------===//

/// Of what has no plan at all there is none.
static std::vector<TrialPlans> trialPlans(const ModelGraph &graph,
                                          const PlanRequest &request) {
  std::vector<TrialPlans> list;
  Expected<std::vector<Trial>> trials = trialsOf(graph, request);
  if (!trials) {
    consumeError(trials.takeError());
    return list;
  }
  for (const Trial &trial : *trials) {
    Expected<TrialPlans> plans = TrialPlans::of(graph, request, trial);
    if (plans)
      list.push_back(std::move(*plans));
    else
      consumeError(plans.takeError());
  }
  return list;
}

double countPlans(const ModelGraph &graph, const PlanRequest &request) {
  double count = 0;
  for (const TrialPlans &plans : trialPlans(graph, request))
    count += plans.count();
  return count;
}

BestPlan enumeratePlans(const ModelGraph &graph, const PlanRequest &request,
                        double seconds) {
  BestPlan best{seconds, true, std::nullopt};
  for (TrialPlans &plans : trialPlans(graph, request))
    plans.findBest(best);
  return best;
}

} // namespace autopar::property
