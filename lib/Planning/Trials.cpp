//===- Trials.cpp - Meshes, stages and micro-batches to try ---------------===//

#include "Trials.h"
#include "Stages.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

Mesh meshOf(const Trial &trial) {
  SmallVector<MeshAxis> axes;
  if (trial.microBatches > 1)
    axes.push_back({kTimeAxis.str(), trial.microBatches});
  append_range(axes, trial.candidate.axes);
  if (trial.candidate.axes.empty())
    axes.push_back({"x", 1});
  return Mesh(axes);
}

Expected<std::vector<OpDemand>> demandsOf(const ModelGraph &graph,
                                          const Trial &trial) {
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

/// The meshes that the request, its constraints included, allows.
static Expected<std::vector<MeshCandidate>>
candidatesOf(const ModelGraph &graph, PlanRequest request) {
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

/// Meshes of one long axis come after those of several alike.
static std::pair<int64_t, int64_t> unevenness(const Trial &trial) {
  int64_t longest = 1;
  for (const MeshAxis &axis : trial.candidate.axes)
    longest = std::max(longest, axis.size);
  return {trial.candidate.stages, longest};
}

Expected<std::vector<Trial>> trialsOf(const ModelGraph &graph,
                                      const PlanRequest &request) {
  Expected<std::vector<MeshCandidate>> candidates =
      candidatesOf(graph, request);
  if (!candidates)
    return candidates.takeError();
  std::vector<Trial> trials;
  for (const MeshCandidate &candidate : *candidates) {
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
  llvm::stable_sort(trials, [](const Trial &a, const Trial &b) {
    return unevenness(a) < unevenness(b);
  });
  return std::move(trials);
}

} // namespace autopar
