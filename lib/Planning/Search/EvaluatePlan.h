//===- EvaluatePlan.h - What a trial's choices really take and hold -------===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_EVALUATEPLAN_H
#define AUTOPAR_LIB_PLANNING_SEARCH_EVALUATEPLAN_H

#include "Trials.h"
#include "autopar/Planning/Search/BuildProblem.h"
#include "autopar/Planning/Search/StagePlaces.h"

namespace autopar {

/// Evaluates choices of a trial's problem by making their plans: it cuts stages
/// and estimates the memory that its program will need, which the
/// rows of a problem only approximate. An evaluation and a plan depend on
/// nothing but the choice; plans are kept only to save work.
class PlanEvaluator {
public:
  /// The arguments must outlive this object. With `regathers`, a plan that
  /// exceeds the memory makes its copies again in each task.
  PlanEvaluator(const PlanQuestion &question, const PlanProblem &built,
                const Trial &trial, const MemoryLimit &limit, bool regathers);

  /// Returns seconds and bytes of a choice. Bytes are counted as if all devices
  /// had as little memory as the smallest.
  Evaluation evaluate(llvm::ArrayRef<unsigned> choice);
  /// Returns the plan of a choice without deferred decisions, or nullopt if it
  /// does not fit.
  std::optional<Plan> planOf(llvm::ArrayRef<unsigned> choice);

  /// Returns the limit of the smallest device; 0 means no limit.
  int64_t memoryLimit() const { return limit.of(trial.cluster.memoryBytes()); }
  /// Returns whether an evaluated choice exceeded the memory.
  bool isTooFull() const { return tooFull; }
  /// Returns why an evaluated choice could not be cut into stages, or "".
  const std::string &complaint() const { return reason; }

private:
  /// A choice, the plan with its decisions, and the bytes by which the plan
  /// exceeds the memory.
  struct PlannedChoice {
    Plan plan;
    std::vector<unsigned> choice;
    int64_t excess = 0;
  };
  llvm::Error make(llvm::ArrayRef<unsigned> choice, PlannedChoice &draft) const;
  bool isSame(llvm::ArrayRef<unsigned> a, llvm::ArrayRef<unsigned> b) const;

  const PlanQuestion &question;
  const PlanProblem &built;
  const Trial &trial;
  MemoryLimit limit;
  StagePlaces places;
  bool regathers;
  PlannedChoice draft; // the last one; only differences are written
  std::optional<PlannedChoice> best; // of those that fit
  bool tooFull = false;
  std::string reason;
};

/// Returns a plan for the trial that has no decisions yet.
Plan emptyPlan(const Trial &trial);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_EVALUATEPLAN_H
