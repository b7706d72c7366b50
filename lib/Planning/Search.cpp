//===- Search.cpp - The best plan for what was asked ----------------------===//

#include "autopar/Planning/Search.h"
#include "NearestFit.h"
#include "Stages.h"
#include "Trials.h"
#include "Units.h"
#include "autopar/Planning/BuildProblem.h"
#include "autopar/Planning/KeepDecisions.h"
#include "autopar/Planning/PredictMemory.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <numeric>

using namespace llvm;

namespace autopar {

namespace {

/// What is asked of a trial, the problem that this is, and what a first look at
/// it promises.
struct TrialProblem {
  PlanQuestion question;
  std::unique_ptr<PlanProblem> problem;
  std::unique_ptr<Solver> solver;
  Solver::Outlook outlook;
};
/// So many problems are held at once, however many cores there are: same input,
/// same plan.
constexpr size_t kAtOnce = 8;

using ExpectedProblem = Expected<std::unique_ptr<TrialProblem>>;

class PlanSearch {
public:
  PlanSearch(const ModelGraph &graph, PlanRequest request, raw_ostream *trace)
      : graph(graph), request(std::move(request)), trace(trace) {}
  Expected<Plan> run();
  /// Any plan, with little work.
  Expected<Plan> runToFirst();

  std::vector<SearchTrial> tried; // in the order of the search

private:
  ExpectedProblem build(const Trial &trial) const;
  Expected<Plan> solve(const Trial &trial, ExpectedProblem built);
  Expected<Plan> fitMemory(const Trial &trial, TrialProblem &built);
  Expected<Plan> solveOnce(const Trial &trial, TrialProblem &built,
                           int64_t memory);
  void tryAll(ArrayRef<Trial> trials);
  double secondsToBeat(const Trial &trial) const;
  double cutoffOf(const Trial &trial) const {
    // What stages take depends on where they are cut.
    return trial.candidate.stages == 1 ? secondsToBeat(trial) : kIllegal;
  }
  void keepBest(const Trial &trial, Expected<Plan> plan);
  std::string nameOf(const Trial &trial) const;

  int64_t memoryLimitOf(const Trial &trial) const {
    return request.memoryLimit ? request.memoryLimit
                               : trial.cluster.memoryBytes();
  }

