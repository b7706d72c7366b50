//===- StagePlaces.h - Where stages lie, and prices there -------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_SEARCH_STAGEPLACES_H
#define AUTOPAR_PLANNING_SEARCH_STAGEPLACES_H

#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Search/SharedWork.h"

namespace autopar {

/// The places of the stages of a pipeline. All stages have the same number of
/// devices; the devices of a stage follow those of the stage before it. Two
/// places are of the same kind if they have devices of the same types on nodes
/// of the same shape.
struct StagePlaces {
  StagePlaces(const Cluster &cluster, const Pipeline &pipeline);

  /// Returns the prices by which reshards choose their paths, in any stage.
  ReshardCost pathCost(const Mesh &mesh) const {
    return CommunicationModel::reshardCost(whole, mesh);
  }
  const Cluster &of(int64_t stage) const { return kinds[kindOf[stage]]; }
  /// Returns the bytes that a device of a stage may hold; 0: no limit.
  int64_t memoryLimit(int64_t stage, const MemoryLimit &limit) const {
    return limit.of(of(stage).memoryBytes());
  }

  /// Returns the sum over stages of the bytes of one device; 0 if some stage
  /// has no limit.
  int64_t memoryLimits(const MemoryLimit &limit) const;
  /// Returns the seconds of a step. `stages` has the seconds of each stage for
  /// one micro-batch, messages included, as if the stage had only its share of
  /// the cores; `messages` has the part of them that its messages take (half of
  /// each counts for the other end). Stages that share cores take turns: none
  /// is slower than it is alone on whole cores, unless all cores of its node
  /// are busy, which they are once micro-batches have reached as many stages as
  /// there are cores.
  double stepSeconds(llvm::ArrayRef<double> stages,
                     llvm::ArrayRef<double> messages) const;
  /// Returns the least ratio of the seconds of a step to the seconds of all
  /// stages for all micro-batches one after the other.
  double leastShare() const;
  /// Returns the least seconds of a step if, for all micro-batches one after
  /// the other, all stages together take at least `sum` seconds and the slowest
  /// takes at least `slowest`.
  double leastSeconds(double sum, double slowest) const;

  Cluster whole;
  Pipeline pipeline;
  std::vector<Cluster> kinds;
  std::vector<unsigned> kindOf; // per stage

private:
  /// shareOf returns the share of a core that a device of the stage has while
  /// as many stages as possible work. devicesPerCore returns the devices of the
  /// stage per core of its node; 0 if each device has its own core.
  double shareOf(int64_t stage) const;
  double leastShareOfCores() const;
  double devicesPerCore(int64_t stage) const;
  int64_t nodeOf(int64_t stage) const; // the first node of the stage
};

/// Returns by how many bytes the fullest device exceeds its limit; if negative,
/// so many bytes are free.
int64_t excessBytes(const Plan &plan, const StagePlaces &places,
                    const MemoryLimit &limit);

/// The seconds of ops and reshards at one kind of place. Reshards take the path
/// that is shortest on the mesh of the whole cluster, as in Partition.
class PlacePrices {
public:
  PlacePrices(const StagePlaces &places, unsigned kind, const Mesh &mesh,
              SharedWork &shared);

  /// Returns the seconds of the op alone, once.
  double opSeconds(const ModelGraph &graph, const GraphOp &op,
                   const OpStrategy &strategy) {
    return strategySeconds(graph, op, strategy, mesh, device, communication);
  }
  /// Returns the step that the op alone communicates, once for each reduction.
  std::optional<ReshardStep> combiningStep(const ModelGraph &graph,
                                           const GraphOp &op,
                                           const OpStrategy &strategy) {
    return autopar::combiningStep(graph, op, strategy, mesh, communication);
  }
  double reshardSeconds(const Sharding &from, const Sharding &to,
                        const GraphValue &value) {
    return reshards.seconds(from, to, value.shape, value.elementBytes);
  }

  ReshardTable reshards;

private:
  DeviceType device;
  Mesh mesh;
  CommunicationModel communication;
};

/// Returns the prices for each kind of place.
std::vector<PlacePrices> pricesOf(const StagePlaces &places, const Mesh &mesh,
                                  SharedWork &shared);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_STAGEPLACES_H
