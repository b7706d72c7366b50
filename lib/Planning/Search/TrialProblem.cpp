//===- TrialProblem.cpp - The best plan of one trial ----------------------===//

#include "TrialProblem.h"
#include "Stages.h"
#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "autopar/Planning/Constraints/KeepDecisions.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Planning/Solver/StageBound.h"
#include "llvm/ADT/STLExtras.h"

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
      Evaluator{finished, leastShare(trial), result->memoryLimit()});
  return std::move(result);
}

/// Applies the constraints, what is stored and the decisions that are kept.
Error TrialProblem::limit() {
  const PlanRequest &request = settings.request;
  if (request.constraints.empty())
    return Error::success();
  int64_t stages = trial.candidate.stages;
  Expected<Limits> limits =
      demandedLimits(request, settings.graph, question.mesh, stages);
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
  StageBoundCosts costs =
      built->stageBoundCosts(secondsToBeat / places.leastShare());
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
Evaluation TrialProblem::finish(ArrayRef<unsigned> choice) {
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
  Evaluation outcome{plan.predictedStepSeconds,
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

/// Whether all but what is deferred is chosen so.
static bool isSamePlan(const Problem &problem, ArrayRef<unsigned> a,
                       ArrayRef<unsigned> b) {
  for (const auto &[index, node] : enumerate(problem.nodes))
    if (!node.deferred && a[index] != b[index])
      return false;
  return true;
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
  Plan plan = best ? std::move(best->plan) : emptyPlan();
  plan.strategy = stringifyStrategies(settings.request.strategies);
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
