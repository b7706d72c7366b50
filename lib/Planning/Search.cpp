//===- Search.cpp - The best plan for what was asked ----------------------===//

#include "autopar/Planning/Search.h"
#include "MeshCandidates.h"
#include "autopar/Planning/BuildProblem.h"
#include "autopar/Planning/Solver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

static std::string strategyText(const PlanRequest &request) {
  return join(map_range(request.strategies,
                        [](StrategyName s) { return stringifyStrategy(s); }),
              ",");
}

/// What each axis demands of each op. An axis whose name nobody can follow is
/// an error.
static Expected<std::vector<OpDemand>>
demandsOfAxes(const ModelGraph &graph, const MeshCandidate &candidate) {
  std::vector<OpDemand> demands(graph.ops.size());
  for (const auto &[axis, name] : zip_equal(candidate.axes, candidate.names)) {
    std::vector<AxisDemand> ofAxis = demandsOf(graph, name, axis.size);
    if (name != StrategyName::Auto && axis.size > 1 && !anyFollows(ofAxis))
      return cannotFollow(graph, name, axis.size);
    for (auto [demand, item] : zip_equal(demands, ofAxis))
      demand.push_back(std::move(item));
  }
  return demands;
}

static Expected<Plan> planOnMesh(const ModelGraph &graph,
                                 const PlanRequest &request,
                                 const MeshCandidate &candidate) {
  Expected<std::vector<OpDemand>> demands = demandsOfAxes(graph, candidate);
  if (!demands)
    return demands.takeError();
  int64_t limit =
      request.memoryLimit ? request.memoryLimit : request.cluster.memoryBytes();
  PlanQuestion question{graph, request.cluster, Mesh(candidate.axes),
                        std::move(*demands), limit};
  Expected<std::unique_ptr<PlanProblem>> problem = PlanProblem::build(question);
  if (!problem)
    return problem.takeError();
  Expected<Solution> solution = solve((*problem)->problem);
  if (!solution)
    return solution.takeError();
  Plan plan;
  plan.strategy = strategyText(request);
  (*problem)->writePlan(*solution, plan);
  return plan;
}

Expected<Plan> searchPlan(const ModelGraph &graph, const PlanRequest &request) {
  Expected<std::vector<MeshCandidate>> candidates = meshCandidates(request);
  if (!candidates)
    return candidates.takeError();
  std::optional<Plan> best;
  Error failure = Error::success();
  for (const MeshCandidate &candidate : *candidates) {
    Expected<Plan> plan = planOnMesh(graph, request, candidate);
    if (!plan) {
      consumeError(std::move(failure));
      failure = plan.takeError();
      continue;
    }
    if (!best || plan->predictedStepSeconds < best->predictedStepSeconds)
      best = std::move(*plan);
  }
  if (!best)
    return std::move(failure);
  consumeError(std::move(failure));
  if (Error error = verify(*best, graph))
    return std::move(error);
  return *best;
}

} // namespace autopar