  const ModelGraph &graph;
  PlanRequest request;
  raw_ostream *trace; // null: none
  std::optional<Plan> best;
  unsigned bestIndex = 0; // of its trial
  /// No plan on the meshes that were tried takes less.
  double leastBound = kIllegal;
  std::optional<NotEnoughMemory> shortage; // the least of all trials
  SolverOptions options;
  bool anyPlan = false; // not only the best
};

} // namespace

/// Of what other trials came to it depends on the best alone.
ExpectedProblem PlanSearch::build(const Trial &trial) const {
  Expected<std::vector<OpDemand>> demands = demandsOf(graph, trial);
  if (!demands)
    return demands.takeError();
  int64_t stages = trial.candidate.stages;
  auto built = std::make_unique<TrialProblem>(
      TrialProblem{{graph,
                    trial.cluster,
                    meshOf(trial),
                    std::move(*demands),
                    memoryLimitOf(trial) * stages,
                    {}},
                   nullptr,
                   nullptr,
                   {}});
  if (!request.constraints.empty()) {
    Expected<Limits> limits =
        resolve(request.constraints, graph, built->question.mesh, stages);
    if (!limits)
      return limits.takeError();
    keepDecisions(request, graph, built->question.mesh, stages, *limits);
    built->question.limits = std::move(*limits);
  }
  Expected<std::unique_ptr<PlanProblem>> problem =
      PlanProblem::build(built->question);
  if (!problem)
    return problem.takeError();
  built->problem = std::move(*problem);
  built->solver = std::make_unique<Solver>(built->problem->problem, options);
  built->outlook = built->solver->look(cutoffOf(trial));
  return std::move(built);
}

Expected<Plan> PlanSearch::solve(const Trial &trial, ExpectedProblem built) {
  if (!built)
    return built.takeError();
  const Problem &problem = (*built)->problem->problem;
  if (trace)
    *trace << "autopar: trial " << nameOf(trial) << ": " << problem.nodes.size()
           << " decisions for " << graph.ops.size() << " ops, "
           << problem.edges.size() << " pairs of them\n";
  return fitMemory(trial, **built);
}

/// Rows of memory are close to what Partition and Schedule will make of a plan,
/// not equal to it: they get a lower limit where the plan takes more, and a
/// higher one where they leave nothing.
Expected<Plan> PlanSearch::fitMemory(const Trial &trial, TrialProblem &built) {
  constexpr unsigned kTries = 4;
  constexpr double kHighest = 1.3, kMargin = 0.99;
  // Shares of the limit: too little for any plan, and for plans that fit.
  double low = 0, high = kHighest, share = 1;
  int64_t least = 0, leastRows = 0;
  for (unsigned attempt = 0; attempt < kTries; ++attempt) {
    int64_t limit = int64_t(share * double(memoryLimitOf(trial)));
    built.problem->problem.memoryLimit = limit * trial.candidate.stages;
    Expected<Plan> plan = solveOnce(trial, built, limit);
    if (plan && plan->predictedStepSeconds >= secondsToBeat(trial))
      return plan; // whether it fits does not matter any more
    if (plan) {
      int64_t rowBytes = plan->predictedPeakMemoryBytes;
      predictMemory(graph, *plan);
      int64_t peak = plan->predictedPeakMemoryBytes;
      if (!memoryLimitOf(trial) || peak <= memoryLimitOf(trial))
        return plan;
      least = least ? std::min(least, peak) : peak;
      high = share;
      // Rows may hold far less than they are allowed to. Of several stages they
      // say little: the cut decides what each of them holds.
      if (trial.candidate.stages == 1)
        share =
            std::min(share, double(rowBytes) / double(memoryLimitOf(trial)));
      share = low > 0 ? (low + high) / 2
                      : share * kMargin * double(memoryLimitOf(trial)) /
                            double(peak);
      continue;
    }
    Error error = plan.takeError();
    if (!error.isA<NotEnoughMemory>())
      return std::move(error);
    int64_t found = 0;
    handleAllErrors(std::move(error), [&](const NotEnoughMemory &what) {
      found = what.leastBytes / trial.candidate.stages;
    });
    leastRows = found;
    if (least == 0 && found > int64_t(kHighest * double(memoryLimitOf(trial))))
      return make_error<NotEnoughMemory>(memoryLimitOf(trial), found);
    low = share;
    share = high == kHighest ? kHighest : (low + high) / 2;
  }
  return make_error<NotEnoughMemory>(memoryLimitOf(trial),
                                     least ? least : leastRows);
}

/// Says into how many micro-batches the batch was cut when no plan was found.
static Error withMicroBatches(Error error, int64_t microBatches) {
  if (microBatches == 1 || error.isA<NotEnoughMemory>())
    return error;
  return createStringError(toString(std::move(error)) + " with " +
                           Twine(microBatches) + " micro-batches");
}

/// `memory`: of one device; the problem has its own limit.
Expected<Plan> PlanSearch::solveOnce(const Trial &trial, TrialProblem &built,
                                     int64_t memory) {
  int64_t stages = trial.candidate.stages;
  PlanProblem &problem = *built.problem;
  Expected<Solution> solution = built.solver->solve(cutoffOf(trial));
  if (!solution)
    return withMicroBatches(solution.takeError(), trial.microBatches);
  Plan plan;
  plan.strategy = stringifyStrategies(request.strategies);
  problem.writePlan(*solution, plan);
  plan.stages = stages;
  plan.microBatches = trial.microBatches;
  if (stages == 1) {
    leastBound = std::min(leastBound, plan.lowerBoundSeconds);
    return plan;
  }
  plan.schedule = "gpipe";
  if (Error error = cutStages(graph, problem.opSeconds(*solution), memory,
                              built.question.limits, plan))
    return std::move(error);
  // Each micro-batch passes all stages, the slowest of which is no faster than
  // their mean.
  double once = plan.lowerBoundSeconds / plan.microBatches;
  plan.lowerBoundSeconds = once * (1 + double(plan.microBatches - 1) / stages);
  leastBound = std::min(leastBound, plan.lowerBoundSeconds);
  return plan;
}

/// `x=4, y=2, 3 stages`
std::string PlanSearch::nameOf(const Trial &trial) const {
  std::string name = meshText(meshOf(trial));
  if (trial.candidate.stages > 1)
    name += ", " + std::to_string(trial.candidate.stages) + " stages";
  if (trial.cluster.deviceCount() < request.cluster.deviceCount())
    name += " of " + StringRef(describe(trial.cluster)).split(", ").first.str();
  return trial.candidate.strict ? name + ", others replicated" : name;
}

/// From here on a plan is of no use. Sums of the same seconds in another order
/// are equally good.
double PlanSearch::secondsToBeat(const Trial &trial) const {
  constexpr double kEqual = 1e-9;
  if (!best)
    return kIllegal;
  return best->predictedStepSeconds *
         (trial.index < bestIndex ? 1 + kEqual : 1 - kEqual);
}

void PlanSearch::keepBest(const Trial &trial, Expected<Plan> plan) {
  SearchTrial &noted = tried.emplace_back();
  noted.name = nameOf(trial);
  if (plan) {
    noted.seconds = plan->predictedStepSeconds;
    noted.lowerBoundSeconds = plan->lowerBoundSeconds;
    noted.peakMemoryBytes = plan->predictedPeakMemoryBytes;
    noted.best = noted.seconds < secondsToBeat(trial);
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
  bestIndex = trial.index;
}

/// All get a first look, side by side; then what promises most comes first,
/// since what is found cuts off the others.
void PlanSearch::tryAll(ArrayRef<Trial> trials) {
  std::vector<std::optional<ExpectedProblem>> built(trials.size());
  parallelFor(0, trials.size(),
              [&](size_t i) { built[i].emplace(build(trials[i])); });
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), 0);
  auto promise = [&](size_t i) {
    return *built[i] ? (**built[i])->outlook.found : kIllegal;
  };
  llvm::stable_sort(
      order, [&](size_t a, size_t b) { return promise(a) < promise(b); });
  for (size_t i : order) {
    if (anyPlan && best) {
      consumeError(built[i]->takeError());
      continue;
    }
    keepBest(trials[i], solve(trials[i], std::move(*built[i])));
    built[i].reset();
  }
}

