//===- Search.cpp - The best plan for what was asked ----------------------===//

#include "autopar/Planning/Search.h"
#include "NearestFit.h"
#include "PlanCost.h"
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
  explicit TrialProblem(PlanQuestion question)
      : question(std::move(question)) {}

  PlanQuestion question;
  std::unique_ptr<PlanProblem> problem;
  std::unique_ptr<Solver> solver;
  Solver::Outlook outlook = {};
  std::optional<Plan> best;         // of those finished that fit
  std::vector<unsigned> bestChoice; // that `best` is of
  std::string complaint;            // of those that are none
  bool isTooFull = false;           // some of those finished did not fit
};
/// So many problems are held at once, however many cores there are: same input,
/// same plan.
constexpr size_t kAtOnce = 8;
/// The first ones, whose best plan cuts off the others.
constexpr size_t kFirst = 2;

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
  Outcome finish(const Trial &trial, TrialProblem &built,
                 ArrayRef<unsigned> choice) const;
  Expected<Plan> solve(const Trial &trial, TrialProblem &built);
  void tryAll(ArrayRef<Trial> trials);
  double secondsToBeat(const Trial &trial) const;
  void keepBest(const Trial &trial, Expected<Plan> plan);

  int64_t memoryLimitOf(const Trial &trial) const {
    return request.memoryLimit ? request.memoryLimit
                               : trial.cluster.memoryBytes();
  }

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
  std::shared_ptr<SharedWork> shared = std::make_shared<SharedWork>();
  bool anyPlan = false; // not only the best
};

} // namespace

/// Of what other trials came to it depends on the best alone.
ExpectedProblem PlanSearch::build(const Trial &trial) const {
  Expected<std::vector<OpDemand>> demands = demandsOf(graph, trial);
  if (!demands)
    return demands.takeError();
  int64_t stages = trial.candidate.stages;
  StagePlaces places(trial.cluster, trial.pipeline());
  int64_t memoryLimit = places.memoryLimits(request.memoryLimit);
  auto built = std::make_unique<TrialProblem>(PlanQuestion{graph,
                                                           trial.cluster,
                                                           meshOf(trial),
                                                           std::move(*demands),
                                                           memoryLimit,
                                                           {},
                                                           kIllegal,
                                                           trial.pipeline(),
                                                           shared});
  if (!request.constraints.empty()) {
    Expected<Limits> limits =
        resolve(request.constraints, graph, built->question.mesh, stages);
    if (!limits)
      return limits.takeError();
    keepDecisions(request, graph, built->question.mesh, stages, *limits);
    built->question.limits = std::move(*limits);
  }
  built->question.cutoff = secondsToBeat(trial) / leastShare(trial);
  Expected<std::unique_ptr<PlanProblem>> problem =
      PlanProblem::build(built->question);
  if (!problem)
    return problem.takeError();
  built->problem = std::move(*problem);
  auto finished = [this, trial, it = built.get()](ArrayRef<unsigned> choice) {
    return finish(trial, *it, choice);
  };
  built->solver = std::make_unique<Solver>(
      built->problem->problem, options,
      Outcomes{finished, leastShare(trial), memoryLimitOf(trial)});
  built->outlook = built->solver->look(secondsToBeat(trial));
  return std::move(built);
}

Expected<Plan> PlanSearch::solve(const Trial &trial, ExpectedProblem built) {
  if (!built)
    return built.takeError();
  const Problem &problem = (*built)->problem->problem;
  if (trace)
    *trace << "autopar: trial " << nameOf(trial, request.cluster) << ": "
           << problem.nodes.size() << " decisions for " << graph.ops.size()
           << " ops, " << problem.edges.size() << " pairs of them\n";
  Expected<Plan> plan = solve(trial, **built);
  const Solver::Outlook &outlook = (*built)->outlook;
  memoryBinds |=
      (outlook.found < kIllegal && !outlook.fits) || (*built)->isTooFull;
  return plan;
}

/// Cut into stages, and with the memory that Partition and Schedule will make
/// of it: a problem's rows are close to that, not equal.
Outcome PlanSearch::finish(const Trial &trial, TrialProblem &built,
                           ArrayRef<unsigned> choice) const {
  const PlanProblem &problem = *built.problem;
  Plan plan;
  plan.stages = trial.candidate.stages;
  plan.microBatches = trial.microBatches;
  plan.objective = trial.objective;
  problem.writeDecisions(choice, plan);
  if (plan.stages == 1) {
    plan.predictedStepSeconds = problem.problem.undeferredSecondsOf(choice);
    predictMemory(graph, plan);
  } else if (Error error =
                 cutStages(graph, problem.opSeconds(choice),
                           request.memoryLimit, built.question.limits, plan)) {
    handleAllErrors(
        std::move(error), [](const NotEnoughMemory &) {},
        [&](const ErrorInfoBase &what) { built.complaint = what.message(); });
    return {kIllegal, std::numeric_limits<int64_t>::max()};
  }
  StagePlaces places(trial.cluster, trial.pipeline());
  int64_t excess = excessBytes(plan, places, request.memoryLimit);
  // Of devices that differ, as if all had the least.
  Outcome outcome{plan.predictedStepSeconds,
                  memoryLimitOf(trial) ? memoryLimitOf(trial) + excess
                                       : plan.predictedPeakMemoryBytes};
  built.isTooFull |= excess > 0;
  if (excess <= 0 &&
      (!built.best || outcome.seconds < built.best->predictedStepSeconds)) {
    built.best = std::move(plan);
    built.bestChoice = choice.vec();
  }
  return outcome;
}

