//===- EvaluatePlan.h - What a trial's choices really take and hold -------===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_EVALUATEPLAN_H
#define AUTOPAR_LIB_PLANNING_SEARCH_EVALUATEPLAN_H

#include "Trials.h"
#include "autopar/Planning/Search/BuildProblem.h"
#include "autopar/Planning/Search/StagePlaces.h"

namespace autopar {

/// Evaluates choices of a trial's problem by the plans that they make: cut into
/// stages, and with the memory that Partition and Schedule will make of them,
/// to which a problem's rows are close, not equal. An evaluation and a plan
/// depend on the choice alone; plans that were made are kept to save work.
class PlanEvaluator {
public:
  /// All must outlive this. `memoryLimit`: bytes per device that were asked
  /// for; 0: what the devices have.
  PlanEvaluator(const PlanQuestion &question, const PlanProblem &built,
                const Trial &trial, int64_t memoryLimit);

  /// Bytes are of devices as if all had the least memory.
  Evaluation evaluate(llvm::ArrayRef<unsigned> choice);
  /// The plan of the choice without what is deferred; nullopt: it does not fit.
  std::optional<Plan> planOf(llvm::ArrayRef<unsigned> choice);

  /// What counts as full where devices differ; 0: no limit.
  int64_t memoryLimit() const {
    return asked ? asked : trial.cluster.memoryBytes();
  }
  /// Whether some of the evaluated choices exceed the memory.
  bool isTooFull() const { return tooFull; }
  /// Why some of the evaluated choices have no stages; "": all have.
  const std::string &complaint() const { return reason; }

private:
  /// A plan with the decisions of a choice, and by how many bytes it exceeds
  /// the memory.
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
  int64_t asked;
  StagePlaces places;
  PlannedChoice draft;               // the last one, to write what differs
  std::optional<PlannedChoice> best; // of those that fit
  bool tooFull = false;
  std::string reason;
};

/// A plan of the trial without decisions.
Plan emptyPlan(const Trial &trial);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_EVALUATEPLAN_H
