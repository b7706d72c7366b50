//===- TrialProblem.h - The best plan of one trial --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_TRIALPROBLEM_H
#define AUTOPAR_LIB_PLANNING_SEARCH_TRIALPROBLEM_H

#include "EvaluatePlan.h"
#include "autopar/Planning/Search/BuildProblem.h"

namespace autopar {

/// The settings that all trials of a search share.
struct TrialSettings {
  const ModelGraph &graph;
  const PlanRequest &request;
  const SolverOptions &options;
  std::shared_ptr<SharedWork> shared;
  bool regathers; // plans may make copies again (Regathers.h)
};

/// The result of solving the problem of a trial.
struct SolvedTrial {
  llvm::Expected<Plan> plan;
  double lowerBound = kIllegal;    // no plan of the mesh takes less
  bool memoryBinds = false;        // more memory would allow a better plan
  double secondsToBeat = kIllegal; // only faster plans are of use
  bool isRough = false;            // Solver::isRough
};

/// The problem of a trial and its solver. A problem depends on other trials
/// only through the seconds to beat, so each may be solved on a thread of its
/// own.
class TrialProblem {
public:
  /// Returns an error if the trial has no plan that takes less than
  /// `secondsToBeat`. Settings and trial must outlive the problem.
  static llvm::Expected<std::unique_ptr<TrialProblem>>
  build(const TrialSettings &settings, const Trial &trial,
        double secondsToBeat);

  /// Estimates quickly how good a plan may be and keeps the answer as
  /// outlook().
  void look(double secondsToBeat) { seen = solver->look(secondsToBeat); }
  const Solver::Outlook &outlook() const { return seen; }
  SolvedTrial solve(double secondsToBeat);
  /// Returns a lower bound on the seconds of all plans with these stages,
  /// wherever they are cut. It is `secondsToBeat` at most.
  double leastOfStages(double secondsToBeat) const;
  /// Returns the problem that is solved.
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
  double lowerBound = kIllegal; // of the solved problem
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_TRIALPROBLEM_H
