//===- Search.cpp - The best plan for what was asked ----------------------===//

#include "autopar/Planning/Search.h"
#include "MeshCandidates.h"
#include "Stages.h"
#include "Units.h"
#include "autopar/Planning/BuildProblem.h"
#include "autopar/Planning/PredictMemory.h"
#include "autopar/Planning/Solver.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>
#include <future>
#include <thread>

using namespace llvm;

namespace autopar {

namespace {

/// One mesh with a number of stages and micro-batches.
struct Trial {
  const MeshCandidate &candidate;
  int64_t microBatches = 1;
  unsigned index = 0; // of equally good plans the lowest's is kept
};

/// What is asked of a trial, and the problem that this is.
struct TrialProblem {
  PlanQuestion question;
  std::unique_ptr<PlanProblem> problem;
};
using ExpectedProblem = Expected<std::unique_ptr<TrialProblem>>;

class PlanSearch {
public:
  PlanSearch(const ModelGraph &graph, PlanRequest request, raw_ostream *trace)
      : graph(graph), request(std::move(request)), trace(trace) {}
  Expected<Plan> run();

private:
  Expected<std::vector<OpDemand>> demandsOfAxes(const Trial &trial) const;
  Mesh meshOf(const Trial &trial) const;
  Expected<std::vector<Trial>>
  trialsOf(ArrayRef<MeshCandidate> candidates) const;
  ExpectedProblem build(const Trial &trial) const;
  Expected<Plan> solve(const Trial &trial, ExpectedProblem built);
  Expected<Plan> fitMemory(const Trial &trial, const PlanQuestion &question,
                           PlanProblem &problem);
  Expected<Plan> solveOnce(const Trial &trial, const PlanQuestion &question,
                           PlanProblem &problem, int64_t memory);
  double secondsToBeat(const Trial &trial) const;
  void keepBest(const Trial &trial, Expected<Plan> plan);
  raw_ostream &line(const Trial &trial) const;
  Expected<std::vector<MeshCandidate>> candidatesToTry();

  int64_t memoryLimit() const {
    return request.memoryLimit ? request.memoryLimit
                               : request.cluster.memoryBytes();
  }

