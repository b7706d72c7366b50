//===- PlanSearch.h - One search for the best plan --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_PLANSEARCH_H
#define AUTOPAR_LIB_PLANNING_SEARCH_PLANSEARCH_H

#include "TrialProblem.h"
#include "autopar/Planning/Search/SearchTrial.h"
#include "autopar/Planning/Search/SharedWork.h"

namespace autopar {

/// Tries the meshes that the request allows, one after the other.
class PlanSearch {
public:
  /// `regathers` allows plans to make copies again if holding them exceeds the
  /// memory (Regathers.h). Only training steps gain by it.
  PlanSearch(const ModelGraph &graph, PlanRequest request,
             llvm::raw_ostream *trace, bool regathers,
             std::shared_ptr<SharedWork> shared)
      : graph(graph), request(std::move(request)), trace(trace),
        settings{this->graph, this->request, options, std::move(shared),
                 regathers} {}
  PlanSearch(const PlanSearch &) = delete; // `settings` refers to it
  llvm::Expected<Plan> run();
  /// Returns any plan, with little work.
  llvm::Expected<Plan> runToFirst();

  /// Returns whether more memory would allow a faster plan, or a plan at all.
  bool isShortOfMemory() const { return memoryBinds || shortage; }

  std::vector<SearchTrial> tried; // in the order of the search

private:
  /// A trial on its way to a plan.
  struct Attempt {
    const Trial *trial = nullptr;
    std::optional<size_t> before; // its first try in `tried`, which was rough
    std::unique_ptr<TrialProblem> problem; // null once it is solved
    std::optional<SolvedTrial> solved;
    // Results of the first look:
    bool fits = false;
    double promised = kIllegal; // seconds
  };

  /// A lower bound on the plans of a trial that would be the best.
  struct TrialBound {
    Trial trial;
    double seconds = 0;
    double found = kIllegal; // by its best plan; kIllegal: none
    bool isRough = false;    // more effort may find a better plan
  };

  void look(Attempt &attempt) const;
  void lookAtAll(llvm::MutableArrayRef<Attempt> attempts) const;
  void solve(llvm::MutableArrayRef<Attempt> attempts);
  void tryAll(llvm::ArrayRef<Trial> trials);
  bool tryThoroughly();
  void climb();
  void raiseBounds();
  void raise(TrialBound &bound, double enough) const;
  double secondsToBeat(const Trial &trial) const;
  void note(const Attempt &attempt, SolvedTrial solved);

  const ModelGraph &graph;
  PlanRequest request;
  llvm::raw_ostream *trace; // null: none
  std::optional<Plan> best;
  Trial bestTrial;
  std::vector<TrialBound> bounds;          // of the tried ones
  std::optional<NotEnoughMemory> shortage; // the least of all trials
  bool memoryBinds = false;                // a trial would gain by more memory
  SolverOptions options;
  TrialSettings settings;
  bool anyPlan = false; // stop at the first plan
};

/// Lets the plan hold copies that it made again, as far as they fit the
/// request's limit. Returns whether the plan fits it.
bool holdCopiesThatFit(const ModelGraph &graph, const PlanRequest &request,
                       Plan &plan);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_PLANSEARCH_H
