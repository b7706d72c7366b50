//===- Search.cpp - The best plan for what was asked ----------------------===//

#include "autopar/Planning/Search/Search.h"
#include "NearestFit.h"
#include "TrialProblem.h"
#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "autopar/Planning/Search/PredictStep.h"
#include "autopar/Planning/Search/SharedWork.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Parallel.h"

using namespace llvm;

namespace autopar {

namespace {

/// So many problems are held at once, however many cores there are: same input,
/// same plan.
constexpr size_t kAtOnce = 8;
/// The first ones, whose best plan cuts off the others.
constexpr size_t kFirst = 2;
/// At most so many are solved at once: what is found cuts off only those after
/// them. So do those that promise less than this share of the first. The search
/// of what does not fit the memory is long: the first is solved alone.
constexpr size_t kSolvedAtOnce = 2;
constexpr double kAlike = 0.8;
/// Of the seconds; more is no gain.
constexpr double kGain = 0.99;

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
  /// A trial on its way to a plan.
  struct Attempt {
    const Trial *trial = nullptr;
    std::optional<size_t> before; // in `tried`, where it was tried roughly
    std::unique_ptr<TrialProblem> problem; // until it is solved
    std::optional<SolvedTrial> solved;
    // At the first look:
    bool fits = false;
    double promised = kIllegal; // seconds
  };

  /// No plan of the trial that would be the best takes less.
  struct TrialBound {
    Trial trial;
    double seconds = 0;
    double found = kIllegal; // by the best plan of the trial; kIllegal: none
    bool isRough = false;    // more effort may find a better plan
  };

  void look(Attempt &attempt) const;
  void lookAtAll(MutableArrayRef<Attempt> attempts) const;
  void solve(MutableArrayRef<Attempt> attempts);
  void tryAll(ArrayRef<Trial> trials);
  bool tryThoroughly();
  void climb();
  void raiseBounds();
  void raise(TrialBound &bound, double enough) const;
  double secondsToBeat(const Trial &trial) const;
  void note(const Attempt &attempt, SolvedTrial solved);

