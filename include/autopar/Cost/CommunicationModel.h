//===- CommunicationModel.h - Seconds of collectives on a cluster ---------===//

#ifndef AUTOPAR_COST_COMMUNICATIONMODEL_H
#define AUTOPAR_COST_COMMUNICATIONMODEL_H

#include "autopar/Cost/Collectives.h"
#include <array>
#include <memory>

namespace autopar {

/// Prices the steps of reshards on a mesh that is laid row-major over the
/// cluster's devices. A step costs what the slowest communicator of its
/// sub-axes takes by its fastest algorithm. In a pipeline each stage has a
/// model of its own part of the cluster (Cluster::part). All functions may be
/// called from any number of threads.
class CommunicationModel {
public:
  CommunicationModel(const Cluster &cluster, const Mesh &mesh);

  double seconds(const ReshardStep &step) const;
  /// The seconds of a message from a device of one stage to its counterpart in
  /// another stage. The cluster is that of all stages; the devices of stage s
  /// follow those of stages 0 to s-1.
  double sendSeconds(int64_t bytes, int64_t fromStage, int64_t toStage) const {
    return sendSeconds(bytes, linksBetween(fromStage, toStage));
  }
  /// The different links between devices of two stages (Cluster::linkBetween),
  /// and the seconds of a message by the slowest of them.
  using StageLinks = llvm::SmallVector<unsigned, 1>;
  StageLinks linksBetween(int64_t fromStage, int64_t toStage) const;
  double sendSeconds(int64_t bytes, llvm::ArrayRef<unsigned> links) const;
  /// The different shapes of the communicators of the sub-axes.
  llvm::ArrayRef<CommunicatorShape>
  shapesOf(llvm::ArrayRef<unsigned> subAxes) const {
    return communicatorsOf(subAxes).shapes;
  }

  /// The cost function for reshardPath. It holds a copy of the model.
  static ReshardCost reshardCost(const Cluster &cluster, const Mesh &mesh);

private:
  Cluster cluster;
  DeviceType device; // the slowest
  Mesh mesh;
  struct Communicators {
    llvm::SmallVector<CommunicatorShape, 1> shapes;
    /// The algorithms by kind of step and by shape.
    std::array<llvm::SmallVector<CollectiveAlgorithms, 1>, 7> algorithms;
  };
  class Known;
  CommunicatorShape shapeOf(llvm::ArrayRef<int64_t> members) const;
  const Communicators &communicatorsOf(llvm::ArrayRef<unsigned> subAxes) const;
  std::unique_ptr<Communicators>
  makeCommunicators(llvm::ArrayRef<unsigned> subAxes) const;

  std::shared_ptr<Known> known;               // copies of the model share it
  std::vector<CollectiveAlgorithms> messages; // per link of the cluster
};

} // namespace autopar

#endif // AUTOPAR_COST_COMMUNICATIONMODEL_H