Expected<Plan> PlanSearch::run() {
  Expected<std::vector<Trial>> trials = trialsOf(graph, request);
  if (!trials)
    return trials.takeError();
  // One stage of the whole cluster comes first, in the order of the trials; of
  // the others what promises most, last resorts at the end.
  auto others = llvm::find_if(*trials, [&](const Trial &trial) {
    return trial.candidate.stages > 1 ||
           trial.cluster.deviceCount() < request.cluster.deviceCount();
  });
  std::vector<double> least(trials->size());
  for (auto [seconds, trial] : zip_equal(least, *trials))
    seconds = leastSeconds(graph, trial);
  std::vector<size_t> order(trials->size());
  std::iota(order.begin(), order.end(), 0);
  auto promise = [&](size_t i) {
    return std::pair((*trials)[i].candidate.lastResort, least[i]);
  };
  std::stable_sort(order.begin() + (others - trials->begin()), order.end(),
                   [&](size_t a, size_t b) { return promise(a) < promise(b); });
  ArrayRef<size_t> rest = order;
  while (!rest.empty() && !(anyPlan && best)) {
    std::vector<Trial> wave;
    for (; !rest.empty() && wave.size() < kAtOnce; rest = rest.drop_front()) {
      const Trial &trial = (*trials)[rest.front()];
      bool last = trial.candidate.lastResort;
      if (!wave.empty() && last != wave.front().candidate.lastResort)
        break;
      bool spared = last && (best || (anyPlan && !tried.empty()));
      if (!spared && least[rest.front()] < secondsToBeat(trial))
        wave.push_back(trial);
    }
    tryAll(wave);
  }
  if (!best && shortage)
    return make_error<NotEnoughMemory>(*shortage);
  if (!best)
    return createStringError(tried.front().complaint);
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
