//===- AskAsBefore.cpp - A request that follows an old plan ---------------===//

#include "autopar/Planning/Constraints/AskAsBefore.h"
#include "autopar/Planning/Constraints/CheckConstraints.h"
#include "autopar/Planning/Constraints/KeepDecisions.h"
#include "autopar/Planning/Constraints/ResolveConstraints.h"
#include "autopar/Planning/Constraints/StoredTensors.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "autopar/Planning/Model/BatchSize.h"
#include "autopar/Planning/Plan/IdentifyPlan.h"
#include "autopar/Planning/Plan/MatchPlan.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Returns an error if fewer than half of the ops are also in the old plan.
static Error checkModel(const OldPlan &old, const ModelGraph &graph) {
  std::vector<const PlannedOp *> found = matchPlan(old.plan, graph).ops;
  size_t same = count_if(zip_equal(found, graph.ops), [](auto pair) {
    auto [planned, op] = pair;
    return planned &&
           (planned->rule.empty() ||
            kindOfRule(planned->rule) == kindOfRule(ruleWithoutSizes(op)));
  });
  if (same > 0 && 2 * same >= std::min(graph.ops.size(), old.plan.ops.size()))
    return Error::success();
  return createStringError(
      "--from " + old.file + ": a plan of another model (" + old.plan.model +
      "): of its " + Twine(old.plan.ops.size()) + " ops " + Twine(same) +
      " are among the " + Twine(graph.ops.size()) + " of " + graph.model +
      ", by name and kind; leave --from out");
}

/// Asks for the old strategies, but `auto` for those that no op of this graph
/// can follow.
static void askForStrategies(PlanRequest &request, const ModelGraph &graph,
                             ArrayRef<StrategyName> strategies) {
  const Plan &old = request.from->plan;
  SmallVector<MeshAxis> axes = deviceAxes(old.mesh);
  bool sizesKnown = isNamed(axes, strategies) &&
                    old.cluster.deviceCount() == request.cluster.deviceCount();
  request.strategies.assign(strategies.begin(), strategies.end());
  const MeshAxis *axis = axes.begin();
  for (StrategyName &name : request.strategies) {
    if (name == StrategyName::Layer)
      continue;
    int64_t parts = sizesKnown ? (axis++)->size : 2;
    if (name != StrategyName::Auto && parts > 1 &&
        !anyFollows(demandsOf(graph, name, parts)))
      name = StrategyName::Auto;
  }
}

/// Asks for the old mesh if the cluster has the same number of devices, else
/// for the names of its axes. Axes that the search chose are searched again.
static void askForMesh(PlanRequest &request) {
  const Plan &old = request.from->plan;
  SmallVector<MeshAxis> axes = writtenMesh(old, request.strategies);
  if (old.cluster.deviceCount() == request.cluster.deviceCount())
    request.mesh = std::move(axes);
  else if (!isSearched(axes, request.strategies))
    for (MeshAxis &axis : axes)
      request.axes.push_back(std::move(axis.name));
}

Expected<PlanRequest> askAsBefore(const PlanRequest &given,
                                  const ModelGraph &graph) {
  PlanRequest request = given;
  if (request.stored)
    if (Error error = request.stored->askForMesh(request))
      return std::move(error);
  if (!request.from)
    return request;
  const Plan &old = request.from->plan;
  if (Error error = checkModel(*request.from, graph))
    return std::move(error);
  if (!request.objective)
    request.objective = old.objective;
  Constraint &kept = request.constraints.list.emplace_back();
  kept.kind = Constraint::Kept;
  kept.name = request.from->file;
  Expected<SmallVector<StrategyName>> strategies =
      parseStrategies(old.strategy);
  bool free = request.strategies == ArrayRef(StrategyName::Auto);
  if (!strategies)
    consumeError(strategies.takeError()); // the plan was edited by hand
  else if (free)
    askForStrategies(request, graph, *strategies);
  else if (request.strategies != *strategies)
    return request; // the request asks for other axes
  Expected<SmallVector<MeshAxis>> pinned = pinnedMesh(request.constraints);
  if (!pinned)
    return pinned.takeError();
  if (!request.mesh.empty() || !pinned->empty())
    return request;
  askForMesh(request);
  if (request.microBatches == 0 && old.stages > 1 && !request.mesh.empty() &&
      batchSize(graph) % old.microBatches == 0)
    request.microBatches = old.microBatches;
  return request;
}

Expected<Limits> demandedLimits(const PlanRequest &request,
                                const ModelGraph &graph, const Mesh &mesh,
                                int64_t stages) {
  Expected<Limits> limits = resolve(request.constraints, graph, mesh, stages);
  if (limits && request.stored)
    request.stored->limit(request.constraints, graph, mesh, stages, *limits);
  return limits;
}

} // namespace autopar