  const ModelGraph &graph;
  PlanRequest request;
  raw_ostream *trace; // null: none
  std::optional<Plan> best;
  unsigned bestIndex = 0; // of its trial
  /// No plan on the meshes that were tried takes less.
  double leastBound = kIllegal;
  std::string firstComplaint;
};

} // namespace

/// The time axis first; an axis of one device where a stage has no other.
Mesh PlanSearch::meshOf(const Trial &trial) const {
  SmallVector<MeshAxis> axes;
  if (trial.microBatches > 1)
    axes.push_back({kTimeAxis.str(), trial.microBatches});
  append_range(axes, trial.candidate.axes);
  if (trial.candidate.axes.empty())
    axes.push_back({"x", 1});
  return Mesh(axes);
}

/// What each axis demands of each op. An axis whose name nobody can follow is
/// an error.
Expected<std::vector<OpDemand>>
PlanSearch::demandsOfAxes(const Trial &trial) const {
  std::vector<OpDemand> demands(graph.ops.size());
  auto append = [&](std::vector<AxisDemand> ofAxis) {
    for (auto [demand, item] : zip_equal(demands, ofAxis))
      demand.push_back(std::move(item));
  };
  if (trial.microBatches > 1) {
    Expected<std::vector<AxisDemand>> time =
        microBatchDemands(graph, trial.microBatches);
    if (!time)
      return time.takeError();
    append(std::move(*time));
  }
  for (const auto &[axis, name] :
       zip_equal(trial.candidate.axes, trial.candidate.names)) {
    std::vector<AxisDemand> ofAxis = demandsOf(graph, name, axis.size);
    if (name != StrategyName::Auto && axis.size > 1 && !anyFollows(ofAxis))
      return cannotFollow(graph, name, axis.size);
    if (trial.candidate.strict && name != StrategyName::Auto)
      for (AxisDemand &demand : ofAxis)
        if (demand.empty())
          demand.push_back(Choice());
    append(std::move(ofAxis));
  }
  if (trial.candidate.axes.empty())
    append(std::vector<AxisDemand>(graph.ops.size()));
  return demands;
}

/// Depends on nothing that other trials came to.
ExpectedProblem PlanSearch::build(const Trial &trial) const {
  Expected<std::vector<OpDemand>> demands = demandsOfAxes(trial);
  if (!demands)
    return demands.takeError();
  int64_t stages = trial.candidate.stages;
  auto built =
      std::make_unique<TrialProblem>(TrialProblem{{graph,
                                                   request.cluster,
                                                   meshOf(trial),
                                                   std::move(*demands),
                                                   memoryLimit() * stages,
                                                   {}},
                                                  nullptr});
  if (!request.constraints.empty()) {
    Expected<Limits> limits =
        resolve(request.constraints, graph, built->question.mesh, stages);
    if (!limits)
      return limits.takeError();
    built->question.limits = std::move(*limits);
  }
  Expected<std::unique_ptr<PlanProblem>> problem =
      PlanProblem::build(built->question);
  if (!problem)
    return problem.takeError();
  built->problem = std::move(*problem);
  return std::move(built);
}

Expected<Plan> PlanSearch::solve(const Trial &trial, ExpectedProblem built) {
  if (!built)
    return built.takeError();
  PlanProblem &problem = *(*built)->problem;
  if (trace)
    line(trial) << problem.problem.nodes.size() << " decisions for "
                << graph.ops.size() << " ops, " << problem.problem.edges.size()
                << " pairs of them\n";
  return fitMemory(trial, (*built)->question, problem);
}

/// Rows of memory are close to what Partition and Schedule will make of a plan,
/// not equal to it: they get a lower limit where the plan takes more, and a
/// higher one where they leave nothing.
Expected<Plan> PlanSearch::fitMemory(const Trial &trial,
                                     const PlanQuestion &question,
                                     PlanProblem &problem) {
  constexpr unsigned kTries = 4;
  constexpr double kHighest = 1.3, kMargin = 0.99;
  // Shares of the limit: too little for any plan, and for plans that fit.
  double low = 0, high = kHighest, share = 1;
  int64_t least = 0;
  for (unsigned attempt = 0; attempt < kTries; ++attempt) {
    int64_t limit = int64_t(share * double(memoryLimit()));
    problem.problem.memoryLimit = limit * trial.candidate.stages;
    Expected<Plan> plan = solveOnce(trial, question, problem, limit);
    if (plan && plan->predictedStepSeconds >= secondsToBeat(trial))
      return plan; // whether it fits does not matter any more
    if (plan) {
      int64_t rowBytes = plan->predictedPeakMemoryBytes;
      predictMemory(graph, *plan);
      int64_t peak = plan->predictedPeakMemoryBytes;
      if (!memoryLimit() || peak <= memoryLimit())
        return plan;
      least = least ? std::min(least, peak) : peak;
      high = share;
      // Rows may hold far less than they are allowed to. Of several stages they
      // say little: the cut decides what each of them holds.
      if (trial.candidate.stages == 1)
        share = std::min(share, double(rowBytes) / double(memoryLimit()));
      share = low > 0 ? (low + high) / 2
                      : share * kMargin * double(memoryLimit()) / double(peak);
      continue;
    }
    Error error = plan.takeError();
    if (!error.isA<NotEnoughMemory>())
      return std::move(error);
    int64_t found = 0;
    handleAllErrors(std::move(error), [&](const NotEnoughMemory &what) {
      found = what.leastBytes / trial.candidate.stages;
    });
    if (least == 0 && found > int64_t(kHighest * double(memoryLimit())))
      return make_error<NotEnoughMemory>(memoryLimit(), found);
    low = share;
    share = high == kHighest ? kHighest : (low + high) / 2;
  }
  return make_error<NotEnoughMemory>(memoryLimit(), least);
}

/// Says into how many micro-batches the batch was cut when no plan was found.
static Error withMicroBatches(Error error, int64_t microBatches) {
  if (microBatches == 1 || error.isA<NotEnoughMemory>())
    return error;
  return createStringError(toString(std::move(error)) + " with " +
                           Twine(microBatches) + " micro-batches");
}

/// `memory`: of one device; `problem` has its own limit.
Expected<Plan> PlanSearch::solveOnce(const Trial &trial,
                                     const PlanQuestion &question,
                                     PlanProblem &problem, int64_t memory) {
  int64_t stages = trial.candidate.stages;
  SolverOptions options;
  if (stages == 1)
    options.cutoff = secondsToBeat(trial);
  Expected<Solution> solution = autopar::solve(problem.problem, options);
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
                              question.limits, plan))
    return std::move(error);
  // Each micro-batch passes all stages, the slowest of which is no faster than
  // their mean.
  double once = plan.lowerBoundSeconds / plan.microBatches;
  plan.lowerBoundSeconds = once * (1 + double(plan.microBatches - 1) / stages);
  leastBound = std::min(leastBound, plan.lowerBoundSeconds);
  return plan;
}

/// The trace's line of a trial up to what came of it.
raw_ostream &PlanSearch::line(const Trial &trial) const {
  *trace << "autopar: trial " << meshText(meshOf(trial));
  if (trial.candidate.stages > 1)
    *trace << ", " << trial.candidate.stages << " stages";
  if (trial.candidate.strict)
    *trace << ", others replicated";
  return *trace << ": ";
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
  if (!plan) {
    std::string complaint = toString(plan.takeError());
    if (trace)
      line(trial) << "none: " << complaint << "\n";
    if (firstComplaint.empty())
      firstComplaint = std::move(complaint);
    return;
  }
  bool better = plan->predictedStepSeconds < secondsToBeat(trial);
  if (trace)
    line(trial) << secondsText(plan->predictedStepSeconds) << ", at least "
                << secondsText(plan->lowerBoundSeconds) << ", "
                << bytesText(double(plan->predictedPeakMemoryBytes))
                << " a device" << (better ? ", best so far\n" : "\n");
  if (!better)
    return;
  best = std::move(*plan);
  bestIndex = trial.index;
}

