//===- StagePlaces.h - Where stages lie, and prices there -------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_SEARCH_STAGEPLACES_H
#define AUTOPAR_PLANNING_SEARCH_STAGEPLACES_H

#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Search/SharedWork.h"

namespace autopar {

/// Where the stages of a pipeline lie: each has as many devices as the others,
/// those after the devices of the stages before it. Places are of a kind if
/// their devices are of the same types and on nodes alike.
struct StagePlaces {
  StagePlaces(const Cluster &cluster, const Pipeline &pipeline);

  /// By which reshards find their way, whatever the stage.
  ReshardCost pathCost(const Mesh &mesh) const {
    return CommunicationModel::reshardCost(whole, mesh);
  }
  const Cluster &of(int64_t stage) const { return kinds[kindOf[stage]]; }
  /// Bytes of a device of a stage: what was asked for, or what it has; 0: no
  /// limit.
  int64_t memoryLimit(int64_t stage, int64_t asked) const {
    return asked ? asked : of(stage).memoryBytes();
  }

  /// Of a device of each stage, together; 0: some have no limit.
  int64_t memoryLimits(int64_t asked) const;
  /// Seconds of a step by what each stage takes for one micro-batch, messages
  /// included, at its share of the cores, and what its messages take of that:
  /// half of each is the other end's. Stages that share cores take turns: none
  /// is slower than alone on whole cores, unless all cores of its node are busy
  /// from when micro-batches have come to as many stages as there are cores.
  double stepSeconds(llvm::ArrayRef<double> stages,
                     llvm::ArrayRef<double> messages) const;
  /// The least share that a step takes of what all stages take for all
  /// micro-batches one after the other.
  double leastShare() const;
  /// The least that a step takes if all stages take at least `sum` seconds for
  /// all micro-batches one after the other, and the slowest `slowest`.
  double leastSeconds(double sum, double slowest) const;

  Cluster whole;
  Pipeline pipeline;
  std::vector<Cluster> kinds;
  std::vector<unsigned> kindOf; // per stage

private:
  /// Of a core that a device of the stage has while as many stages work as can;
  /// devices of the stage per core of its node, 0 where each has its own core.
  double shareOf(int64_t stage) const;
  double leastShareOfCores() const;
  double devicesPerCore(int64_t stage) const;
  int64_t nodeOf(int64_t stage) const; // the first
};

/// By how many bytes the device that has the least to spare is too full;
/// negative: so many are free. `asked`: a limit for all of them; 0: what they
/// have.
int64_t excessBytes(const Plan &plan, const StagePlaces &places, int64_t asked);

/// Seconds of ops and reshards at one kind of place. Reshards go the way that
/// is shortest on the mesh of the whole cluster, as Partition has them go.
class PlacePrices {
public:
  PlacePrices(const StagePlaces &places, unsigned kind, const Mesh &mesh,
              SharedWork &shared);

  /// Of the op alone, once.
  double opSeconds(const ModelGraph &graph, const GraphOp &op,
                   const OpStrategy &strategy) {
    return strategySeconds(graph, op, strategy, mesh, device, communication);
  }
  /// What the op alone communicates, once.
  llvm::SmallVector<ReshardStep, 1> combiningSteps(const ModelGraph &graph,
                                                   const GraphOp &op,
                                                   const OpStrategy &strategy) {
    return autopar::combiningSteps(graph, op, strategy, mesh, communication);
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

/// Per kind of place.
std::vector<PlacePrices> pricesOf(const StagePlaces &places, const Mesh &mesh,
                                  SharedWork &shared);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_STAGEPLACES_H
