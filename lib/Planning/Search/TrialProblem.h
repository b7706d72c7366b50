//===- TrialProblem.h - The best plan of one trial --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_TRIALPROBLEM_H
#define AUTOPAR_LIB_PLANNING_SEARCH_TRIALPROBLEM_H

#include "EvaluatePlan.h"
#include "autopar/Planning/Search/BuildProblem.h"

namespace autopar {

/// What all trials of a search have in common.
struct TrialSettings {
  const ModelGraph &graph;
  const PlanRequest &request;
  const SolverOptions &options;
  std::shared_ptr<SharedWork> shared;
};

/// What solving a trial's problem came to.
struct SolvedTrial {
  llvm::Expected<Plan> plan;
  double lowerBound = kIllegal;    // no plan of its mesh takes less
  bool memoryBinds = false;        // with more memory it would do better
  double secondsToBeat = kIllegal; // a plan that takes as much is of no use
  bool isRough = false;            // Solver::isRough
};

/// What is asked of a trial and the problem that this is. Of other trials it
/// knows the seconds to beat alone, so that each may be on a thread of its own.
class TrialProblem {
public:
  /// An error where the trial has no plan that takes less than `secondsToBeat`.
  /// Settings and trial must outlive the problem.
  static llvm::Expected<std::unique_ptr<TrialProblem>>
  build(const TrialSettings &settings, const Trial &trial,
        double secondsToBeat);

  /// A first look at what it promises, kept as outlook().
  void look(double secondsToBeat) { seen = solver->look(secondsToBeat); }
  const Solver::Outlook &outlook() const { return seen; }
  SolvedTrial solve(double secondsToBeat);
  /// No plan of several stages takes less, wherever they are cut. A bound of
  /// all that has been found, `secondsToBeat` at most.
  double leastOfStages(double secondsToBeat) const;
  /// What is solved.
  const Problem &problem() const { return built->problem; }

private:
  TrialProblem(const TrialSettings &settings, const Trial &trial,
               PlanQuestion question)
      : settings(settings), trial(trial), question(std::move(question)) {}

  llvm::Error limit();
  llvm::Error explain(llvm::Error error);
  llvm::Expected<Plan> solvePlan(double secondsToBeat);
  Plan estimatedPlan(const Solution &solution) const;

  const TrialSettings &settings;
  const Trial &trial;
  PlanQuestion question;
  std::unique_ptr<PlanProblem> built;
  std::unique_ptr<PlanEvaluator> evaluator;
  std::unique_ptr<Solver> solver;
  Solver::Outlook seen = {};
  double lowerBound = kIllegal; // of what was solved
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_TRIALPROBLEM_H
