//===- TrialProblem.cpp - The best plan of one trial ----------------------===//

#include "TrialProblem.h"
#include "StageBound.h"
#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "autopar/Planning/Constraints/KeepDecisions.h"
#include "autopar/Planning/Search/StagePlaces.h"
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
                   places.memoryLimits(settings.request.limit()),
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
  result->evaluator = std::make_unique<PlanEvaluator>(
      result->question, *result->built, trial, settings.request.limit(),
      settings.regathers);
  auto evaluate = [&plans = *result->evaluator](ArrayRef<unsigned> choice) {
    return plans.evaluate(choice);
  };
  result->solver = std::make_unique<Solver>(
      result->problem(), settings.options,
      Evaluator{evaluate, leastShare(trial), result->evaluator->memoryLimit()});
  return std::move(result);
}

/// Applies the constraints, the stored tensors and the kept decisions.
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
  solved.memoryBinds =
      (seen.found < kIllegal && !seen.fits) || evaluator->isTooFull();
  solved.secondsToBeat = secondsToBeat;
  solved.isRough = solver->isRough();
  return solved;
}

double TrialProblem::leastOfStages(double secondsToBeat) const {
  if (question.limits.constraints)
    return 0; // stages may order the ops differently
  // The most links between stages to look at.
  constexpr int64_t kMostLinks = 1 << 20;
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

/// Adds the number of micro-batches to the message of an error.
static Error withMicroBatches(Error error, int64_t microBatches) {
  if (microBatches == 1 || error.isA<NotEnoughMemory>() ||
      error.isA<NothingCheaper>())
    return error;
  return createStringError(toString(std::move(error)) + " with " +
                           Twine(microBatches) + " micro-batches");
}

/// Keeps the lower bound of an error of the solver. Returns the reason if no
/// choice could be cut into stages.
Error TrialProblem::explain(Error error) {
  return handleErrors(
      withMicroBatches(std::move(error), trial.microBatches),
      [&](std::unique_ptr<NothingCheaper> what) {
        lowerBound = what->lowerBound;
        return Error(std::move(what));
      },
      [&](std::unique_ptr<NotEnoughMemory> what) {
        lowerBound = what->lowerBound;
        // The evaluator may know why it could cut no choice into stages.
        const std::string &complaint = evaluator->complaint();
        return what->leastBytes > 0 || complaint.empty()
                   ? Error(std::move(what))
                   : createStringError(complaint);
      });
}

/// Returns an estimate of the plan whose ops have no stages yet. It is used
/// only if even the estimate does not beat the best plan.
Plan TrialProblem::estimatedPlan(const Solution &solution) const {
  Plan plan = emptyPlan(trial);
  built->writePlan(solution, plan);
  plan.predictedStepSeconds *= leastShare(trial);
  plan.predictedPeakMemoryBytes /= plan.stages;
  return plan;
}

Expected<Plan> TrialProblem::solvePlan(double secondsToBeat) {
  Expected<Solution> solution = solver->solve(secondsToBeat);
  if (!solution)
    return explain(solution.takeError());
  lowerBound = solution->lowerBound;
  std::optional<Plan> plan;
  if (solution->isEvaluated)
    plan = evaluator->planOf(solution->choice);
  else if (Plan estimated = estimatedPlan(*solution);
           estimated.predictedStepSeconds >= secondsToBeat)
    plan = std::move(estimated);
  if (!plan)
    return make_error<NothingCheaper>(lowerBound);
  plan->strategy = stringifyStrategies(settings.request.strategies);
  plan->lowerBoundSeconds = lowerBound;
  return std::move(*plan);
}

} // namespace autopar