/// Whether all but what is deferred is chosen so.
static bool isSamePlan(const Problem &problem, ArrayRef<unsigned> a,
                       ArrayRef<unsigned> b) {
  for (const auto &[index, node] : enumerate(problem.nodes))
    if (!node.deferred && a[index] != b[index])
      return false;
  return true;
}

/// Says into how many micro-batches the batch was cut when no plan was found.
static Error withMicroBatches(Error error, int64_t microBatches) {
  if (microBatches == 1 || error.isA<NotEnoughMemory>() ||
      error.isA<NothingCheaper>())
    return error;
  return createStringError(toString(std::move(error)) + " with " +
                           Twine(microBatches) + " micro-batches");
}

/// A plan that is no better than what is known may lack its stages.
Expected<Plan> PlanSearch::solve(const Trial &trial, TrialProblem &built) {
  Expected<Solution> solution = built.solver->solve(secondsToBeat(trial));
  if (!solution)
    return handleErrors(
        withMicroBatches(solution.takeError(), trial.microBatches),
        [&](std::unique_ptr<NothingCheaper> what) {
          leastBound = std::min(leastBound, what->lowerBound);
          return Error(std::move(what));
        },
        [&](std::unique_ptr<NotEnoughMemory> what) {
          // Nothing was cut into stages, which may have a reason of its own.
          return what->leastBytes > 0 || built.complaint.empty()
                     ? Error(std::move(what))
                     : createStringError(built.complaint);
        });
  Plan plan;
  plan.strategy = stringifyStrategies(request.strategies);
  built.problem->writePlan(*solution, plan);
  plan.stages = trial.candidate.stages;
  plan.microBatches = trial.microBatches;
  plan.objective = trial.objective;
  plan.schedule = plan.stages == 1 ? "none" : "gpipe";
  plan.lowerBoundSeconds = solution->lowerBound;
  leastBound = std::min(leastBound, plan.lowerBoundSeconds);
  if (!built.best) {
    plan.predictedStepSeconds *= leastShare(trial);
    plan.predictedPeakMemoryBytes /= plan.stages;
    if (plan.predictedStepSeconds < secondsToBeat(trial)) // it has no stages
      return make_error<NothingCheaper>(solution->lowerBound);
    return plan;
  }
  if (!isSamePlan(built.problem->problem, built.bestChoice, solution->choice)) {
    built.best.reset();
    finish(trial, built, solution->choice);
    if (!built.best)
      return make_error<NothingCheaper>(solution->lowerBound);
  }
  for (auto [op, finished] : zip_equal(plan.ops, built.best->ops))
    op.stage = finished.stage;
  plan.predictedStepSeconds = built.best->predictedStepSeconds;
  plan.predictedPeakMemoryBytes = built.best->predictedPeakMemoryBytes;
  plan.predictedStageMemoryBytes = built.best->predictedStageMemoryBytes;
  return plan;
}

/// From here on a plan is of no use. Sums of the same seconds in another order
/// are equally good.
double PlanSearch::secondsToBeat(const Trial &trial) const {
  constexpr double kEqual = 1e-9;
  if (!best)
    return kIllegal;
  return best->predictedStepSeconds *
         (trial.index < bestTrial.index ? 1 + kEqual : 1 - kEqual);
}

void PlanSearch::keepBest(const Trial &trial, Expected<Plan> plan) {
  SearchTrial &noted = tried.emplace_back();
  noted.name = nameOf(trial, request.cluster);
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
  bestTrial = trial;
}

/// All get a first look, side by side; then what fits and promises most comes
/// first, since what is found cuts off the others.
void PlanSearch::tryAll(ArrayRef<Trial> trials) {
  std::vector<std::optional<ExpectedProblem>> built(trials.size());
  auto buildOne = [&](size_t i) { built[i].emplace(build(trials[i])); };
  if (trials.size() == 1)
    buildOne(0); // its parts have all cores
  else
    parallelFor(0, trials.size(), buildOne);
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), 0);
  auto promise = [&](size_t i) {
    if (!*built[i])
      return std::pair(true, kIllegal);
    const Solver::Outlook &outlook = (**built[i])->outlook;
    return std::pair(!outlook.fits, outlook.found * leastShare(trials[i]));
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
  // A gain says that a further step may bring one.
  constexpr double kGain = 0.99;
  for (bool better = best && !anyPlan; better;) {
    double seconds = best->predictedStepSeconds;
    std::vector<Trial> near = neighbours(graph, request, bestTrial);
    erase_if(near, [&](const Trial &trial) {
      return trial.leastSeconds >= secondsToBeat(trial) ||
             any_of(tried, [&](const SearchTrial &before) {
               return before.name == nameOf(trial, request.cluster);
             });
    });
    tryAll(near);
    better = best->predictedStepSeconds < kGain * seconds;
  }
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
