//===- EvaluatePlan.cpp - What a trial's choices really take and hold -----===//

#include "EvaluatePlan.h"
#include "Stages.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Plan/Regathers.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

Plan emptyPlan(const Trial &trial) {
  Plan plan;
  plan.stages = trial.candidate.stages;
  plan.microBatches = trial.microBatches;
  plan.objective = trial.objective;
  return plan;
}

PlanEvaluator::PlanEvaluator(const PlanQuestion &question,
                             const PlanProblem &built, const Trial &trial,
                             const MemoryLimit &limit, bool regathers)
    : question(question), built(built), trial(trial), limit(limit),
      places(trial.cluster, trial.pipeline()), regathers(regathers),
      draft{emptyPlan(trial), {}} {}

/// Turns `draft`, which has the plan of another choice or none, into the plan
/// of `choice`.
Error PlanEvaluator::make(ArrayRef<unsigned> choice,
                          PlannedChoice &draft) const {
  Plan &plan = draft.plan;
  built.writeDecisions(choice, plan, draft.choice);
  draft.choice = choice.vec();
  if (plan.stages == 1) {
    plan.predictedStepSeconds = built.problem.undeferredSecondsOf(choice);
    shareReshards(plan);
    predictMemory(question.graph, plan);
    if (regathers && excessBytes(plan, places, limit) > 0 &&
        regatherInEachTask(question.graph, plan))
      predictMemory(question.graph, plan);
  } else if (Error error = cutStages(question.graph, built.opSeconds(choice),
                                     limit, question.limits, plan)) {
    return error;
  }
  draft.excess = excessBytes(plan, places, limit);
  return Error::success();
}

Evaluation PlanEvaluator::evaluate(ArrayRef<unsigned> choice) {
  if (Error error = make(choice, draft)) {
    handleAllErrors(
        std::move(error), [](const NotEnoughMemory &) {},
        [&](const ErrorInfoBase &what) { reason = what.message(); });
    return {kIllegal, std::numeric_limits<int64_t>::max()};
  }
  Evaluation evaluation{draft.plan.predictedStepSeconds,
                        memoryLimit() ? memoryLimit() + draft.excess
                                      : draft.plan.predictedPeakMemoryBytes};
  tooFull |= draft.excess > 0;
  if (draft.excess <= 0 &&
      (!best || evaluation.seconds < best->plan.predictedStepSeconds)) {
    if (!best)
      best = PlannedChoice{emptyPlan(trial), {}};
    std::swap(*best, draft); // callers often ask for it next
  }
  return evaluation;
}

/// Returns whether two choices differ only in deferred decisions.
bool PlanEvaluator::isSame(ArrayRef<unsigned> a, ArrayRef<unsigned> b) const {
  for (const auto &[index, node] : enumerate(built.problem.nodes))
    if (!node.deferred && a[index] != b[index])
      return false;
  return true;
}

std::optional<Plan> PlanEvaluator::planOf(ArrayRef<unsigned> choice) {
  if (!best || !isSame(best->choice, choice)) {
    best.reset();
    evaluate(choice);
  }
  if (!best)
    return std::nullopt;
  Plan plan = std::move(best->plan);
  built.writeDecisions(choice, plan, best->choice);
  best.reset();
  return plan;
}

} // namespace autopar
