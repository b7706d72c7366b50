//===- Search.cpp - The best plan for what was asked ----------------------===//

#include "autopar/Planning/Search.h"
#include "NearestFit.h"
#include "PlanCost.h"
#include "SharedWork.h"
#include "TrialProblem.h"
#include "autopar/Planning/KeepDecisions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Parallel.h"
#include <numeric>

using namespace llvm;

namespace autopar {

namespace {

/// So many problems are held at once, however many cores there are: same input,
/// same plan.
constexpr size_t kAtOnce = 8;
/// The first ones, whose best plan cuts off the others.
constexpr size_t kFirst = 2;
/// So many are solved at once: what is found cuts off only those after them.
constexpr size_t kSolvedAtOnce = 2;

class PlanSearch {
public:
  PlanSearch(const ModelGraph &graph, PlanRequest request, raw_ostream *trace)
      : graph(graph), request(std::move(request)), trace(trace) {}
  PlanSearch(const PlanSearch &) = delete; // `settings` refers to it
  Expected<Plan> run();
  /// Any plan, with little work.
  Expected<Plan> runToFirst();

  std::vector<SearchTrial> tried; // in the order of the search

private:
  void tryAll(ArrayRef<Trial> trials);
  void climb();
  double secondsToBeat(const Trial &trial) const;
  void tellOf(const Trial &trial, const Problem &problem) const;
  void keepBest(const Trial &trial, SolvedTrial solved);

  const ModelGraph &graph;
  PlanRequest request;
  raw_ostream *trace; // null: none
  std::optional<Plan> best;
  Trial bestTrial;
  /// No plan on the meshes that were tried takes less.
  double leastBound = kIllegal;
  std::optional<NotEnoughMemory> shortage; // the least of all trials
  bool memoryBinds = false;                // a trial would do better with more
  SolverOptions options;
  TrialSettings settings{graph, request, options,
                         std::make_shared<SharedWork>()};
  bool anyPlan = false; // not only the best
};

} // namespace

/// From here on a plan is of no use. Sums of the same seconds in another order
/// are equally good.
double PlanSearch::secondsToBeat(const Trial &trial) const {
  constexpr double kEqual = 1e-9;
  if (!best)
    return kIllegal;
  return best->predictedStepSeconds *
         (trial.index < bestTrial.index ? 1 + kEqual : 1 - kEqual);
}

void PlanSearch::tellOf(const Trial &trial, const Problem &problem) const {
  if (trace)
    *trace << "autopar: trial " << nameOf(trial, request.cluster) << ": "
           << problem.nodes.size() << " decisions for " << graph.ops.size()
           << " ops, " << problem.edges.size() << " pairs of them\n";
}

void PlanSearch::keepBest(const Trial &trial, SolvedTrial solved) {
  Expected<Plan> &plan = solved.plan;
  leastBound = std::min(leastBound, solved.lowerBound);
  memoryBinds |= solved.memoryBinds;
  SearchTrial &noted = tried.emplace_back();
  noted.name = nameOf(trial, request.cluster);
  if (plan) {
    noted.seconds = plan->predictedStepSeconds;
    noted.lowerBoundSeconds = plan->lowerBoundSeconds;
    noted.peakMemoryBytes = plan->predictedPeakMemoryBytes;
    noted.best =
        noted.seconds < std::min(secondsToBeat(trial), solved.secondsToBeat);
  } else {
    Error error = handleErrors(plan.takeError(),
                               [&](std::unique_ptr<NotEnoughMemory> what) {
                                 if (!shortage || what->isLessThan(*shortage))
                                   shortage = *what;
                                 return Error(std::move(what));
                               });
    noted.complaint = toString(std::move(error));
  }
  if (trace)
    *trace << "autopar: trial " << toString(noted) << "\n";
  if (!noted.best)
    return;
  best = std::move(*plan);
  bestTrial = trial;
}

/// All get a first look, side by side; then what fits and promises most comes
/// first, since what is found cuts off the others.
void PlanSearch::tryAll(ArrayRef<Trial> trials) {
  std::vector<std::unique_ptr<TrialProblem>> problems(trials.size());
  std::vector<std::optional<SolvedTrial>> solved(trials.size());
  auto look = [&](size_t i) {
    double toBeat = secondsToBeat(trials[i]);
    Expected<std::unique_ptr<TrialProblem>> built =
        TrialProblem::build(settings, trials[i], toBeat);
    if (!built) {
      solved[i].emplace(SolvedTrial{built.takeError()});
      return;
    }
    problems[i] = std::move(*built);
    problems[i]->look(toBeat);
  };
  if (trials.size() == 1)
    look(0); // its parts have all cores
  else
    parallelFor(0, trials.size(), look);
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), 0);
  auto promise = [&](size_t i) {
    if (!problems[i])
      return std::pair(true, kIllegal);
    const Solver::Outlook &outlook = problems[i]->outlook();
    return std::pair(!outlook.fits, outlook.found * leastShare(trials[i]));
  };
  llvm::stable_sort(
      order, [&](size_t a, size_t b) { return promise(a) < promise(b); });
  size_t atOnce = anyPlan ? 1 : kSolvedAtOnce;
  for (ArrayRef<size_t> rest = order; !rest.empty() && !(anyPlan && best);) {
    // Where memory is short the search is long: what fits cuts that off first.
    ArrayRef<size_t> next = rest.take_front(atOnce).take_while([&](size_t i) {
      return promise(i).first == promise(rest.front()).first;
    });
    rest = rest.drop_front(next.size());
    for (size_t i : next)
      if (problems[i])
        tellOf(trials[i], problems[i]->problem());
    parallelFor(0, next.size(), [&](size_t n) {
      size_t i = next[n];
      if (problems[i])
        solved[i].emplace(problems[i]->solve(secondsToBeat(trials[i])));
      problems[i].reset();
    });
    for (size_t i : next) {
      keepBest(trials[i], std::move(*solved[i]));
      solved[i].reset();
    }
  }
  for (std::optional<SolvedTrial> &left : solved)
    if (left)
      consumeError(left->plan.takeError());
}