/// The meshes that the request, its constraints included, allows.
Expected<std::vector<MeshCandidate>> PlanSearch::candidatesToTry() {
  Expected<SmallVector<MeshAxis>> pinned = pinnedMesh(request.constraints);
  if (!pinned)
    return pinned.takeError();
  if (request.mesh.empty())
    request.mesh = std::move(*pinned);
  Expected<std::vector<MeshCandidate>> candidates =
      meshCandidates(request, batchSize(graph));
  if (!candidates)
    return candidates;
  erase_if(*candidates, [&](const MeshCandidate &candidate) {
    return !allowsMesh(request.constraints, candidate.axes, candidate.stages);
  });
  if (!candidates->empty() && !graph.states.empty()) {
    erase_if(*candidates, [](const MeshCandidate &candidate) {
      return candidate.stages > 1;
    });
    if (candidates->empty())
      return createStringError(
          "a model with states ('" +
          graph.values[graph.states.front().argument].name +
          "') runs in one stage: leave layer out of --strategy and --mesh");
  }
  if (candidates->empty())
    return createStringError("constraints file " + request.constraints.file +
                             ": no mesh is left: each is forbidden, or --mesh "
                             "and the constraints differ");
  return candidates;
}

Expected<std::vector<Trial>>
PlanSearch::trialsOf(ArrayRef<MeshCandidate> candidates) const {
  std::vector<Trial> trials;
  for (const MeshCandidate &candidate : candidates) {
    if (candidate.stages == 1) {
      if (request.microBatches > 1)
        return createStringError("--micro-batches needs stages: add layer to "
                                 "--strategy or to --mesh");
      trials.push_back({candidate, 1, unsigned(trials.size())});
      continue;
    }
    Expected<SmallVector<int64_t>> counts =
        microBatchCounts(graph, candidate.stages, request.microBatches);
    if (!counts)
      return counts.takeError();
    for (int64_t count : *counts)
      trials.push_back({candidate, count, unsigned(trials.size())});
  }
  return std::move(trials);
}

/// The most even meshes first: what they find is near the best, so that it cuts
/// off the others soon. Returns the order of the trials.
static std::vector<const Trial *> evenestFirst(ArrayRef<Trial> trials) {
  auto unevenness = [](const Trial *trial) {
    int64_t longest = 1;
    for (const MeshAxis &axis : trial->candidate.axes)
      longest = std::max(longest, axis.size);
    return std::pair(trial->candidate.stages, longest);
  };
  std::vector<const Trial *> order;
  for (const Trial &trial : trials)
    order.push_back(&trial);
  llvm::stable_sort(order, [&](const Trial *a, const Trial *b) {
    return unevenness(a) < unevenness(b);
  });
  return order;
}

/// One trial after the other, since each is cut off by the best so far; the
/// next ones' problems are built meanwhile.
Expected<Plan> PlanSearch::run() {
  Expected<std::vector<MeshCandidate>> candidates = candidatesToTry();
  if (!candidates)
    return candidates.takeError();
  Expected<std::vector<Trial>> trials = trialsOf(*candidates);
  if (!trials)
    return trials.takeError();
  std::vector<const Trial *> order = evenestFirst(*trials);
  size_t ahead = std::max(1u, std::thread::hardware_concurrency());
  std::deque<std::future<ExpectedProblem>> building;
  size_t begun = 0;
  for (const Trial *trial : order) {
    for (; begun < order.size() && building.size() < ahead; ++begun)
      building.push_back(std::async(
          order.size() > 1 ? std::launch::async : std::launch::deferred,
          [this, next = order[begun]] { return build(*next); }));
    ExpectedProblem built = building.front().get();
    building.pop_front();
    keepBest(*trial, solve(*trial, std::move(built)));
  }
  if (!best)
    return createStringError(firstComplaint);
  best->lowerBoundSeconds = std::min(leastBound, best->predictedStepSeconds);
  best->gap = best->predictedStepSeconds > 0
                  ? 1 - best->lowerBoundSeconds / best->predictedStepSeconds
                  : 0;
  if (Error error = verify(*best, graph))
    return std::move(error);
  return *best;
}

Expected<Plan> searchPlan(const ModelGraph &graph, const PlanRequest &request,
                          raw_ostream *trace) {
  return PlanSearch(graph, request, trace).run();
}

} // namespace autopar
