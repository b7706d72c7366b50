//===- PlanSearch.cpp - One search for the best plan ----------------------===//

#include "PlanSearch.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Plan/Regathers.h"
#include "autopar/Planning/Search/PredictStep.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Parallel.h"

using namespace llvm;

namespace autopar {

/// The problems that are held at once. The number is the same on any number of
/// cores, so that the same input gives the same plan.
constexpr size_t kAtOnce = 8;
/// The first trials, whose best plan cuts off the others.
constexpr size_t kFirst = 2;
/// At most two trials are solved at once, since a plan cuts off only those
/// after them. The two must promise similar seconds: a ratio of kAlike or more.
/// Until there is a plan, a trial that does not fit the memory is solved alone,
/// since its search is long.
constexpr size_t kSolvedAtOnce = 2;
constexpr double kAlike = 0.8;
/// A plan is a gain only if it takes less than this share of the seconds.
constexpr double kGain = 0.99;

/// Returns the seconds from which on a plan is of no use. Seconds that differ
/// only by rounding are equal.
double PlanSearch::secondsToBeat(const Trial &trial) const {
  constexpr double kEqual = 1e-9;
  if (!best)
    return kIllegal;
  return best->predictedStepSeconds *
         (trial.index < bestTrial.index ? 1 + kEqual : 1 - kEqual);
}

/// Notes a result, together with what earlier tries of the trial found.
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
  // A second try may have dropped choices that take this long.
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

/// Solves attempts in parallel. All use the best plan known before.
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

/// Looks at attempts in parallel.
void PlanSearch::lookAtAll(MutableArrayRef<Attempt> attempts) const {
  if (attempts.size() == 1)
    look(attempts.front()); // its parts use all cores
  else
    parallelFor(0, attempts.size(), [&](size_t i) { look(attempts[i]); });
}

/// Solves what fits and promises most first, after a first look at all trials,
/// since its plan cuts off others. Searches without enough memory are long and
/// come last.
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

/// Tries rough trials with wide bounds again, with more effort and two at once,
/// the best first, until two gain nothing. Returns whether one gained.
bool PlanSearch::tryThoroughly() {
  double before = best->predictedStepSeconds;
  auto isOpen = [&](const TrialBound &bound) { // by more than a little
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

/// Tries the neighbours of the best trial. If none gains, tries their
/// neighbours and the best mesh with a much shorter axis; then gives up.
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

/// Raises bounds of trials with stages by looking at possible cuts: those with
/// the best plans first, and never above the least bound of the others.
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

/// Raises one bound, to `enough` at most.
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
  // Last resorts need less memory and let steps overlap. If that matters and
  // they are few and small, they are tried beside the others, too.
  constexpr size_t kFewOps = 20000; // ops of all last resorts
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
  if (!anyPlan && settings.regathers)
    holdCopiesThatFit(graph, request, *best);
  predictStep(graph, least, *best, tried);
  if (Error error = verify(*best, graph))
    return std::move(error);
  return std::move(*best);
}

bool holdCopiesThatFit(const ModelGraph &graph, const PlanRequest &request,
                       Plan &plan) {
  StagePlaces places(plan.cluster, plan.pipeline());
  return holdCopiesThatFit(graph, plan, [&](Plan &plan) {
    predictMemory(graph, plan);
    return excessBytes(plan, places, request.limit()) <= 0;
  });
}

Expected<Plan> PlanSearch::runToFirst() {
  anyPlan = true;
  options.multiplierWork = 1e7;
  options.branchWork = 1e6;
  return run();
}

} // namespace autopar
