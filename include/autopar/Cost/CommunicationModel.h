//===- CommunicationModel.h - Seconds of collectives on a cluster ---------===//

#ifndef AUTOPAR_COST_COMMUNICATIONMODEL_H
#define AUTOPAR_COST_COMMUNICATIONMODEL_H

#include "autopar/Cost/Collectives.h"
#include <array>
#include <memory>

namespace autopar {

/// Seconds of each step of a reshard, by the fastest algorithm, for a mesh laid
/// row-major over the cluster's devices: the slowest of the communicators of
/// its sub-axes. Of several stages each has a part of the cluster
/// (Cluster::part). From any number of threads.
class CommunicationModel {
public:
  CommunicationModel(const Cluster &cluster, const Mesh &mesh);

  double seconds(const ReshardStep &step) const;
  /// One message from a device of one stage to its counterpart in another, in a
  /// cluster of all stages; stage s has the devices after those of stages 0 to
  /// s-1.
  double sendSeconds(int64_t bytes, int64_t fromStage, int64_t toStage) const {
    return sendSeconds(bytes, linksBetween(fromStage, toStage));
  }
  /// The same by the links that devices of the stages have between them, each
  /// once (Cluster::linkBetween).
  using StageLinks = llvm::SmallVector<unsigned, 1>;
  StageLinks linksBetween(int64_t fromStage, int64_t toStage) const;
  double sendSeconds(int64_t bytes, llvm::ArrayRef<unsigned> links) const;
  /// Those that differ, of all communicators of the sub-axes.
  llvm::ArrayRef<CommunicatorShape>
  shapesOf(llvm::ArrayRef<unsigned> subAxes) const {
    return communicatorsOf(subAxes).shapes;
  }

  /// For reshardPath; holds a copy of the model.
  static ReshardCost reshardCost(const Cluster &cluster, const Mesh &mesh);

private:
  Cluster cluster;
  DeviceType device; // the slowest
  Mesh mesh;
  struct Communicators {
    llvm::SmallVector<CommunicatorShape, 1> shapes;
    /// Per kind that communicates and shape.
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
