//===- Trials.cpp - Meshes, stages and micro-batches to try ---------------===//

#include "Trials.h"
#include "Stages.h"
#include "autopar/Cost/Roofline.h"
#include "autopar/Planning/Constraints/CheckConstraints.h"
#include "autopar/Planning/Constraints/MicroBatches.h"
#include "autopar/Planning/Model/BatchSize.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/MeshText.h"
#include "autopar/Planning/Search/SharedWork.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Planning/Solver/Problem.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

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

std::string nameOf(const Trial &trial, const Cluster &whole) {
  std::string name = meshText(meshOf(trial));
  if (trial.candidate.stages > 1)
    name += ", " + std::to_string(trial.candidate.stages) + " stages";
  if (trial.cluster.deviceCount() < whole.deviceCount())
    name += " of " + StringRef(describe(trial.cluster)).split(", ").first.str();
  return trial.candidate.strict ? name + ", others replicated" : name;
}

static Expected<std::vector<OpDemand>> demandsOf(const ModelGraph &graph,
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

Expected<const OpDemands &> demandsOf(const ModelGraph &graph,
                                      const Trial &trial, SharedWork &shared) {
  std::string names = std::to_string(trial.microBatches);
  if (trial.candidate.strict)
    names += ", others replicated";
  for (const auto &[axis, name] :
       zip_equal(trial.candidate.axes, trial.candidate.names)) {
    names += ", " + stringifyStrategy(name).str();
    if (name != StrategyName::Auto) // `auto` demands nothing
      names += "=" + std::to_string(axis.size);
  }
  return shared.demands(graph, names, [&] { return demandsOf(graph, trial); });
}

/// Returns the meshes that the request and its constraints allow.
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
  if (request.mesh.empty())
    if (Error error =
            checkForbiddenAxes(request.constraints, namesInSearch(*candidates)))
      return std::move(error);
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

/// Returns whether the search may choose meshes.
static bool isMeshSearched(const PlanRequest &request) {
  return request.strategies == ArrayRef(StrategyName::Auto) &&
         request.mesh.empty() &&
         cantFail(pinnedMesh(request.constraints)).empty();
}

/// Returns parts of the cluster that may be as fast as all of it: nodes of one
/// kind, which wait for no slower device; and, if the fewest devices are asked
/// for, fewer nodes, and fewer devices of one node.
static std::vector<Cluster> partsOf(const PlanRequest &request) {
  std::vector<Cluster> parts;
  int64_t first = 0; // the first device of the group
  auto add = [&](int64_t devices) {
    Cluster &part = parts.emplace_back(request.cluster.part(first, devices));
    part.nodes.front().partShare = 0; // no other part works
  };
  for (const NodeGroup &group : request.cluster.nodes) {
    int64_t count = group.count, devices = group.devices;
    if (request.cluster.nodes.size() > 1)
      add(count * devices);
    while (request.fewestDevices && count * devices > 1) {
      int64_t &fewer = count > 1 ? count : devices;
      fewer /= smallestFactor(fewer);
      add(count * devices);
    }
    first += group.count * group.devices;
  }
  return parts;
}

/// Returns whether every stage gets devices of one kind, so that no device
/// waits for slower ones. The cluster must have several kinds of nodes.
static bool evensOut(const Cluster &cluster, int64_t stages) {
  int64_t devices = cluster.deviceCount() / stages;
  return cluster.nodes.size() > 1 &&
         all_of(cluster.nodes, [&](const NodeGroup &group) {
           return group.count * group.devices % devices == 0;
         });
}

/// Adds the trials of one cluster or part of a cluster.
static Error addTrials(const ModelGraph &graph, const PlanRequest &request,
                       std::vector<Trial> &trials) {
  Expected<std::vector<MeshCandidate>> candidates =
      candidatesOf(graph, request);
  if (!candidates)
    return candidates.takeError();
  bool anyStages = any_of(*candidates, [](const MeshCandidate &candidate) {
    return candidate.stages > 1;
  });
  if (request.microBatches > 1 && !anyStages)
    return createStringError("--micro-batches needs stages: add layer to "
                             "--strategy or to --mesh");
  Objective objective = request.objective.value_or(Objective::Latency);
  for (MeshCandidate &candidate : *candidates) {
    candidate.lastResort &= !evensOut(request.cluster, candidate.stages);
    if (candidate.stages == 1) {
      if (request.microBatches <= 1)
        trials.push_back({request.cluster, candidate, 1, objective});
      continue;
    }
    Expected<SmallVector<int64_t>> counts =
        microBatchCounts(graph, candidate.stages, request.microBatches);
    if (!counts)
      return counts.takeError();
    for (int64_t count : *counts)
      trials.push_back({request.cluster, candidate, count, objective});
  }
  return Error::success();
}

/// Sorts meshes by their longest axis. Meshes that split the batch and those
/// that are free to do so take turns.
static void sortEvenFirst(std::vector<Trial> &trials) {
  auto longest = [](const Trial &trial) {
    int64_t size = 1;
    for (const MeshAxis &axis : trial.candidate.axes)
      size = std::max(size, axis.size);
    return size;
  };
  llvm::stable_sort(trials, [&](const Trial &a, const Trial &b) {
    return longest(a) < longest(b);
  });
  auto groupOf = [](const Trial &trial) {
    return std::tuple(-trial.cluster.deviceCount(), trial.candidate.stages);
  };
  std::map<std::tuple<int64_t, int64_t, bool>, size_t> counts;
  std::vector<std::pair<size_t, Trial>> turns;
  for (Trial &trial : trials) {
    size_t &turn = counts[std::tuple_cat(groupOf(trial),
                                         std::tuple(trial.candidate.strict))];
    turns.push_back({turn++, std::move(trial)});
  }
  llvm::stable_sort(turns, [&](const auto &a, const auto &b) {
    return std::tuple(groupOf(a.second), a.first) <
           std::tuple(groupOf(b.second), b.first);
  });
  for (auto [trial, turn] : zip_equal(trials, turns))
    trial = std::move(turn.second);
}

double leastShare(const Trial &trial) {
  return StagePlaces(trial.cluster, trial.pipeline()).leastShare();
}

namespace {

/// The work of the ops in @step. Ops with the same work are stored once.
class StepWork {
public:
  explicit StepWork(const ModelGraph &graph);
  /// Returns a lower bound on the seconds of all plans of the trial.
  double leastSeconds(const Trial &trial) const;

private:
  struct OpWork {
    const GraphOpFacts *facts;
    bool launches;
    // The bytes of its operands that are held in memory in any case.
    SmallVector<int64_t, 2> held;
    bool operator<(const OpWork &o) const {
      return std::tie(facts, launches, held) <
             std::tie(o.facts, o.launches, o.held);
    }
  };
  std::vector<OpWork> kinds;
  std::vector<unsigned> kindOf; // per op that takes time
};

} // namespace

StepWork::StepWork(const ModelGraph &graph) {
  std::map<OpWork, unsigned> numbers;
  for (const GraphOp &op : graph.ops) {
    if (op.setup || op.facts->kernel == KernelClass::View ||
        op.facts->kernel == KernelClass::None)
      continue;
    OpWork work{op.facts.get(), op.launches, {}};
    if (op.facts->kernel != KernelClass::Movement)
      for (const auto &[operand, index] : enumerate(op.operands))
        if (const GraphValue &value = graph.values[index];
            op.reads[operand] && value.persistent)
          work.held.push_back(localBytes(
              value, Sharding::replicated(value.shape.size()), Mesh()));
    auto [it, isNew] = numbers.try_emplace(work, kinds.size());
    if (isNew)
      kinds.push_back(std::move(work));
    kindOf.push_back(it->second);
  }
}

double StepWork::leastSeconds(const Trial &trial) const {
  int64_t stages = trial.candidate.stages;
  double devices = double(trial.cluster.deviceCount()) /
                   double(stages * replicasOf(trial.candidate));
  StagePlaces places(trial.cluster, trial.pipeline());
  std::vector<DeviceType> types; // the slowest device of each place
  for (const Cluster &place : places.kinds)
    types.push_back(place.slowest());
  std::vector<double> secondsOfKind;
  for (const OpWork &op : kinds) {
    KernelWork work;
    work.launches = op.launches ? 1 : 0;
    work.kind = op.facts->flopsKind;
    work.flops = op.facts->flops / (devices * trial.microBatches);
    for (int64_t bytes : op.held)
      work.bytes += bytes / devices;
    double &least = secondsOfKind.emplace_back(kIllegal);
    for (const DeviceType &type : types)
      least = std::min(least, kernelSeconds(type, work));
  }
  double seconds = 0;
  for (unsigned kind : kindOf)
    seconds += secondsOfKind[kind];
  return seconds * double(trial.microBatches) * trial.pipeline().leastShare();
}

Expected<std::vector<Trial>> trialsOf(const ModelGraph &graph,
                                      const PlanRequest &request) {
  std::vector<Trial> trials;
  if (Error error = addTrials(graph, request, trials))
    return std::move(error);
  PlanRequest smaller = request;
  if (isMeshSearched(request))
    for (Cluster &part : partsOf(request)) {
      smaller.cluster = std::move(part);
      // such a part is not tried
      consumeError(addTrials(graph, smaller, trials));
    }
  // If several plans are equally good the search keeps the one with the most
  // devices, or with the fewest if the request asks for that.
  for (auto [index, trial] : enumerate(trials))
    trial.index = request.fewestDevices ? trials.size() - index : index;
  StepWork work(graph);
  for (Trial &trial : trials)
    trial.leastSeconds = work.leastSeconds(trial);
  sortEvenFirst(trials);
  auto others = llvm::find_if(trials, [&](const Trial &trial) {
    return trial.candidate.stages > 1 ||
           trial.cluster.deviceCount() < request.cluster.deviceCount();
  });
  std::stable_sort(others, trials.end(), [](const Trial &a, const Trial &b) {
    return std::pair(a.candidate.lastResort, a.leastSeconds) <
           std::pair(b.candidate.lastResort, b.leastSeconds);
  });
  return std::move(trials);
}

/// Adds a trial like `best`, if the request allows its mesh.
static void addLike(const Trial &best, const MeshCandidate &candidate,
                    int64_t microBatches, const PlanRequest &request,
                    const StepWork &work, std::vector<Trial> &trials) {
  if (!allowsMesh(request.constraints, candidate.axes, candidate.stages))
    return;
  Trial &trial = trials.emplace_back(
      Trial{best.cluster, candidate, microBatches, best.objective,
            std::numeric_limits<unsigned>::max()});
  trial.leastSeconds = work.leastSeconds(trial);
}

static void addNeighbours(const ModelGraph &graph, const PlanRequest &request,
                          const StepWork &work, const Trial &best,
                          std::vector<Trial> &trials) {
  constexpr size_t kCounts = 2; // numbers of micro-batches
  auto add = [&](const MeshCandidate &candidate, int64_t microBatches) {
    addLike(best, candidate, microBatches, request, work, trials);
  };
  const auto &[factor, meshes] = smallerMeshes(best.candidate);
  for (const MeshCandidate &mesh : meshes) {
    if (mesh.stages == 1 && !request.fewestDevices) {
      MeshCandidate replicated = mesh;
      addReplicas(replicated, factor);
      add(replicated, best.microBatches);
    }
    if (!graph.states.empty() || replicasOf(mesh) > 1)
      continue;
    MeshCandidate staged = mesh;
    staged.stages *= factor;
    Expected<SmallVector<int64_t>> counts =
        microBatchCounts(graph, staged.stages, request.microBatches);
    if (!counts) {
      consumeError(counts.takeError());
      continue;
    }
    if (best.objective == Objective::Throughput) {
      // Few micro-batches have the least overhead, and no stage waits.
      for (int64_t count : ArrayRef(*counts).take_front(kCounts))
        add(staged, count);
      continue;
    }
    // Only one stage would work at a time if there were one micro-batch.
    erase_if(*counts, [](int64_t count) { return count == 1; });
    for (int64_t count : ArrayRef(*counts).take_back(kCounts))
      add(staged, count);
  }
}

static void addWithShorterAxes(const PlanRequest &request, const StepWork &work,
                               const Trial &best, std::vector<Trial> &trials) {
  if (best.candidate.stages == 1 && !request.fewestDevices)
    for (const MeshCandidate &mesh : shorterAxes(best.candidate))
      addLike(best, mesh, best.microBatches, request, work, trials);
}

std::vector<Trial> neighbours(const ModelGraph &graph,
                              const PlanRequest &request,
                              ArrayRef<Trial> centers, const Trial *toShorten) {
  std::vector<Trial> trials;
  if (!isMeshSearched(request) || !request.axes.empty())
    return trials;
  StepWork work(graph);
  for (const Trial &center : centers)
    addNeighbours(graph, request, work, center, trials);
  if (toShorten)
    addWithShorterAxes(request, work, *toShorten, trials);
  return trials;
}

} // namespace autopar