  const ModelGraph &graph;
  PlanRequest request;
  raw_ostream *trace; // null: none
  std::optional<Plan> best;
  Trial bestTrial;
  std::vector<TrialBound> bounds;          // of those tried
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

/// What was found before counts as well.
void PlanSearch::note(const Attempt &attempt, SolvedTrial solved) {
  const Trial &trial = *attempt.trial;
  if (!attempt.before) {
    bounds.push_back({trial});
    tried.emplace_back().name = nameOf(trial, request.cluster);
  }
  size_t at = attempt.before.value_or(tried.size() - 1);
  TrialBound &bound = bounds[at];
  SearchTrial &noted = tried[at];
  Expected<Plan> &plan = solved.plan;
  // A trial that was tried again may lack choices that reach this.
  double lacking = attempt.before ? solved.secondsToBeat : kIllegal;
  bound.seconds = std::max(bound.seconds, solved.lowerBound);
  bound.isRough = solved.isRough;
  memoryBinds |= solved.memoryBinds;
  double seconds = plan ? plan->predictedStepSeconds : kIllegal;
  bool isBetter = seconds < std::min(bound.found, lacking);
  bool isBest = isBetter &&
                seconds < std::min(secondsToBeat(trial), solved.secondsToBeat);
  if (isBest) {
    for (SearchTrial &other : tried)
      other.best = false;
    noted.best = true;
  }
  if (isBetter) {
    bound.found = noted.seconds = seconds;
    noted.peakMemoryBytes = plan->predictedPeakMemoryBytes;
  } else if (!plan) {
    Error error = handleErrors(plan.takeError(),
                               [&](std::unique_ptr<NotEnoughMemory> what) {
                                 if (!shortage || what->isLessThan(*shortage))
                                   shortage = *what;
                                 return Error(std::move(what));
                               });
    noted.complaint = toString(std::move(error));
  }
  if (bound.found < kIllegal) {
    noted.complaint.clear();
    double proved = std::min(solved.lowerBound, lacking);
    noted.lowerBoundSeconds =
        std::min(std::max(noted.lowerBoundSeconds, proved), bound.found);
  }
  if (trace)
    *trace << "autopar: trial " << toString(noted) << "\n";
  if (!isBest)
    return;
  best = std::move(*plan);
  bestTrial = trial;
}

void PlanSearch::look(Attempt &attempt) const {
  const Trial &trial = *attempt.trial;
  double toBeat = secondsToBeat(trial);
  Expected<std::unique_ptr<TrialProblem>> built =
      TrialProblem::build(settings, trial, toBeat);
  if (!built) {
    attempt.solved.emplace(SolvedTrial{built.takeError()});
    attempt.solved->secondsToBeat = toBeat;
    return;
  }
  attempt.problem = std::move(*built);
  attempt.problem->look(toBeat);
  const Solver::Outlook &outlook = attempt.problem->outlook();
  attempt.fits = outlook.fits;
  attempt.promised = outlook.found * leastShare(trial);
}

/// Side by side, with what is known before.
void PlanSearch::solve(MutableArrayRef<Attempt> attempts) {
  for (const Attempt &attempt : attempts)
    if (trace && attempt.problem)
      *trace << "autopar: trial " << nameOf(*attempt.trial, request.cluster)
             << ": " << attempt.problem->problem().nodes.size()
             << " decisions for " << graph.ops.size() << " ops, "
             << attempt.problem->problem().edges.size() << " pairs of them\n";
  parallelFor(0, attempts.size(), [&](size_t i) {
    Attempt &attempt = attempts[i];
    if (attempt.problem)
      attempt.solved.emplace(
          attempt.problem->solve(secondsToBeat(*attempt.trial)));
    attempt.problem.reset();
  });
  for (Attempt &attempt : attempts) {
    note(attempt, std::move(*attempt.solved));
    attempt.solved.reset();
  }
}

/// Side by side.
void PlanSearch::lookAtAll(MutableArrayRef<Attempt> attempts) const {
  if (attempts.size() == 1)
    look(attempts.front()); // its parts have all cores
  else
    parallelFor(0, attempts.size(), [&](size_t i) { look(attempts[i]); });
}

/// All get a first look; then what fits and promises most comes first, since
/// what is found cuts off the others. Where memory is short the search is long:
/// it waits for all that fits.
void PlanSearch::tryAll(ArrayRef<Trial> trials) {
  std::vector<Attempt> attempts(trials.size());
  for (auto [attempt, trial] : zip_equal(attempts, trials))
    attempt.trial = &trial;
  lookAtAll(attempts);
  llvm::stable_sort(attempts, [](const Attempt &a, const Attempt &b) {
    return std::pair(!a.fits, a.promised) < std::pair(!b.fits, b.promised);
  });
  size_t atOnce = anyPlan ? 1 : kSolvedAtOnce;
  for (MutableArrayRef<Attempt> rest = attempts;
       !rest.empty() && !(anyPlan && best);) {
    size_t count = 1;
    while (count < std::min(atOnce, rest.size()) &&
           rest[count].fits == rest.front().fits &&
           (rest.front().fits || best) &&
           rest.front().promised >= kAlike * rest[count].promised)
      ++count;
    solve(rest.take_front(count));
    rest = rest.drop_front(count);
  }
  for (Attempt &left : attempts)
    if (left.solved)
      consumeError(left.solved->plan.takeError());
}

/// Where tables were too large and much is open. Those that have the best plans
/// come first, two at once, until two stay open and gain nothing. Whether any
/// gained.
bool PlanSearch::tryThoroughly() {
  double before = best->predictedStepSeconds;
  auto isOpen = [&](const TrialBound &bound) { // to more than a little
    return bound.seconds < best->predictedStepSeconds / (1 + kWorthThorough);
  };
  options.effort = Effort::Thorough;
  for (bool gains = true; gains;) {
    std::vector<size_t> open;
    for (const auto &[index, bound] : enumerate(bounds))
      if (bound.isRough && isOpen(bound))
        open.push_back(index);
    llvm::stable_sort(open, [&](size_t a, size_t b) {
      return std::pair(bounds[a].found, bounds[a].seconds) <
             std::pair(bounds[b].found, bounds[b].seconds);
    });
    open.resize(std::min(kSolvedAtOnce, open.size()));
    std::vector<Attempt> attempts(open.size());
    for (auto [attempt, index] : zip_equal(attempts, open)) {
      attempt.trial = &bounds[index].trial;
      attempt.before = index;
    }
    double seconds = best->predictedStepSeconds;
    lookAtAll(attempts);
    solve(attempts);
    gains = best->predictedStepSeconds < kGain * seconds ||
            any_of(open, [&](size_t index) { return !isOpen(bounds[index]); });
  }
  options.effort = Effort::Quick;
  return best->predictedStepSeconds < kGain * before;
}

/// Tries the best trial's neighbours; where none gains the neighbours of those
/// and the best mesh with an axis much shorter. Ends after two steps in vain.
void PlanSearch::climb() {
  constexpr unsigned kInVain = 2; // steps in a row
  std::vector<Trial> from{bestTrial};
  for (unsigned inVain = 0; inVain < kInVain;) {
    double seconds = best->predictedStepSeconds;
    std::vector<Trial> near;
    StringSet<> known;
    for (const SearchTrial &before : tried)
      known.insert(before.name);
    for (Trial &trial :
         neighbours(graph, request, from, inVain ? &bestTrial : nullptr))
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

/// Of trials in stages by where they can be cut: no further than to what others
/// leave open, first those that have the best plans.
void PlanSearch::raiseBounds() {
  std::vector<TrialBound *> open;
  double enough = best->predictedStepSeconds;
  for (TrialBound &bound : bounds)
    if (bound.trial.candidate.stages > 1)
      open.push_back(&bound);
    else
      enough = std::min(enough, bound.seconds);
  llvm::stable_sort(open, [](const TrialBound *a, const TrialBound *b) {
    return a->found < b->found;
  });
  for (ArrayRef<TrialBound *> rest = open; !rest.empty();) {
    ArrayRef<TrialBound *> wave =
        rest.take_front(std::min(kSolvedAtOnce, rest.size()));
    parallelFor(0, wave.size(), [&](size_t i) { raise(*wave[i], enough); });
    for (const TrialBound *bound : wave)
      enough = std::min(enough, bound->seconds);
    rest = rest.drop_front(wave.size());
  }
}

/// To `enough` at most.
void PlanSearch::raise(TrialBound &bound, double enough) const {
  if (bound.seconds >= enough)
    return;
  Expected<std::unique_ptr<TrialProblem>> built =
      TrialProblem::build(settings, bound.trial, enough);
  if (built)
    bound.seconds = std::max(bound.seconds, (*built)->leastOfStages(enough));
  else
    bound.seconds = enough;
  consumeError(built.takeError());
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
    do
      climb();
    while (tryThoroughly());
  if (!best && shortage)
    return make_error<NotEnoughMemory>(*shortage);
  if (!best)
    return createStringError(tried.front().complaint);
  if (!anyPlan)
    raiseBounds();
  double least = best->predictedStepSeconds;
  for (const TrialBound &bound : bounds)
    least = std::min(least, bound.seconds);
  predictStep(graph, least, *best, tried);
  if (Error error = verify(*best, graph))
    return std::move(error);
  return std::move(*best);
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
    if (request.stored) // it is searched again without
      return make_error<NotEnoughMemory>(shortage);
    auto quick = [&](const PlanRequest &other) {
      return PlanSearch(graph, other, nullptr).runToFirst();
    };
    return request.from ? keptDoNotFit(graph, request, shortage, quick)
                        : nearestFit(graph, request, shortage, quick);
  });
}

} // namespace autopar