/// Tries the best trial's neighbours, and where none gains the neighbours of
/// those; ends after two such steps in vain.
void PlanSearch::climb() {
  constexpr unsigned kInVain = 2; // steps in a row
  constexpr double kGain = 0.99;
  std::vector<Trial> from{bestTrial};
  for (unsigned inVain = 0; inVain < kInVain;) {
    double seconds = best->predictedStepSeconds;
    std::vector<Trial> near;
    StringSet<> known;
    for (const SearchTrial &before : tried)
      known.insert(before.name);
    for (const Trial &center : from)
      for (Trial &trial : neighbours(graph, request, center))
        if (trial.leastSeconds < secondsToBeat(trial) &&
            known.insert(nameOf(trial, request.cluster)).second)
          near.push_back(std::move(trial));
    for (ArrayRef<Trial> rest = near; !rest.empty();) {
      ArrayRef<Trial> wave = rest.take_front(kAtOnce);
      rest = rest.drop_front(wave.size());
      tryAll(wave);
    }
    bool gains = best->predictedStepSeconds < kGain * seconds;
    inVain = gains ? 0 : inVain + 1;
    from = gains ? std::vector<Trial>{bestTrial} : std::move(near);
  }
}

Expected<Plan> PlanSearch::run() {
  Expected<std::vector<Trial>> trials = trialsOf(graph, request);
  if (!trials)
    return trials.takeError();
  // Last resorts fit into less memory, and let steps overlap. Where that counts
  // and they are few and small, they are tried all the same.
  constexpr size_t kFewOps = 20000; // of all of them
  size_t lastResorts = count_if(
      *trials, [](const Trial &trial) { return trial.candidate.lastResort; });
  bool isFew = lastResorts * graph.ops.size() <= kFewOps;
  bool overlap = request.objective == Objective::Throughput;
  ArrayRef<Trial> rest = *trials;
  while (!rest.empty() && !(anyPlan && best)) {
    std::vector<Trial> wave;
    bool isSpared =
        anyPlan ? !tried.empty() : best && !(isFew && (memoryBinds || overlap));
    size_t atOnce = tried.empty() ? kFirst : kAtOnce;
    for (; !rest.empty() && wave.size() < atOnce; rest = rest.drop_front()) {
      const Trial &trial = rest.front();
      bool last = trial.candidate.lastResort;
      if (!wave.empty() && last != wave.front().candidate.lastResort)
        break;
      if (!(last && isSpared) && trial.leastSeconds < secondsToBeat(trial))
        wave.push_back(trial);
    }
    tryAll(wave);
  }
  if (best && !anyPlan)
    climb();
  if (!best && shortage)
    return make_error<NotEnoughMemory>(*shortage);
  if (!best)
    return createStringError(tried.front().complaint);
  countCollectives(graph, *best);
  best->lowerBoundSeconds = std::min(leastBound, best->predictedStepSeconds);
  best->gap = best->predictedStepSeconds > 0
                  ? 1 - best->lowerBoundSeconds / best->predictedStepSeconds
                  : 0;
  if (Error error = verify(*best, graph))
    return std::move(error);
  return *best;
}

Expected<Plan> PlanSearch::runToFirst() {
  anyPlan = true;
  options.multiplierWork = 1e7;
  options.branchWork = 1e6;
  return run();
}

Expected<Plan> searchPlan(const ModelGraph &graph, const PlanRequest &request,
                          raw_ostream *trace, std::vector<SearchTrial> *tried) {
  Expected<PlanRequest> asked = askAsBefore(request, graph);
  if (!asked)
    return asked.takeError();
  PlanSearch search(graph, std::move(*asked), trace);
  Expected<Plan> plan = search.run();
  if (tried)
    *tried = std::move(search.tried);
  if (plan) {
    identify(*plan, graph);
    return plan;
  }
  return handleErrors(plan.takeError(), [&](const NotEnoughMemory &shortage) {
    auto quick = [&](const PlanRequest &other) {
      return PlanSearch(graph, other, nullptr).runToFirst();
    };
    return request.from ? keptDoNotFit(request, shortage.limitBytes, quick)
                        : nearestFit(request, shortage, quick);
  });
}

} // namespace autopar
