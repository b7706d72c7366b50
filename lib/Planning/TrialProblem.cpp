//===- TrialProblem.cpp - The best plan of one trial ----------------------===//

#include "TrialProblem.h"
#include "StageBound.h"
#include "StagePlaces.h"
#include "Stages.h"
#include "autopar/Planning/Explain.h"
#include "autopar/Planning/KeepDecisions.h"
#include "autopar/Planning/PredictMemory.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace llvm;

namespace autopar {

Expected<std::unique_ptr<TrialProblem>>
TrialProblem::build(const TrialSettings &settings, const Trial &trial,
                    double secondsToBeat) {
  Expected<const OpDemands &> demands =
      demandsOf(settings.graph, trial, *settings.shared);
  if (!demands)
    return demands.takeError();
  StagePlaces places(trial.cluster, trial.pipeline());
  std::unique_ptr<TrialProblem> result(new TrialProblem(
      settings, trial,
      PlanQuestion{settings.graph,
                   trial.cluster,
                   meshOf(trial),
                   *demands,
                   places.memoryLimits(settings.request.memoryLimit),
                   {},
                   secondsToBeat / leastShare(trial),
                   trial.pipeline(),
                   settings.shared}));
  if (Error error = result->limit())
    return std::move(error);
  Expected<std::unique_ptr<PlanProblem>> built =
      PlanProblem::build(result->question);
  if (!built)
    return built.takeError();
  result->built = std::move(*built);
  auto finished = [it = result.get()](ArrayRef<unsigned> choice) {
    return it->finish(choice);
  };
  result->solver = std::make_unique<Solver>(
      result->problem(), settings.options,
      Outcomes{finished, leastShare(trial), result->memoryLimit()});
  return std::move(result);
}

/// By the constraints and the decisions that are kept.
Error TrialProblem::limit() {
  const PlanRequest &request = settings.request;
  if (request.constraints.empty())
    return Error::success();
  int64_t stages = trial.candidate.stages;
  Expected<Limits> limits =
      resolve(request.constraints, settings.graph, question.mesh, stages);
  if (!limits)
    return limits.takeError();
  keepDecisions(request, settings.graph, question.mesh, stages, *limits);
  question.limits = std::move(*limits);
  return Error::success();
}

SolvedTrial TrialProblem::solve(double secondsToBeat) {
  SolvedTrial solved{solvePlan(secondsToBeat)};
  solved.lowerBound = lowerBound;
  solved.memoryBinds = (seen.found < kIllegal && !seen.fits) || isTooFull;
  solved.secondsToBeat = secondsToBeat;
  solved.isRough = isRough;
  return solved;
}

double TrialProblem::leastOfStages(double secondsToBeat) const {
  if (question.limits.constraints)
    return 0; // stages may have ops in another order
  constexpr int64_t kMostLinks = 1 << 20; // between stages, to look at
  if (trial.candidate.stages * trial.cluster.deviceCount() > kMostLinks)
    return 0;
  StagePlaces places(trial.cluster, trial.pipeline());
  StageCosts costs = built->stageCosts(secondsToBeat / places.leastShare());
  double ofSlowest = places.leastSeconds(0, 1);
  double alone = places.leastSeconds(costs.seconds, 0);
  if (ofSlowest == 0 || alone >= secondsToBeat)
    return std::min(alone, secondsToBeat);
  return places.leastSeconds(
      costs.seconds,
      leastOfSlowestStage(costs, (secondsToBeat - alone) / ofSlowest));
}

Plan TrialProblem::emptyPlan() const {
  Plan plan;
  plan.stages = trial.candidate.stages;
  plan.microBatches = trial.microBatches;
  plan.objective = trial.objective;
  return plan;
}

/// Cut into stages, and with the memory that Partition and Schedule will make
/// of it: a problem's rows are close to that, not equal.
Outcome TrialProblem::finish(ArrayRef<unsigned> choice) {
  int64_t asked = settings.request.memoryLimit;
  Plan &plan = draft.plan;
  built->writeDecisions(choice, plan, draft.choice);
  draft.choice = choice.vec();
  if (plan.stages == 1) {
    plan.predictedStepSeconds = problem().undeferredSecondsOf(choice);
    predictMemory(settings.graph, plan);
  } else if (Error error = cutStages(settings.graph, built->opSeconds(choice),
                                     asked, question.limits, plan)) {
    handleAllErrors(
        std::move(error), [](const NotEnoughMemory &) {},
        [&](const ErrorInfoBase &what) { complaint = what.message(); });
    return {kIllegal, std::numeric_limits<int64_t>::max()};
  }
  StagePlaces places(trial.cluster, trial.pipeline());
  int64_t excess = excessBytes(plan, places, asked);
  // Of devices that differ, as if all had the least.
  Outcome outcome{plan.predictedStepSeconds,
                  memoryLimit() ? memoryLimit() + excess
                                : plan.predictedPeakMemoryBytes};
  isTooFull |= excess > 0;
  if (excess <= 0 &&
      (!best || outcome.seconds < best->plan.predictedStepSeconds)) {
    if (!best)
      best = Finished{emptyPlan(), {}};
    std::swap(*best, draft);
  }
  return outcome;
}

/// How much each stage of a plan counts in its step: all in the sum, and the
/// slowest ones once more, whose `shares` are the mean over so many tries
/// (multiplicative weights).
static std::vector<StageWeight> weightsOf(const Plan &plan,
                                          const ModelGraph &graph,
                                          unsigned tries,
                                          MutableArrayRef<double> shares) {
  constexpr double kPower = 8, kLeast = 0.1; // of equal shares
  Pipeline pipeline = plan.pipeline();
  double sum = pipeline.stepSeconds(1, 0), slowest = pipeline.stepSeconds(0, 1);
  std::vector<double> powers;
  for (const StageCost &stage : stageCosts(plan, graph))
    powers.push_back(
        std::pow(stage.compute + stage.communication + stage.messages, kPower));
  double all = std::accumulate(powers.begin(), powers.end(), 0.0);
  std::vector<StageWeight> weights;
  for (auto [share, power] : zip_equal(shares, powers)) {
    share += (power / all - share) / double(tries);
    double slow =
        slowest * ((1 - kLeast) * share + kLeast / double(pipeline.stages));
    weights.push_back({sum + slow, sum / 2 + slow});
  }
  return weights;
}

/// Whether all but what is deferred is chosen so.
static bool isSamePlan(const Problem &problem, ArrayRef<unsigned> a,
                       ArrayRef<unsigned> b) {
  for (const auto &[index, node] : enumerate(problem.nodes))
    if (!node.deferred && a[index] != b[index])
      return false;
  return true;
}

/// The search chose shardings of ops that could be in any stage. Now that there
/// is a plan, choices are searched of ops that are in its stages, and cut
/// again. Of larger problems it finds nothing better.
void TrialProblem::refine(std::vector<unsigned> &choice, double secondsToBeat) {
  constexpr size_t kMostNodes = 100, kMostOps = 1000;
  constexpr double kNear = 1.25; // to what is known
  constexpr unsigned kTries = 6, kInVain = 2;
  double found = best->plan.predictedStepSeconds;
  if (problem().nodes.size() > kMostNodes ||
      settings.graph.ops.size() > kMostOps || found == 0 ||
      found >= kNear * secondsToBeat)
    return;
  std::vector<double> shares(trial.candidate.stages, 0);
  for (unsigned i = 1, inVain = 0; i <= kTries && inVain < kInVain; ++i) {
    Finished before = *best;
    Problem staged = built->inStages(
        before.plan, weightsOf(before.plan, settings.graph, i, shares));
    auto finished = [&](ArrayRef<unsigned> other) { return finish(other); };
    Solver ofStages(staged, settings.options,
                    Outcomes{finished, 1, memoryLimit()});
    Expected<Solution> solution =
        ofStages.solve(before.plan.predictedStepSeconds);
    isRough |= ofStages.isRough();
    // Outcomes may be better than what the solver ends with.
    bool isBetter =
        solution && isSamePlan(problem(), best->choice, solution->choice) &&
        best->plan.predictedStepSeconds < before.plan.predictedStepSeconds;
    if (isBetter)
      choice = std::move(solution->choice);
    else
      best = std::move(before);
    inVain = isBetter ? 0 : inVain + 1;
    consumeError(solution.takeError());
  }
}

/// Says into how many micro-batches the batch was cut when no plan was found.
static Error withMicroBatches(Error error, int64_t microBatches) {
  if (microBatches == 1 || error.isA<NotEnoughMemory>() ||
      error.isA<NothingCheaper>())
    return error;
  return createStringError(toString(std::move(error)) + " with " +
                           Twine(microBatches) + " micro-batches");
}

/// A plan that is no better than what is known may lack its stages.
Expected<Plan> TrialProblem::solvePlan(double secondsToBeat) {
  Expected<Solution> solution = solver->solve(secondsToBeat);
  isRough = solver->isRough();
  if (!solution)
    return handleErrors(
        withMicroBatches(solution.takeError(), trial.microBatches),
        [&](std::unique_ptr<NothingCheaper> what) {
          lowerBound = what->lowerBound;
          return Error(std::move(what));
        },
        [&](std::unique_ptr<NotEnoughMemory> what) {
          lowerBound = what->lowerBound;
          // Nothing was cut into stages, which may have a reason of its own.
          return what->leastBytes > 0 || complaint.empty()
                     ? Error(std::move(what))
                     : createStringError(complaint);
        });
  lowerBound = solution->lowerBound;
  if (best && !isSamePlan(problem(), best->choice, solution->choice)) {
    best.reset();
    finish(solution->choice);
    if (!best)
      return make_error<NothingCheaper>(lowerBound);
  }
  if (best && trial.candidate.stages > 1)
    refine(solution->choice, secondsToBeat);
  Plan plan = best ? std::move(best->plan) : emptyPlan();
  plan.strategy = stringifyStrategies(settings.request.strategies);
  plan.schedule = plan.stages == 1 ? "none" : "gpipe";
  if (best) {
    built->writeDecisions(solution->choice, plan, best->choice);
    plan.lowerBoundSeconds = lowerBound;
    return plan;
  }
  built->writePlan(*solution, plan);
  plan.lowerBoundSeconds = lowerBound;
  plan.predictedStepSeconds *= leastShare(trial);
  plan.predictedPeakMemoryBytes /= plan.stages;
  if (plan.predictedStepSeconds < secondsToBeat) // it has no stages
    return make_error<NothingCheaper>(lowerBound);
  return plan;
}

} // namespace autopar
