//===- TrialProblem.h - The best plan of one trial --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_TRIALPROBLEM_H
#define AUTOPAR_LIB_PLANNING_TRIALPROBLEM_H

#include "Trials.h"
#include "autopar/Planning/BuildProblem.h"

namespace autopar {

/// What all trials of a search have in common; must outlive them.
struct TrialSettings {
  const ModelGraph &graph;
  const PlanRequest &request;
  const SolverOptions &options;
  std::shared_ptr<SharedWork> shared;
};

/// What solving a trial's problem came to.
struct SolvedTrial {
  llvm::Expected<Plan> plan;
  double lowerBound = kIllegal; // no plan of its mesh takes less
  bool memoryBinds = false;     // with more memory it would do better
  size_t decisions = 0, pairs = 0;
};

/// What is asked of a trial and the problem that this is. Of what other trials
/// came to, all of it depends on the seconds to beat alone; each may be on a
/// thread of its own.
class TrialProblem {
public:
  /// An error where the trial has no plan that takes less than `secondsToBeat`.
  static llvm::Expected<std::unique_ptr<TrialProblem>>
  build(const TrialSettings &settings, const Trial &trial,
        double secondsToBeat);

  /// A first look at what it promises, kept as `outlook`.
  void look(double secondsToBeat) { outlook = solver->look(secondsToBeat); }
  SolvedTrial solve(double secondsToBeat);

  Solver::Outlook outlook = {};

private:
  TrialProblem(const TrialSettings &settings, const Trial &trial,
               PlanQuestion question)
      : settings(settings), trial(trial), question(std::move(question)) {}

  llvm::Error limit();
  Outcome finish(llvm::ArrayRef<unsigned> choice);
  Plan emptyPlan() const;
  llvm::Expected<Plan> solve(double secondsToBeat, double &lowerBound);
  int64_t memoryLimit() const {
    int64_t asked = settings.request.memoryLimit;
    return asked ? asked : trial.cluster.memoryBytes();
  }

  const TrialSettings &settings;
  Trial trial;
  PlanQuestion question;
  std::unique_ptr<PlanProblem> problem;
  std::unique_ptr<Solver> solver;
  std::optional<Plan> best;         // of those finished that fit
  std::vector<unsigned> bestChoice; // that `best` is of
  std::string complaint;            // of those that are none
  bool isTooFull = false;           // some of those finished did not fit
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_TRIALPROBLEM_H
